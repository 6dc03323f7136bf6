"""An array as a sheet of cells, one for each of its blocks, and what the steps of a grid do to them.

Axes along which there is only one block are left out, and leading axes share the rows, so that every array is a sheet.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from msgspec import Struct

from track.evidence.record import Window

__all__ = ["Cell", "Sheet", "sheet_of"]

Place = tuple[int, ...]


class Cell(Struct, frozen=True):
    """A block: where it begins in the array, how it lies there, and the runs of steps that it is worked on.

    A run is the first and the last of some steps in a row: for each run the pipeline brings or sends the block once.
    Where its size comes from the index map, the cell is as large as that may be.
    """

    row: Place
    column: int
    runs: tuple[tuple[int, int], ...]
    inside: float
    """How much of the block lies in the array, from 0 to 1."""
    sizes: tuple[Place, ...] = ()
    """The shapes that the block has in its steps, the smallest first, where they come from the index map."""


class Sheet(Struct, frozen=True):
    """The blocks of an array: what stands at the rows and columns, and the cells that some step works on, in order."""

    rows: tuple[Place, ...]
    columns: tuple[int, ...]
    cells: tuple[Cell, ...]
    row_axes: tuple[int, ...]
    column_axis: int

    @property
    def copies(self) -> int:
        """How often a block is brought or sent."""
        return sum(len(cell.runs) for cell in self.cells)


def sheet_of(window: Window) -> Sheet:
    """The sheet of an array."""
    axes = [axis for axis in range(len(window.array)) if len(places(window, axis)) > 1]
    last = len(window.array) - 1
    column_axis = axes.pop() if last in axes else -1
    row_axes = tuple(axes)
    rows = tuple(itertools.product(*(places(window, axis) for axis in row_axes)))
    columns = tuple(places(window, column_axis)) if column_axis >= 0 else (0,)
    cells = tuple(cell(window, block, runs, row_axes, column_axis) for block, runs in visits(window).items())
    return Sheet(rows, columns, cells, row_axes, column_axis)


def places(window: Window, axis: int) -> list[int]:
    """What an index along an axis can be: every block of the array, and those outside of it that a step asks for."""
    touched = {block[axis] for block in window.blocks}
    if window.stride[axis] != window.block[axis]:
        return sorted(touched)  # blocks that may overlap: no sheet has them all
    return sorted(touched | set(range(math.ceil(window.array[axis] / window.block[axis]))))


def visits(window: Window) -> dict[Place, list[tuple[int, int]]]:
    """For each block that is worked on, the runs of steps that it is."""
    found: dict[Place, list[tuple[int, int]]] = {}
    for (block, _), group in itertools.groupby(
        range(len(window.blocks)), lambda at: (window.blocks[at], window.size(at))
    ):
        steps = list(group)
        found.setdefault(block, []).append((steps[0], steps[-1]))
    return found


def cell(
    window: Window, block: Place, runs: Sequence[tuple[int, int]], row_axes: Sequence[int], column_axis: int
) -> Cell:
    """The cell of a block."""
    column = block[column_axis] if column_axis >= 0 else 0
    sizes = tuple(sorted({window.sizes[first] for first, _ in runs})) if window.sizes else ()
    share = inside(window, block, sizes[-1] if sizes else window.block)
    return Cell(tuple(block[axis] for axis in row_axes), column, tuple(runs), share, sizes)


def inside(window: Window, block: Place, sizes: Place) -> float:
    """How much of a block of such a shape lies in its array."""
    shares = []
    for place, stride, size, array in zip(block, window.stride, sizes, window.array, strict=True):
        first = place * stride
        shares.append(max(0, min(first + size, array) - max(first, 0)) / size if size else 1.0)
    return math.prod(shares)
