"""Grids: the blocks of each step are what the index maps say, and the picture shows them where they lie."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.evidence.helpers import PROJECT
from tests.evidence.made import TILES, window
from track.errors import BadInput
from track.evidence import Evidence, Record, Runner, doublebuffer
from track.evidence.figures import grid
from track.evidence.figures.cells import sheet_of
from track.evidence.record import Grid, Job, Verdict, Window

TOPIC = """
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from kernels.contract import Case, Kernel, Tolerance

ROWS = lambda i, *_: (i, 0)
TILE = pl.BlockSpec((8, 128), lambda i, j: (i, j))
FIRST = pl.BlockSpec((8, 128), lambda i, j: (0, 0))

def call(shape, steps, spec, out=pl.BlockSpec((8, 128), ROWS), out_shape=(32, 128)):
    def body(x_ref, o_ref):
        o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)
    def kernel(x, *, interpret):
        return pl.pallas_call(body, grid=steps, in_specs=[spec], out_specs=out, interpret=interpret,
                              out_shape=jax.ShapeDtypeStruct(out_shape, x.dtype))(x)
    return shape, kernel

def prefetched(x, *, interpret):
    order = jnp.array([3, 1, 2, 0]) * 1  # worked out, not a constant of the trace
    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1, grid=(4,), in_specs=[pl.BlockSpec((8, 128), lambda i, order: (order[i], 0))],
        out_specs=pl.BlockSpec((8, 128), ROWS))
    def body(order_ref, x_ref, o_ref):
        o_ref[...] = 2.0 * x_ref[...]
    return pl.pallas_call(body, grid_spec=spec, out_shape=x, interpret=interpret)(order, x)

def twice(x, *, interpret):
    once = call((32, 128), (4,), pl.BlockSpec((8, 128), ROWS))[1]
    return once(jax.jit(lambda a: once(a, interpret=interpret))(x), interpret=interpret)

def in_hbm(x, *, interpret):
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    def body(x_ref, o_ref):
        pltpu.sync_copy(x_ref, o_ref)
    return pl.pallas_call(body, in_specs=[anywhere], out_specs=anywhere, out_shape=x, interpret=interpret)(x)

IN_SMEM, IN_HBM = pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pl.ANY)

def pipelined(specs):
    def kernel(x, *, interpret):
        def body(rows_ref, x_hbm, o_hbm):
            def step(x_ref, o_ref):
                o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)
            spec, steps = specs(rows_ref)
            out = pl.BlockSpec((8, 128), ROWS)
            pltpu.emit_pipeline(step, grid=(steps,), in_specs=[spec], out_specs=[out])(x_hbm, o_hbm)
        rows = jnp.array([5, 8, 16]) * 1
        specs_in = [IN_SMEM, IN_HBM]
        return pl.pallas_call(body, in_specs=specs_in, out_specs=IN_HBM, out_shape=x, interpret=interpret)(rows, x)
    return (32, 128), kernel

def sized(block, index_map):
    return pl.BlockSpec((pl.BoundedSlice(block), 128), index_map)

