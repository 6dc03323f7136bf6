"""Which block of which array each step of a grid works on, from the index maps of the traced kernel.

The kernel's Python runs with `jit` switched off, so that what reaches `pallas_call` are values and not tracers: an
index map that reads scalar-prefetch operands is evaluated on the real ones. The call itself is not run: zeros stand in
for its results.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.pallas import core, pallas_call
from jax._src.pallas.mosaic import core as mosaic
from jax.core import Tracer
from jax.experimental import pallas as pl

from track.evidence import program, topics
from track.evidence.doublebuffer import bytes_of
from track.evidence.lanes.compare import pretend_tpu
from track.evidence.record import Grid, Job, Measures, Verdict, Window, Work

if TYPE_CHECKING:
    from kernels.contract import Case, Kernel

__all__ = ["grids_of", "perform"]

MOST_STEPS = 4096
UNWINDOWED = {core.MemorySpace.ANY, mosaic.MemorySpace.HBM, mosaic.MemorySpace.SEMAPHORE}

Call = tuple[tuple[Any, ...], dict[str, Any]]


class Unreadable(Exception):
    """An index map reads what only a run of the kernel knows."""


def perform(job: Job) -> Verdict:
    """The grids of a kernel, and its work: operations of the traced program, bytes that its blocks move."""
    pretend_tpu()
    kernel, case = topics.find(job)
    if kernel.devices > 1:
        return Verdict("not-applicable", reason=f"the kernel runs on {kernel.devices} devices, and a grid is one's")
    try:
        grids = grids_of(kernel, case)
    except Unreadable as error:
        return Verdict("not-applicable", reason=str(error))
    if not grids:
        return Verdict("not-applicable", reason="the kernel has no grid that walks over an array in blocks")
    if (most := max(math.prod(grid.shape) for grid in grids)) > MOST_STEPS:
        return Verdict("not-applicable", reason=f"a grid of {most} steps is more than can be shown ({MOST_STEPS})")
    try:
        work = work_of(kernel, case, grids)
    except program.Uncountable as error:
        return Verdict("ok", grids=grids, reason=f"no count of its work: {error}")
    return Verdict("ok", grids=grids, measures=Measures(work=work))


def work_of(kernel: Kernel, case: Case, grids: Sequence[Grid]) -> Work:
    """The work of a kernel with these grids; Uncountable where the trace does not say it."""
    if any(window.sizes for grid in grids for window in grid.windows):
        raise program.Uncountable("copies whose size is data are rounded up to whole tiles")
    return Work(program.trace(kernel, case).flops, sum(map(bytes_of, grids)))


def grids_of(kernel: Kernel, case: Case) -> tuple[Grid, ...]:
    """Every grid with at least one windowed array, in the order in which the calls are made."""
    inputs = [jnp.asarray(array) for array in case.inputs()]
    with jax.disable_jit(), program.captured_pipelines() as pipelines, captured_calls() as calls:
        kernel.function(*inputs, interpret=True)
    known = {id(variable): value for call in calls for variable, value in operands_of(call)}
    found = [*map(grid_of_call, calls), *(grid_of_pipeline(one, known) for one in pipelines)]
    return tuple(grid for grid in found if grid.windows)


@contextlib.contextmanager
def captured_calls() -> Generator[list[Call]]:
    """While the block runs, note each `pallas_call` with its operands, and return zeros in its place."""
    calls: list[Call] = []
    original = pallas_call.pallas_call_p.impl

    def noted(*operands: Any, **params: Any) -> list[jax.Array]:
        calls.append((operands, params))
        return [jnp.zeros(out.shape, out.dtype) for out in params["out_avals"]]

    pallas_call.pallas_call_p.impl = noted
    try:
        yield calls
    finally:
        pallas_call.pallas_call_p.impl = original


def operands_of(call: Call) -> Iterator[tuple[Any, Any]]:
    """The variables that stand for the operands of a call in its kernel, with those."""
    operands, params = call
    yield from zip(params["jaxpr"].invars, operands[params["grid_mapping"].num_dynamic_grid_bounds :], strict=False)


def grid_of_call(call: Call) -> Grid:
    """The grid of a `pallas_call`; arrays that stay where they are have no window."""
    operands, params = call
    mapping, names = params["grid_mapping"], params["jaxpr"].debug_info.arg_names
    if mapping.num_dynamic_grid_bounds:
        operands = operands[mapping.num_dynamic_grid_bounds :]
    scalars = operands[: mapping.num_index_operands]
    shown = names[mapping.num_index_operands :]
    windows = [
        window_of_call(name, role_of(place, mapping.num_inputs), block, mapping.grid, scalars)
        for place, (name, block) in enumerate(zip(shown, mapping.block_mappings, strict=False))
        if has_window(block)
    ]
    return Grid(params["jaxpr"].debug_info.func_name, tuple(map(int, mapping.grid)), tuple(windows))


def has_window(block: Any) -> bool:
    """Whether the blocks of an array are brought one by one; what lies in SMEM as a whole is there once for all."""
    space = block.transformed_block_aval.memory_space
    return space not in UNWINDOWED and not (space == mosaic.MemorySpace.SMEM and block.has_trivial_window())


def role_of(place: int, inputs: int) -> Literal["input", "output"]:
    """What an array is, by its place."""
    return "input" if place < inputs else "output"


def window_of_call(
    name: str, role: Literal["input", "output"], mapping: Any, grid: Sequence[int], scalars: Sequence[Any]
) -> Window:
    """One array of a `pallas_call`, its index map evaluated at every step."""
    sizes, strides = zip(*map(extent, mapping.block_shape), strict=True) if mapping.block_shape else ((), ())
    mode = mapping.pipeline_mode
    array = mapping.array_aval

    def starts(*indices: jax.Array) -> tuple[jax.Array, ...]:
        return mapping.compute_start_indices_interpret(indices, *scalars)

    blocks = tuple(
        tuple(start // stride for start, stride in zip(at, scales_of(mapping.block_shape), strict=True))
        for at in evaluated(starts, grid)
    )
    buffers = mode.buffer_count if mode else 1 if len(set(blocks)) == 1 else 2
    shape = tuple(map(int, array.shape))
    return Window(name, role, shape, sizes, strides, array.dtype.itemsize, buffers, blocks)


def grid_of_pipeline(one: program.Pipeline, known: Mapping[int, Any]) -> Grid:
    """The grid of an `emit_pipeline`; `known` has what its kernel was given, by the variable that stands for it."""
    counts = {"input": 0, "output": 0}
    windows: list[Window] = []
    for buffered, array, index_map in zip(one.buffered, one.arrays, one.maps, strict=True):
        role = "output" if buffered.is_output else "input"
        asked = index_map.on([value_of(read, known) for read in index_map.reads])
        windows.append(window_of_pipeline(f"{role} {counts[role]}", role, buffered, array, asked, one.grid))
        counts[role] += 1
    return Grid("emit_pipeline", one.grid, tuple(windows))


def value_of(read: Any, known: Mapping[int, Any]) -> Any:
    """What an index map reads of its kernel, as something that can be read outside of it."""
    if not isinstance(read, Tracer):
        return read
    place = id(getattr(read, "val", None))  # the variable that it stands for in the kernel
    if place not in known:
        raise Unreadable("an index map reads what only a run of the kernel knows")
    return jax.new_ref(known[place])


def window_of_pipeline(
    name: str,
    role: Literal["input", "output"],
    buffered: Any,
    array: jax.ShapeDtypeStruct,
    index_map: Callable[..., Any],
    grid: Sequence[int],
) -> Window:
    """One array of an `emit_pipeline`, its index map evaluated at every step."""
    shape: Sequence[Any] = buffered.spec.block_shape
    block, stride = zip(*map(extent, shape), strict=True)
    bounded = any(isinstance(dimension, core.BoundedSlice) for dimension in shape)
    blocks = evaluated(lambda *now: map(program.start_of, index_map(*now)), grid)
    sizes = evaluated(lambda *now: map(size_of, index_map(*now), block), grid) if bounded else ()
    itemsize, buffers = array.dtype.itemsize, buffered.buffer_count
    return Window(name, role, array.shape, block, stride, itemsize, buffers, tuple(blocks), tuple(sizes))


def size_of(index: Any, size: int) -> Any:
    """How large a block is along an axis: as its index map says, or its `size` where that says nothing of it."""
    return index.size if isinstance(index, pl.Slice) else size


def evaluated(index_map: Callable[..., Any], grid: Sequence[int]) -> list[tuple[int, ...]]:
    """What an index map says at each step, the last axis of the grid fastest."""
    steps = math.prod(grid)
    if steps > MOST_STEPS:
        return []
    indices = [jnp.asarray(axis.ravel(), jnp.int32) for axis in np.indices(tuple(grid))] if grid else []

    def at(*now: jax.Array) -> list[jax.Array]:
        return [jnp.int32(index) for index in index_map(*now)]

    columns = jax.lax.map(lambda now: at(*now), indices) if indices else [value[None] for value in at()]
    return [tuple(map(int, row)) for row in zip(*map(np.asarray, columns), strict=True)] if columns else [()] * steps


def extent(dimension: Any) -> tuple[int, int]:
    """How many elements a block has along an axis, and how many a step of the index map is worth."""
    match dimension:
        case None | core.Squeezed():
            return 1, 1
        case core.Element() | core.BoundedSlice():
            return dimension.block_size, 1
        case core.Blocked():
            return dimension.block_size, dimension.block_size
        case int():
            return dimension, dimension
        case _:
            raise TypeError(f"no picture is known for a block dimension of the kind {type(dimension).__name__}")


def scales_of(shape: Sequence[Any]) -> list[int]:
    """By how much jax multiplied each index to get the start of a block."""
    return [extent(dimension)[1] for dimension in shape]
