"""Which lane catches which mistake, and in which words."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.mistakes.cases import KERNELS
from tests.evidence.helpers import PROJECT, WITH_TOOLS, of_topics
from track.evidence import Evidence, Record
from track.evidence.lanes import LANES, missing

pytestmark = pytest.mark.timeout(900)  # the first test waits for the verdicts of all: minutes, where the cores are busy

# ok: taken, and right where it can be run.  wrong: it ran, and its numbers or its races show the mistake.
# no: refused.  -: the kernel says why the lane has no say.
TABLE = """
                        hlo    tpu-   v4   v5e  v5p  v6e  7x   sm90 sm100
                               interpret
index_in_elements       wrong  no     ok   ok   ok   ok   ok   ok   ok
no_block_spec           wrong  wrong  ok   ok   ok   ok   ok   -    -
swapped_index_map       wrong  wrong  ok   ok   ok   ok   ok   -    -
grid_too_long           ok     no     ok   ok   ok   ok   ok   -    -
revisited_output        ok     no     ok   ok   ok   ok   ok   -    -
ragged_sum              wrong  wrong  ok   ok   ok   ok   ok   -    -
clamped_read            ok     no     ok   ok   ok   ok   ok   ok   ok
missing_reset           wrong  wrong  ok   ok   ok   ok   ok   -    -
reset_once              wrong  wrong  ok   ok   ok   ok   ok   -    -
unwritten_output        wrong  wrong  ok   ok   ok   ok   ok   -    -
never_waited            ok     wrong  ok   ok   ok   ok   ok   -    -
slot_race               ok     wrong  ok   ok   ok   ok   ok   -    -
parallel_reduction      ok     wrong  ok   ok   ok   ok   ok   -    -
vmem_overflow_v4        ok     ok     no   ok   ok   ok   ok   -    -
vmem_overflow           ok     ok     no   no   no   no   no   -    -
default_vmem_limit      ok     ok     no   no   no   ok   ok   -    -
smem_overflow           ok     ok     no   no   no   no   no   -    -
tile_rule               ok     ok     no   no   no   no   no   ok   ok
scalar_to_vmem          ok     ok     no   no   no   no   no   ok   ok
load_from_hbm           ok     no     no   no   no   no   no   -    -
gather_by_array         ok     no     no   no   no   no   no   ok   ok
sublane_gather          ok     ok     no   ok   ok   ok   ok   -    -
unaligned_lanes         ok     ok     no   no   no   no   no   -    -
unsupported_primitive   ok     ok     no   no   no   no   no   no   no
not_partitioned         ok     ok     no   no   no   no   no   -    -
narrow_accumulation     wrong  wrong  ok   ok   ok   ok   ok   -    -
narrow_dot              ok     ok     no   no   no   no   no   ok   ok
half_precision          ok     ok     no   no   no   no   no   ok   ok
narrowing_store         no     no     no   no   no   no   no   -    -
captured_constant       no     no     no   no   no   no   no   no   no
python_if               no     no     no   no   no   no   no   -    -
differentiated          no     no     no   no   no   no   no   -    -
cached_extent           wrong  wrong  ok   ok   ok   ok   ok   -    -
"""
COLUMNS = [
    ("hlo", "any"),
    ("tpu-interpret", "v5e"),
    *(("tpu-aot", chip) for chip in ("v4", "v5e", "v5p", "v6e", "7x")),
    *(("gpu-aot", arch) for arch in ("sm90", "sm100")),
]
STATUS = {"ok": "ok", "wrong": "wrong", "no": "refused", "-": "not-applicable"}
ROWS = [line.split() for line in TABLE.splitlines()[3:]]
CELLS = [(name, *at, STATUS[word]) for name, *words in ROWS for at, word in zip(COLUMNS, words, strict=True)]

# The essential words: what a learner searches for. A mistake without a target says the same for all.
SAID = [
    ("index_in_elements", "hlo", "2048 of 4096 elements differ"),  # blocks 0 and 3: an index past the end is clamped
    ("index_in_elements", "tpu-interpret", 'IndexError: Out-of-bounds block index (8, 0) for input "x_ref"'),
    ("grid_too_long", "tpu-interpret", 'IndexError: Out-of-bounds block index (4, 0) for input "x_ref"'),
    ("revisited_output", "tpu-interpret", "RuntimeError: Revisited block"),
    ("revisited_output", "tpu-interpret", "of output 0 in iteration (2,). The block was previously visited in"),
    ("ragged_sum", "hlo", "512 of 1024 elements differ"),  # the 4 rows that the last block does not have
    ("clamped_read", "tpu-interpret", "IndexError: Out-of-bounds read"),
    ("missing_reset", "hlo", "1024 of 1024 elements differ"),
    ("missing_reset", "tpu-interpret", "1024 of 1024 elements differ"),
    ("unwritten_output", "hlo", "2048 of 4096 elements differ"),  # every second block
    ("never_waited", "tpu-interpret", "4096 of 4096 elements differ"),
    ("slot_race", "tpu-interpret", "RACE DETECTED write of ('vmem'"),
    ("vmem_overflow_v4", "tpu-aot:v4", "Ran out of memory in memory space vmem. Used 20.00M of 16.00M vmem."),
    ("vmem_overflow", "tpu-aot", "RESOURCE_EXHAUSTED: Allocation (size=142606336) would exceed memory (size="),
    ("vmem_overflow", "tpu-aot:v5e", "would exceed memory (size=134217728)"),
    ("vmem_overflow", "tpu-aot:7x", "would exceed memory (size=67108864)"),
    ("default_vmem_limit", "tpu-aot:v4", "Used 20.00M of 16.00M vmem"),
    ("default_vmem_limit", "tpu-aot:v5e", "CompileTimeScopedVmemOom"),
    ("default_vmem_limit", "tpu-aot:v5p", "CompileTimeScopedVmemOom"),
    ("smem_overflow", "tpu-aot", "Allocation (size=2097152) would exceed memory (size=1048576)"),
    ("smem_overflow", "tpu-aot", "space=smem"),
    ("tile_rule", "tpu-aot", "the last two dimensions of your block shape are divisible by 8 and 128 respectively"),
    ("scalar_to_vmem", "tpu-aot", "ValueError: Cannot store scalars to VMEM"),
    ("load_from_hbm", "tpu-interpret", "Buffers with a memory space of HBM or ANY cannot be referenced directly"),
    ("load_from_hbm", "tpu-aot", "ValueError: Loads are only allowed on VMEM and SMEM references."),
    ("gather_by_array", "tpu-interpret", "ValueError: Advanced indexers are not supported on TPU"),
    ("gather_by_array", "tpu-aot", "ValueError: Cannot do int indexing on TPU"),
    ("sublane_gather", "tpu-aot:v4", "Sublane gather not supported by this TPU generation"),
    ("unaligned_lanes", "tpu-aot", "cannot statically prove that index in dimension 1 is a multiple of 128"),
    ("unsupported_primitive", "tpu-aot", "Unimplemented primitive in Pallas TPU lowering for tc: sort."),
    ("unsupported_primitive", "gpu-aot", "Unimplemented primitive in Pallas Triton lowering: sort."),
    ("not_partitioned", "tpu-aot", "Mosaic kernels cannot be automatically partitioned. Please wrap the call in a"),
    ("narrow_dot", "tpu-aot", "'tpu.matmul' op Expected matmul acc to be 32-bit"),
    ("half_precision", "tpu-aot", "Invalid vector type for load"),
    *(
        (name, lane, words)
        for name, words in {
            "narrowing_store": "ValueError: Invalid dtype for `swap`. Ref dtype: bfloat16. Value dtype: float32.",
            "captured_constant": "captures constants [f32[128]]. You should pass them as inputs.",
            "python_if": "TracerBoolConversionError: Attempted boolean conversion of traced array",
            "differentiated": "ValueError: Linearization failed to produce known values for all output primals.",
        }.items()
        for lane in ("hlo", "tpu-interpret", "tpu-aot")
    ),
]
WRONG = sorted((PROJECT / "kernels" / "mistakes" / "wrong").glob("[!_]*.py"))


@pytest.fixture(scope="module")
def mistakes(everything: Evidence) -> Evidence:
    """What is known of the mistakes."""
    return of_topics(everything, "mistakes")


def judged(evidence: Evidence, name: str, lane: str) -> dict[str, Record]:
    """The records of a kernel in a lane, by target."""
    return {on: found for (by, _, at, on), found in evidence.records.items() if (by, at) == (name, lane)}


@pytest.mark.parametrize(("name", "lane", "target", "status"), CELLS)
def test_the_verdict_on_a_mistake(mistakes: Evidence, name: str, lane: str, target: str, status: str) -> None:
    record = judged(mistakes, name, lane)[target]
    if status != "not-applicable" and missing(LANES[lane].packages):
        status = "unavailable"
    assert record.status == status, record


@pytest.mark.parametrize(("name", "at", "words"), SAID)
def test_the_words_that_a_learner_will_search_for(mistakes: Evidence, name: str, at: str, words: str) -> None:
    lane, _, target = at.partition(":")
    for on, record in judged(mistakes, name, lane).items():
        if target in ("", on) and not missing(LANES[lane].packages):
            assert words in record.error


def test_the_table_is_of_every_kernel_and_every_mistake_is_caught_by_a_lane(mistakes: Evidence) -> None:
    assert [name for name, *_ in ROWS] == [kernel.name for kernel in KERNELS]
    for name, *words in ROWS:
        assert {"wrong", "no"} & set(words), name
        assert set(words[1:]) - {"ok", "-"} or words[0] in {"wrong", "no"}
    assert {record.status for record in mistakes.records.values()} <= {*STATUS.values(), "unavailable"}


def test_what_a_kernel_expects_is_what_it_gets(mistakes: Evidence) -> None:
    for (name, _, lane, target), record in mistakes.records.items():
        if record.status not in {"not-applicable", "unavailable"}:
            assert record.status == mistakes.kernels[name].expects(lane, target), (name, lane, target)


def test_errors_name_no_folder_of_this_machine(mistakes: Evidence) -> None:
    race = judged(mistakes, "slot_race", "tpu-interpret")["v5e"]
    assert "kernels/mistakes/wrong/slot_race.py:" in race.error
    for record in mistakes.records.values():
        assert str(PROJECT) not in str(record)
        assert "site-packages" not in record.error


def test_right_numbers_do_not_prove_that_nothing_races(mistakes: Evidence) -> None:
    measured = judged(mistakes, "slot_race", "tpu-interpret")["v5e"].measures
    assert measured.numbers is not None
    assert measured.numbers.differing == 0
    assert measured.races is not None
    assert len(measured.races) == 2  # one a slot


def test_a_race_between_two_copies_hides_where_they_share_an_entry_of_the_clock() -> None:
    code = """
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas import tpu as pltpu
from kernels.mistakes.wrong.slot_race import slot_race
for size in (None, 64):
    np.random.seed(0)  # of the entries, which are drawn by lot
    slot_race(jnp.ones((32, 128)), interpret=pltpu.InterpretParams(detect_races=True, vector_clock_size=size))
    pltpu.reset_tpu_interpret_mode_state()
    print("clock", size, flush=True)