def by_step(i):
    return pl.ds(jnp.int32(8 * (i // 2)), jnp.int32(8 * (i + 1))), 0

def read_before(rows_ref):
    first = rows_ref[0]
    return pl.BlockSpec((8, 128), lambda i: (first - 5 + i, 0)), 2

FOUND = {
    "grouped": pipelined(lambda rows: (sized(16, lambda i: (pl.ds(pl.multiple_of(8 * i, 8), rows[i]), 0)), 3)),
    "growing": pipelined(lambda _: (sized(24, by_step), 3)),
    "backwards": pipelined(lambda _: (pl.BlockSpec((8, 128), lambda i: (pl.num_programs(0) - 1 - i, 0)), 4)),
    "read_before": pipelined(read_before),
    "tiles": call((16, 256), (2, 2), pl.BlockSpec((8, 128), lambda i, j: (j, i)), TILE, (16, 256)),
    "ragged": call((20, 128), (3,), pl.BlockSpec((8, 128), ROWS)),
    "in_elements": call((32, 128), (4,), pl.BlockSpec((8, 128), lambda i: (8 * i, 0))),
    "overlapping": call((32, 128), (3,), pl.BlockSpec((pl.Element(16), pl.Element(128)), lambda i: (8 * i, 0))),
    "squeezed": call((3, 8, 128), (3,), pl.BlockSpec((None, 8, 128), lambda i: (i, 0, 0))),
    "whole": call((8, 128), (4,), pl.BlockSpec((8, 128), lambda i: (0, 0))),
    "buffered": call((32, 128), (4,), pl.BlockSpec((8, 128), ROWS, pipeline_mode=pl.Buffered(3))),
    "prefetched": ((32, 128), prefetched),
    "twice": ((32, 128), twice),
    "in_hbm": ((32, 128), in_hbm),
    "too_long": call((8, 128), (64, 65), FIRST, FIRST),
}
EXACT = Tolerance(0.0, 0.0, "nothing is rounded")
def made(name, shape, function, **options):
    case = Case("ones", lambda rng: (np.ones(shape, np.float32),), EXACT)
    return Kernel(name, function, lambda x: x, (case,), ("hlo",), **options)
KERNELS = tuple(made(name, *found) for name, found in FOUND.items())
KERNELS += (made("on_four", (32, 128), prefetched, devices=4),)
"""

NAMES = [
    *("tiles", "ragged", "in_elements", "overlapping", "squeezed", "whole", "buffered", "prefetched", "twice"),
    *("in_hbm", "too_long", "on_four", "grouped", "growing", "backwards", "read_before"),
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, runner: Runner) -> dict[str, Verdict]:
    """What the task says of each kernel of the topic."""
    root = tmp_path_factory.mktemp("grids")
    folder = root / "kernels" / "maps"
    folder.mkdir(parents=True)
    shutil.copy(PROJECT / "kernels" / "contract.py", root / "kernels")
    Path(folder / "cases.py").write_text(TOPIC)
    jobs = [Job("grid", str(root), "maps", name, "ones") for name in NAMES]
    tables = [Job("predicates", str(root), "maps", name, "ones") for name in ("grouped", "growing")]
    names = {**{job: job.kernel for job in jobs}, **{job: f"table of {job.kernel}" for job in tables}}
    return {names[job]: outcome.verdict for job, outcome in runner.outcomes(names)}


def only(verdict: Verdict) -> Grid:
    (found,) = verdict.grids
    return found


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("tiles", [(j, i) for i in (0, 1) for j in (0, 1)]),
        ("ragged", [(0, 0), (1, 0), (2, 0)]),
        ("in_elements", [(0, 0), (8, 0), (16, 0), (24, 0)]),
        ("overlapping", [(0, 0), (8, 0), (16, 0)]),
        ("squeezed", [(0, 0, 0), (1, 0, 0), (2, 0, 0)]),
        ("whole", [(0, 0)] * 4),
        ("prefetched", [(3, 0), (1, 0), (2, 0), (0, 0)]),
    ],
)
def test_the_blocks_of_each_step_are_what_the_index_map_says(asked, kernel: str, expected: list) -> None:
    read, written = only(asked[kernel]).windows
    assert list(read.blocks) == expected
    assert read.sizes == ()
    assert (read.operand, read.role, written.operand, written.role) == ("x_ref", "input", "o_ref", "output")


def test_shapes_and_what_an_index_is_worth_are_those_of_the_block_spec(asked) -> None:
    shapes = {name: only(asked[name]).windows[0] for name in ("ragged", "overlapping", "squeezed")}
    assert {name: (found.array, found.block, found.stride) for name, found in shapes.items()} == {
        "ragged": ((20, 128), (8, 128), (8, 128)),
        "overlapping": ((32, 128), (16, 128), (1, 1)),
        "squeezed": ((3, 8, 128), (1, 8, 128), (1, 8, 128)),
    }


@pytest.mark.parametrize(
    ("kernel", "block", "starts", "sizes"),
    [
        ("grouped", 16, [0, 8, 16], [5, 8, 16]),  # the sizes are the table's, which only the call has
        ("growing", 24, [0, 0, 8], [8, 16, 24]),
    ],
)
def test_of_a_bounded_slice_the_index_map_says_start_and_size(
    asked, kernel: str, block: int, starts: list[int], sizes: list[int]
) -> None:
    read, written = only(asked[kernel]).windows
    assert (read.operand, read.block, read.stride) == ("input 0", (block, 128), (1, 128))
    assert read.blocks == tuple((start, 0) for start in starts)
    assert read.sizes == tuple((size, 128) for size in sizes)
    assert (written.blocks, written.sizes) == (((0, 0), (1, 0), (2, 0)), ())
    assert asked[kernel].measures.work is None
    assert "rounded up to whole tiles" in asked[kernel].reason


def test_the_scheduler_is_asked_about_sizes_that_are_no_data_and_about_no_others(asked) -> None:
    """Steps 0 and 1 begin in the same row with other sizes: to the Scheduler, the block has changed."""
    table = asked["table of growing"].table
    assert table is not None
    assert table.windows[0].blocks == ((0, 0), (0, 0), (8, 0))
    assert table.windows[0].has_changed == (True, True, True)
    assert asked["table of grouped"].status == "not-applicable"
    assert "reads data" in asked["table of grouped"].reason


def test_the_index_map_of_a_pipeline_may_ask_for_the_extent_of_its_grid(asked) -> None:
    assert only(asked["backwards"]).windows[0].blocks == ((3, 0), (2, 0), (1, 0), (0, 0))


def test_buffers_are_two_unless_asked_for_or_never_refilled(asked) -> None:
    assert [only(asked[name]).windows[0].buffers for name in ("tiles", "buffered", "whole")] == [2, 3, 1]


def test_every_call_is_a_grid_also_one_that_is_jitted(asked) -> None:
    assert [found.shape for found in asked["twice"].grids] == [(4,), (4,)]


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ("in_hbm", "no grid that walks over an array"),
        ("too_long", "4160 steps is more than can be shown"),
        ("on_four", "4 devices"),
        ("read_before", "reads what only a run of the kernel knows"),
    ],
)
def test_where_there_is_no_picture_the_reason_is_given(asked, kernel: str, why: str) -> None:
    assert asked[kernel].status == "not-applicable"
    assert why in asked[kernel].reason


def test_bytes_are_those_of_the_blocks_that_move_as_far_as_they_lie_in_the_array(asked) -> None:
    moved = {name: asked[name].measures.work.bytes for name in ("ragged", "whole", "in_elements", "tiles")}
    row = 128 * 4
    assert moved == {
        "ragged": (20 + 3 * 8) * row,
        "whole": (8 + 4 * 8) * row,
        "in_elements": (8 + 4 * 8) * row,
        "tiles": (4 * 8 + 4 * 8) * row,
    }


def stripped(events) -> list[tuple]:
    """Events without what only a record knows, and without the operands' names."""
    keep = ("op", "step", "direction", "slot", "block", "bytes", "dma")
    return [tuple(getattr(event, name) for name in keep) for event in events]


@pytest.mark.parametrize("kernel", ["scaled_copy", "revisit"])
def test_the_order_that_is_worked_out_is_the_order_that_was_recorded(
    evidence: Evidence, recorded: dict[str, Record], kernel: str
) -> None:
    record = recorded[kernel]
    (found,) = evidence.grids[kernel, record.case]
    assert stripped(doublebuffer.events_of(found)) == stripped(record.measures.events)
    assert evidence.work[kernel, record.case] == record.measures.work


def test_three_buffers_fetch_two_steps_ahead_and_one_not_at_all() -> None:
    blocks = tuple((step, 0) for step in range(4))
    orders = {}
    for buffers in (1, 3):
        read = Window("x", "input", (32, 128), (8, 128), (8, 128), 4, buffers, blocks)
        orders[buffers] = [
            (event.op, event.step, event.block[0], event.slot)
            for event in doublebuffer.events_of(Grid("g", (4,), (read,)))
            if event.op == "dma_start"
        ]
    assert orders[3] == [
        ("dma_start", -1, 0, 0),
        ("dma_start", -1, 1, 1),
        ("dma_start", 0, 2, 2),
        ("dma_start", 1, 3, 0),
    ]
    assert orders[1] == [("dma_start", step, step, 0) for step in range(4)]


def words(page: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", page)


def test_the_picture_has_the_steps_of_every_block() -> None:
    shown = words(grid(TILES, "tiles", "a").svg)
    assert {"0, 2", "1, 3"} <= set(shown)  # the input's blocks, which come twice
    assert {"0–1", "2–3"} <= set(shown)  # the output's, which stay
    assert {"fetched 4 times", "written 2 times", "grid 2 × 2 over (i, j): 4 steps, j runs fastest"} <= set(shown)


def test_a_block_that_is_left_and_moved_again_is_marked() -> None:
    page = grid(TILES, "tiles", "a").svg
    assert page.count('fill-opacity="0.34"') == 2 + 1  # and one in the key
    assert "2 blocks are left and moved again later" in grid(TILES, "tiles", "a").description


def test_a_block_outside_of_its_array_is_drawn_outside_of_its_frame() -> None:
    one = Grid("g", (3,), (window("input", (16, 128), (8, 128), (0, 0), (1, 0), (5, 0)),))
    figure = grid(one, "k", "a")
    frame = next(path for path in re.findall(r'd="([^"]*)"[^>]*stroke="var\(--fig-ink\)"', figure.svg))
    outside = re.findall(r'd="([^"]*)"[^>]*fill="var\(--fig-roof\)"', figure.svg)[0]
    assert min(ys(outside)) >= max(ys(frame))
    assert "1 block is wholly outside of it" in figure.description


def test_the_frame_cuts_a_block_that_sticks_out() -> None:
    one = Grid("g", (2,), (window("input", (12, 128), (8, 128), (0, 0), (1, 0)),))
    figure = grid(one, "k", "a")
    frame = ys(next(path for path in re.findall(r'd="([^"]*)"[^>]*stroke="var\(--fig-ink\)"', figure.svg)))
    cells = [ys(path) for path in re.findall(r'd="([^"]*)"[^>]*fill="var\(--fig-in\)"', figure.svg)[:2]]
    assert min(cells[1]) < max(frame) < max(cells[1])
    assert "1 block is partly outside of the array" in figure.description


def ys(path: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?[\d.]+", path)][1::2]


SIZED = replace(
    window("input", (32, 128), (16, 128), (0, 0), (8, 0), (16, 0)),
    stride=(1, 128),
    sizes=((4, 128), (8, 128), (16, 128)),
)


def test_a_block_whose_size_the_index_map_says_fills_as_much_of_its_room() -> None:
    figure = grid(Grid("g", (3,), (SIZED,)), "k", "a")
    boxes = re.findall(r'd="([^"]*)"[^>]*fill="var\(--fig-in\)" fill-opacity="0.16"', figure.svg)
    tall = [max(ys(path)) - min(ys(path)) for path in boxes[:3]]
    assert [round(height / tall[2], 2) for height in tall] == [0.25, 0.5, 1.0]
    assert {"4 × 128", "8 × 128", "16 × 128", "block up to 16 × 128"} <= set(words(figure.svg))
    assert "They have the sizes 4 × 128, 8 × 128, 16 × 128." in figure.description
    assert "partly outside" not in figure.description


def test_a_block_of_another_size_is_moved_again_and_one_of_no_rows_lies_in_its_array() -> None:
    again = replace(SIZED, blocks=((0, 0), (0, 0), (32, 0)), sizes=((8, 128), (16, 128), (0, 128)))
    found = sheet_of(again)
    assert [(cell.row, cell.runs, cell.sizes, cell.inside) for cell in found.cells] == [
        ((0,), ((0, 0), (1, 1)), ((8, 128), (16, 128)), 1.0),
        ((32,), ((2, 2),), ((0, 128),), 1.0),
    ]
    started = [event for event in doublebuffer.events_of(Grid("g", (3,), (again,))) if event.op == "dma_start"]
    assert [event.bytes for event in started] == [8 * 512, 16 * 512, 0]


def test_axes_of_one_block_are_left_out_and_leading_ones_share_the_rows() -> None:
    found = sheet_of(window("input", (2, 16, 1, 256), (1, 8, 1, 128), (1, 1, 0, 0)))
    assert found.rows == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert found.columns == (0, 1)
    assert [(cell.row, cell.column, cell.runs, cell.inside) for cell in found.cells] == [((1, 1), 0, ((0, 0),), 1.0)]


@pytest.mark.parametrize("arrays", [1, 2, 3, 5, 8, 15])
def test_however_many_blocks_there_are_the_picture_stays_small_and_says_what_it_leaves_out(arrays: int) -> None:
    blocks = tuple((i, j) for i in range(32) for j in range(32))
    windows = tuple(Window(f"x{n}", "input", (256, 4096), (8, 128), (8, 128), 4, 2, blocks) for n in range(arrays))
    figure = grid(Grid("g", (32, 32), windows), "k", "a")
    assert len(figure.svg.encode()) < 40_000
    assert sum("more rows" in text for text in words(figure.svg)) == min(arrays, 8)
    assert ("7 more arrays" in figure.svg) == (arrays > 8)


def test_a_grid_without_arrays_is_bad_input() -> None:
    with pytest.raises(BadInput, match="needs an array"):
        grid(Grid("g", (4,), ()), "k", "a")
