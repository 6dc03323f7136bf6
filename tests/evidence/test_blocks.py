"""Which lane takes which way of cutting an array, and in which words the others refuse."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.blocks import kernel
from kernels.blocks.cases import KERNELS
from tests.evidence.helpers import of_topics
from track.evidence import Evidence, Record
from track.evidence.lanes import LANES, missing

pytestmark = pytest.mark.timeout(900)  # the first test waits for the verdicts of all: minutes, where the cores are busy

few = settings(max_examples=10)  # a call costs a compilation

TABLE = """
                     hlo    tpu-interpret  v4       v5e      v5p      v6e      7x
doubled_blocks       ok     ok             ok       ok       ok       ok       ok
reversed_blocks      ok     ok             ok       ok       ok       ok       ok
each_matrix          ok     ok             ok       ok       ok       ok       ok
neighbor_sum         ok     ok             ok       ok       ok       ok       ok
shifted_rows         ok     ok             ok       ok       ok       ok       ok
two_buffers          ok     ok             ok       ok       ok       ok       ok
one_buffer           ok     ok             ok       ok       ok       ok       ok
no_index_map         wrong  wrong          ok       ok       ok       ok       ok
fixed_block_outside  wrong  refused        crashed  crashed  crashed  crashed  ok
int8_rows            ok     ok             refused  refused  refused  refused  refused
narrow_scratch       ok     ok             refused  refused  refused  refused  refused
unaligned_start      ok     ok             refused  refused  refused  refused  refused
low_padding          ok     refused        refused  refused  refused  refused  refused
high_padding         ok     refused        ok       ok       ok       ok       ok
"""
COLUMNS = [
    ("hlo", "any"),
    ("tpu-interpret", "v5e"),
    *(("tpu-aot", chip) for chip in ("v4", "v5e", "v5p", "v6e", "7x")),
]
ROWS = [line.split() for line in TABLE.strip().splitlines()[1:]]
CELLS = [(name, *at, word) for name, *words in ROWS for at, word in zip(COLUMNS, words, strict=True)]
SAID = [
    ("fixed_block_outside", "tpu-interpret", 'Out-of-bounds block index (4, 0) for input "x_ref"'),
    ("int8_rows", "tpu-aot", "has tiling (32, 128), but its block shape (..., 8, 128) is not divisible by tiling"),
    ("unaligned_start", "tpu-aot", "Couldn't prove that tiling (8) divides index returned by transform_indices"),
    ("low_padding", "tpu-aot", "Low padding not supported yet"),
    ("low_padding", "tpu-interpret", "Out-of-bounds block index (24, 0)"),
    ("high_padding", "tpu-interpret", "Out-of-bounds block index (24, 0)"),
]


@pytest.fixture(scope="module")
def blocks(everything: Evidence) -> Evidence:
    """What is known of the ways to cut."""
    return of_topics(everything, "blocks")


def judged(blocks: Evidence, name: str, lane: str) -> list[Record]:
    """The records of a kernel in a lane: all cases, all targets."""
    return [record for record in blocks.records.values() if (record.kernel, record.lane) == (name, lane)]


@pytest.mark.parametrize(("name", "lane", "target", "status"), CELLS)
def test_the_verdict_on_a_way_to_cut(blocks: Evidence, name: str, lane: str, target: str, status: str) -> None:
    wanted = "unavailable" if missing(LANES[lane].packages) else status
    found = [record for record in judged(blocks, name, lane) if record.target == target]
    assert found
    assert {record.status for record in found} == {wanted}, found


@pytest.mark.parametrize(("name", "lane", "words"), SAID)
def test_the_words_of_a_refusal(blocks: Evidence, name: str, lane: str, words: str) -> None:
    if not missing(LANES[lane].packages):
        assert all(words in record.error for record in judged(blocks, name, lane))


def test_the_table_is_of_every_kernel() -> None:
    assert [name for name, *_ in ROWS] == [kernel.name for kernel in KERNELS]


@pytest.mark.parametrize(
    ("name", "case", "operand", "expected"),
    [
        ("doubled_blocks", "20 × 128", "x_ref", [(0, 0), (1, 0), (2, 0)]),
        ("reversed_blocks", "32 × 128", "x_ref", [(3, 0), (2, 0), (1, 0), (0, 0)]),
        ("each_matrix", "2 × 16 × 128", "x_ref", [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]),
        ("neighbor_sum", "32 × 128", "x_ref", [(0, 0), (8, 0), (16, 0)]),  # an element start, and not a block index
        ("neighbor_sum", "32 × 128", "o_ref", [(0, 0), (1, 0), (2, 0)]),
        ("no_index_map", "32 × 128", "o_ref", [(0, 0)] * 4),
    ],
)
def test_which_block_each_step_gets(
    blocks: Evidence, name: str, case: str, operand: str, expected: list[tuple[int, ...]]
) -> None:
    (grid,) = blocks.grids[name, case]
    (window,) = [window for window in grid.windows if window.operand == operand]
    assert list(window.blocks) == expected


@few
@given(rows=st.integers(1, 40), seed=st.integers(0, 99))
def test_any_number_of_rows_is_doubled(rows: int, seed: int) -> None:
    x = np.random.default_rng(seed).integers(-99, 99, (rows, 128))
    assert np.array_equal(kernel.doubled_blocks(jnp.float32(x), interpret=True), 2 * x)


@few
@given(blocks=st.integers(2, 5), seed=st.integers(0, 99))
def test_windows_that_overlap_add_each_row_to_the_one_eight_below(blocks: int, seed: int) -> None:
    x = np.random.default_rng(seed).integers(-99, 99, (8 * blocks, 128))
    found = np.asarray(kernel.neighbor_sum(jnp.float32(x), interpret=True))
    assert [list(row) for row in found] == [list(x[row] + x[row + 8]) for row in range(8 * blocks - 8)]


@few
@given(blocks=st.integers(1, 5), seed=st.integers(0, 99))
def test_reversing_the_blocks_twice_is_four_times_the_input(blocks: int, seed: int) -> None:
    x = jnp.float32(np.random.default_rng(seed).integers(-99, 99, (8 * blocks, 128)))
    there_and_back = kernel.reversed_blocks(kernel.reversed_blocks(x, interpret=True), interpret=True)
    assert np.array_equal(there_and_back, 4 * x)


def test_one_buffer_keeps_a_block_less_in_vmem(blocks: Evidence) -> None:
    for chip in LANES["tpu-aot"].targets:
        ledgers = [
            blocks.records[name, "1024 × 512", "tpu-aot", chip].measures.ledger
            for name in ("two_buffers", "one_buffer")
        ]
        if missing(LANES["tpu-aot"].packages):
            assert ledgers == [None, None]
        else:
            two, one = (ledger.vmem for ledger in ledgers if ledger)
            assert two - one == 512 * 512 * 4