"""
    command = [sys.executable, "-B", "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PROJECT, env=WITH_TOOLS)
    default, _, wide = ran.stdout.partition("clock None")
    assert "RACE DETECTED" not in default
    assert wide.count("RACE DETECTED") == 2


def test_the_interpreter_fills_with_nan_what_nobody_wrote(mistakes: Evidence) -> None:
    for name, lane in (("missing_reset", "hlo"), ("missing_reset", "tpu-interpret"), ("never_waited", "tpu-interpret")):
        (record,) = judged(mistakes, name, lane).values()
        assert record.measures.numbers is not None
        assert record.measures.numbers.largest_error is None  # NaN is infinitely far


def test_the_rule_of_8_and_128_is_where_the_docstring_says(mistakes: Evidence) -> None:
    assert mistakes.kernels["tile_rule"].mistake.endswith("8 and 128.")
    spec = importlib.util.find_spec("jax")
    assert spec is not None
    assert spec.origin is not None
    source = (Path(spec.origin).parent / "_src/pallas/mosaic/lowering.py").read_text()
    (rule,) = [
        ast.get_source_segment(source, node) or ""
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == "_check_block_mappings"
    ]
    assert "(bs0 == as0 or bs0 % 128 == 0)" in rule
    assert "(bs1 == as1 or bs1 % 8 == 0)" in rule
    assert "_check_block_mappings" in (PROJECT / "kernels/mistakes/wrong/tile_rule.py").read_text()


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_file_is_one_mistake_in_the_learners_words_and_points_at_its_line(path: Path) -> None:
    source = path.read_text()
    said = ast.get_docstring(ast.parse(source)) or ""
    (kernel,) = [kernel for kernel in KERNELS if kernel.name == path.stem]
    assert kernel.mistake == said.partition("\n")[0]
    assert kernel.mistake.endswith(".")
    assert said.split("\n\n")[1].startswith('"')
    assert source.count("# wrong") == 1
    assert len(source.splitlines()) <= 65
