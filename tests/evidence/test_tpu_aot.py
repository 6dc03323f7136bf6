"""Lane `tpu-aot`: what the real compiler says of kernels whose verdicts follow from the chips' published sizes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import msgspec
import pytest

from tests.evidence.helpers import PINS, write_topic
from track.evidence import Evidence, Record, Runner, collect, lanes
from track.evidence.texts import clean

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("libtpu") is None, reason="libtpu comes for Linux on x86-64 alone"
)

TARGETS = ("v4", "v5e", "v5p", "v6e", "7x")

# Two buffers of 8 MiB each for input and output: 32 MiB. A v4 core has 16 MiB by its documentation, a v5e core 128.
LARGE = """
    block = pl.BlockSpec((2048, 1024), lambda i: (i, 0))
    params = pltpu.CompilerParams(vmem_limit_bytes=100 * 2**20)
    x = jnp.zeros((8192, 1024), jnp.float32)
    double = lambda a, b: b.__setitem__(..., 2 * a[...])
    return pl.pallas_call(
        double, grid=(4,), out_shape=x, in_specs=[block], out_specs=block, compiler_params=params, interpret=interpret
    )(x)
"""
BODIES = {
    "misfit": """
        block = pl.BlockSpec((4, 100), lambda i: (i, 0))
        copy = lambda a, b: b.__setitem__(..., a[...])
        call = pl.pallas_call(copy, grid=(4,), out_shape=x, in_specs=[block], out_specs=block, interpret=interpret)
        return call(x)
    """,
    "large": LARGE,
    "product": """
        def body(a, b, acc):
            acc[...] = jnp.dot(a[...], a[...].T, preferred_element_type=jnp.float32)
            b[...] = acc[:16, :]
        block = pl.BlockSpec((128, 128), lambda i: (i, 0))
        out = pl.BlockSpec((16, 128), lambda i: (i, 0))
        return pl.pallas_call(
            body, grid=(4,), out_shape=jax.ShapeDtypeStruct((64, 128), jnp.float32), in_specs=[block], out_specs=out,
            scratch_shapes=[pltpu.VMEM((128, 128), jnp.float32)], interpret=interpret,
        )(x)
    """,
    "steady": """
        moving = pl.BlockSpec((8, 128), lambda i: (i, 0))
        still = pl.BlockSpec((8, 128), lambda i: (1, 0))
        asks_for_two = pl.BlockSpec((8, 128), lambda i: (0, 0), pipeline_mode=pl.Buffered(2))
        looks = pl.BlockSpec((8, 128), lambda i: (i // 8, 0))
        add = lambda a, b, c, d, out: out.__setitem__(..., a[...] + b[...] + c[...] + d[...])
        return pl.pallas_call(
            add, grid=(2,), out_shape=x, in_specs=[moving, still, asks_for_two, looks], out_specs=moving,
            interpret=interpret,
        )(x, x, x, x)
    """,
    "collects": """
        def body(a, b, out):
            out[...] = a[...] + b[...]
        one_row = pl.BlockSpec((8, 128), lambda i, j: (i, 0))  # there is one step along i
        return pl.pallas_call(
            body, grid=(1, 2), out_shape=x, in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i + j, 0)), one_row],
            out_specs=one_row, interpret=interpret,
        )(x, x)
    """,
    "sorts": """
        def body(a, b):
            b[...] = jnp.sort(a[...])
        return pl.pallas_call(body, out_shape=x, interpret=interpret)(x)
    """,
    "half": """
        def body(a, b):
            b[...] = a[...] * 2
        x = x.astype(jnp.float16)
        return pl.pallas_call(body, out_shape=x, interpret=interpret)(x)
    """,
    "endless": """
        def body(a, b):
            b[...] = a[...]
        return pl.pallas_call(body, out_shape=x, grid=(2**31 - 1,) * 3, interpret=interpret)(x)
    """,
    "kills": "os.abort()",
    "raises": "raise KeyError('mine')",
}

DYING = {"kills", "endless"}
"""What ends the process that it is in, so that what was printed on the way is all that is left."""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory, runner: Runner) -> Evidence:
    """Every kernel for every target."""
    root = tmp_path_factory.mktemp("tpu")
    for name, body in BODIES.items():
        write_topic(root, name, body, lane="tpu-aot")
    cases = root / "kernels/product/cases.py"
    cases.write_text(cases.read_text().replace("np.ones((16, 128)", "np.ones((512, 128)"))
    return collect(root, PINS, runner=runner, lane="tpu-aot")


def of(evidence: Evidence, kernel: str, target: str) -> Record:
    """A record."""
    return evidence.records[kernel, "ones", "tpu-aot", target]


def test_every_kernel_has_a_verdict_for_every_target(compiled: Evidence) -> None:
    assert {*compiled.records} == {(kernel, "ones", "tpu-aot", target) for kernel in BODIES for target in TARGETS}
    assert lanes.LANES["tpu-aot"].targets == TARGETS
    assert all(record.versions["libtpu"] for record in compiled.records.values())


@pytest.mark.parametrize("target", TARGETS)
def test_a_kernel_that_kills_the_compiler_is_a_record(compiled: Evidence, target: str) -> None:
    """A grid of more steps than fit into 64 bits: libtpu does not refuse it, it dies of it."""
    record = of(compiled, "endless", target)
    assert record.status == "crashed", record
    assert record.error.startswith("SIG")


@pytest.mark.parametrize("target", TARGETS)
def test_a_block_that_is_no_multiple_of_a_tile_is_refused_everywhere(compiled: Evidence, target: str) -> None:
    record = of(compiled, "misfit", target)
    assert record.status == "refused"
    assert "last two dimensions of your block shape are divisible by 8 and 128 respectively" in record.error
    assert "at kernels/misfit/cases.py:" in record.error


def test_a_refusal_names_the_line_of_the_kernel_that_it_is_about(compiled: Evidence) -> None:
    record = of(compiled, "sorts", "v5e")
    assert record.status == "refused"
    assert record.error.startswith("NotImplementedError: Unimplemented primitive in Pallas TPU lowering for tc: sort")
    assert record.verdict.where.endswith("in body: b[...] = jnp.sort(a[...])")


def test_what_mosaic_says_of_a_line_of_the_kernel_is_a_refusal_and_no_crash(compiled: Evidence) -> None:
    record = of(compiled, "half", "v5e")
    assert record.status == "refused"
    assert "Mosaic failed to compile TPU kernel" in record.error
    assert record.verdict.where.endswith("in body: b[...] = a[...] * 2")
    assert record.verdict.where.startswith("kernels/half/cases.py:")


def test_32_mib_of_blocks_overflow_a_v4_and_fit_a_v5e(compiled: Evidence) -> None:
    refused = of(compiled, "large", "v4")
    assert refused.status == "refused"
    assert "Used 32.00M of 16.00M vmem" in refused.error
    assert "type.googleapis.com" not in refused.error
    assert [of(compiled, "large", target).status for target in TARGETS[1:]] == ["ok"] * 4


def test_what_was_known_before_a_refusal_is_kept(compiled: Evidence) -> None:
    ledger = of(compiled, "large", "v4").measures.ledger
    assert ledger is not None
    assert [(buffer.copies, buffer.bytes) for buffer in ledger.buffers] == [(2, 2**24), (2, 2**24)]
    assert ledger.vmem == 2**25


def test_the_ledger_adds_up_and_the_compiler_agrees_on_what_was_asked_for(compiled: Evidence) -> None:
    ledger = of(compiled, "product", "v5e").measures.ledger
    assert ledger is not None
    found = {
        buffer.name: (buffer.space, buffer.shape, buffer.dtype, buffer.copies, buffer.bytes)
        for buffer in ledger.buffers
    }
    assert found == {
        "a": ("vmem", (128, 128), "float32", 2, 2 * 4 * 128 * 128),
        "b": ("vmem", (16, 128), "float32", 2, 2 * 4 * 16 * 128),
        "acc": ("vmem", (128, 128), "float32", 1, 4 * 128 * 128),
    }
    assert ledger.vmem == sum(size for *_, size in found.values())
    assert ledger.compiler["vmem windows"] == 2 * 4 * 128 * 128 + 2 * 4 * 16 * 128
    assert ledger.compiler["vmem scratch operands"] == 4 * 128 * 128


@pytest.mark.parametrize(
    ("kernel", "copies"),
    [("steady", {"a": 2, "b": 1, "c": 1, "d": 2, "out": 2}), ("collects", {"a": 2, "b": 1, "out": 1})],
)
@pytest.mark.parametrize("target", TARGETS[:-1])  # for a 7x the compiler keeps small arrays in VMEM whole
def test_a_block_whose_index_map_reads_no_moving_index_has_one_buffer_as_the_compiler_has_it(
    compiled: Evidence, kernel: str, copies: dict[str, int], target: str
) -> None:
    ledger = of(compiled, kernel, target).measures.ledger
    assert ledger is not None
    assert {buffer.name: buffer.copies for buffer in ledger.buffers} == copies
    assert ledger.compiler["vmem windows"] == ledger.vmem == sum(copies.values()) * 4 * 8 * 128


def test_the_passes_are_there_in_order_with_their_text_where_it_changed(compiled: Evidence) -> None:
    forms = of(compiled, "product", "v5e").measures.forms or ()
    stages = [form.stage for form in forms if form.kind == "mosaic"]
    order = ["original", "infer-vector-layout", "apply-vector-layout", "lower-to-llo", "finalize-llo"]
    assert [stage for stage in stages if stage in order] == order
    assert all(bool(form.text) == form.changed for form in forms)
    assert "tpu.matmul" in next(form.text for form in forms if form.stage == "original")
    assert [form.kind for form in forms if form.kind != "mosaic"] == ["jaxpr", "llo"]
    assert max(form.text.count("\n") for form in forms) <= 201


def test_the_final_program_multiplies_in_a_loop_of_four_steps(compiled: Evidence) -> None:
    measures = of(compiled, "product", "v5e").measures
    regions = measures.regions or ()
    multiplying = [region for region in regions if region.units.get("MXU")]
    assert multiplying
    assert all(region.depth == 1 for region in multiplying)
    # The emitted loop turns once more for each of the two ends of the pipeline.
    assert {region.trips for region in multiplying} == {4 + 2}
    assert all(len(row) == region.bundles for region in regions for row in region.use.values())
    assert measures.capacity is not None
    assert measures.capacity["MXU"] == 4  # a v5e core has four
    assert measures.spills == {"stores": 0, "loads": 0, "scalars": (measures.spills or {})["scalars"]}


def test_an_abort_is_a_crash_and_an_error_of_the_kernel_its_own(compiled: Evidence) -> None:
    for target in TARGETS:
        assert of(compiled, "kills", target).error.startswith("SIGABRT")
        assert of(compiled, "raises", target).status == "crashed"
        assert of(compiled, "raises", target).error == "KeyError: 'mine'"


def test_what_libtpu_says_of_itself_is_in_no_record(compiled: Evidence) -> None:
    assert {record.output for record in compiled.records.values() if record.kernel not in DYING} == {""}


def test_records_are_small(compiled: Evidence) -> None:
    assert max(len(msgspec.json.encode(record)) for record in compiled.records.values()) < 200_000


def test_a_kernel_that_spins_in_the_compiler_is_timed_out(
    tmp_path: Path, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_topic(tmp_path, "spins", "while True: pass", lane="tpu-aot")
    monkeypatch.setattr(runner, "limit", 4.0)
    found = collect(tmp_path, PINS, runner=runner, lane="tpu-aot", target="v5e")
    assert of(found, "spins", "v5e").error == "still running after 4 s"


def test_the_sentence_of_a_refusal_stays_and_the_noise_around_it_goes(tmp_path: Path) -> None:
    said = (
        "Failed to find host bounds for accelerator type: WARNING: could not determine TPU accelerator type.\n"
        "RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:\n"
        'Ran out of memory while allocating on stack for %k = f32[8]{0} custom-call(%x), custom_call_target="tpu",'
        ' backend_config={"a": 1}, metadata={op_name="k" stack_frame_id=3}. Scoped allocation exceeded the limit.\n'
        "=== Source Location Trace: === \n"
        "external/xla+/xla/pjrt/c/status.cc:146\n"
    )
    assert clean(said, tmp_path) == (
        "RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:\n"
        "Ran out of memory while allocating on stack for %k = f32[8]{0} custom-call(%x)."
        " Scoped allocation exceeded the limit."
    )
