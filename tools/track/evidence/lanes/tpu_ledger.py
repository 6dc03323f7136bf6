"""The memory ledger: what a kernel asks for on the chip, read off its trace, and what the compiler made of that."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from track.evidence import program
from track.evidence.record import Buffer, Ledger

__all__ = ["ledger"]

SPACES = {"vmem": "vmem", "smem": "smem", "default": "vmem"}  # a block goes to VMEM unless its spec says otherwise
BUFFERED = 2  # what the pipeline does by itself
ALLOCATION = re.compile(
    r"#allocation\d+ \[shape = .*?, space=(?P<space>\w+), size = (?P<size>0x[0-9a-f]+),.*tag = '(?P<tag>[^']*)"
)
TAGS = {
    "input window": "windows",
    "output window": "windows",
    "scratch operand": "scratch operands",
    "internal scratch": "internal scratch",
    "scoped memory": "scoped memory",
}


def ledger(jaxpr: Any, dumps: Iterable[str]) -> Ledger:
    """The buffers of every `pallas_call` of a program, and the compiler's figures from its first LLO."""
    buffers = tuple(buffer for call in program.calls_in(jaxpr) for buffer in buffers_of(call))
    sums = Counter[str]()
    for buffer in buffers:
        sums[buffer.space] += buffer.bytes
    return Ledger(buffers, sums["vmem"], sums["smem"], compiler_figures(dumps))


def buffers_of(call: Any) -> Iterator[Buffer]:
    """What one `pallas_call` keeps in VMEM and SMEM: scalars, windows, scratch, and what its body allocates."""
    mapping, jaxpr = call["grid_mapping"], call["jaxpr"]
    names = iter(jaxpr.debug_info.arg_names)
    for operand in jaxpr.invars[: mapping.num_index_operands]:
        yield from buffer(next(names), operand.aval, 1, "smem")
    for block in mapping.block_mappings:
        asked = getattr(block.pipeline_mode, "buffer_count", BUFFERED)
        copies = asked if moves(block.index_map_jaxpr, mapping.grid) else 1
        yield from buffer(next(names), block.transformed_block_aval, copies)
    for aval in mapping.scratch_avals:
        yield from buffer(next(names), aval, 1)
    for equation in program.equations(jaxpr):
        if equation.primitive.name == "run_scoped":
            inner = equation.params["jaxpr"]
            for name, variable in zip(inner.debug_info.arg_names, inner.invars, strict=False):
                yield from buffer(name, variable.aval, 1)


def moves(index_map: Any, grid: Sequence[Any]) -> bool:
    """Whether an index map reads the index of an axis of the grid that has more than one step.

    A block whose map does not has one buffer, even where its spec asks for two: so does the compiler. Where a map reads
    an index and still is constant, the compiler gives it two, as for `i // 8` on four steps, unless it can simplify the
    index away, as in `i * 0`; here both count as moving.
    """
    moving = {id(index) for index, extent in zip(index_map.invars, grid, strict=False) if extent != 1}
    for equation in index_map.eqns:
        if moving & set(map(id, equation.invars)):
            moving.update(map(id, equation.outvars))
    return bool(moving & set(map(id, index_map.outvars)))


def buffer(name: str, aval: Any, copies: int, space: str = "") -> Iterator[Buffer]:
    """The row of one buffer; none where it lies elsewhere, as in HBM, or is a semaphore."""
    asked = getattr(aval, "memory_space", None)
    space = space or SPACES.get(str(getattr(asked, "value", asked or "default")), "")
    size = getattr(aval.dtype, "itemsize", 0)
    if space and size:
        total = copies * math.prod(aval.shape) * size
        yield Buffer(name, space, tuple(map(int, aval.shape)), str(aval.dtype), copies, total)


def compiler_figures(dumps: Iterable[str]) -> dict[str, int]:
    """The bytes that the compiler set aside, padding included: in VMEM by what for, and in VMEM and SMEM in all."""
    sums = Counter[str]()
    for text in dumps:
        for found in ALLOCATION.finditer(text):
            space, size = found["space"], int(found["size"], 16)
            if space in SPACES.values() and "constant byte address" not in found["tag"]:
                sums[space] += size
                what = next((word for tag, word in TAGS.items() if found["tag"].startswith(tag)), "other")
                sums[f"{space} {what}"] += size
    return dict(sorted(sums.items()))
