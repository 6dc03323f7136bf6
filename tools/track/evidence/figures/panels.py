"""Drawing one array of a grid picture: its cells with their steps, the frame around what is inside, and its labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from track.evidence.figures.cells import Cell, Sheet
from track.evidence.figures.svg import Canvas, Color
from track.evidence.record import Window

__all__ = ["HEAD", "LABELS", "Panel", "block_of", "draw_head", "draw_sheet", "shape", "times", "told"]

HEAD, LABELS = 58.0, 30.0
SIZE, LETTER, MARK = 10.0, 6.1, 3.2  # of the smallest words, and what a letter and a comma of them take


class Panel(Struct, frozen=True):
    """An array and its place on the page."""

    window: Window
    sheet: Sheet
    left: float
    top: float
    cell: tuple[float, float]
    rows: int
    columns: int

    @property
    def bottom(self) -> float:
        """Where its cells end."""
        return self.top + HEAD + LABELS + self.rows * self.cell[1]


def draw_head(canvas: Canvas, panel: Panel) -> None:
    """The name of an array, its shape, its blocks, and how often one is moved."""
    window = panel.window
    across = "fetched" if window.role == "input" else "written"
    canvas.text((panel.left, panel.top + 6), window.operand, color_of(window), bold=True)
    canvas.text((panel.left, panel.top + 21), f"{window.role}, {shape(window.array)}", "soft", size=11)
    canvas.text((panel.left, panel.top + 35), f"block {block_of(window)}", "soft", size=11)
    canvas.text((panel.left, panel.top + 49), f"{across} {times(panel.sheet.copies)}", "soft", size=11)


def draw_sheet(canvas: Canvas, panel: Panel) -> None:
    """The cells of an array, the frame around what is inside of it, and what is left out."""
    sheet, (wide, tall) = panel.sheet, panel.cell
    left, top = panel.left + LABELS, panel.top + HEAD + LABELS
    for number, row in enumerate(sheet.rows[: panel.rows]):
        canvas.text((left - 5, top + (number + 0.5) * tall), label(row), "soft", size=SIZE, align="right")
    for number, column in enumerate(sheet.columns[: panel.columns]):
        canvas.text((left + (number + 0.5) * wide, top - 8), str(column), "soft", size=SIZE, align="center")
    lattice(canvas, panel)
    rows = {row: number for number, row in enumerate(sheet.rows[: panel.rows])}
    columns = {column: number for number, column in enumerate(sheet.columns[: panel.columns])}
    for cell in sheet.cells:
        if cell.row in rows and cell.column in columns:
            corner = (left + columns[cell.column] * wide, top + rows[cell.row] * tall)
            draw_cell(canvas, panel, cell, corner)
    draw_frame(canvas, panel)
    if left_out := missing(panel):
        canvas.text((panel.left, panel.bottom + 11), left_out, "soft", size=SIZE)


def lattice(canvas: Canvas, panel: Panel) -> None:
    """Thin lines between the blocks of the array itself."""
    left, top = panel.left + LABELS, panel.top + HEAD + LABELS
    (first, last), (high, low) = extent(panel)
    wide, tall = panel.cell
    for number in range(high, low + 1):
        line = [(left + first * wide, top + number * tall), (left + last * wide, top + number * tall)]
        canvas.line(line, "grid", 0.75)
    for number in range(first, last + 1):
        line = [(left + number * wide, top + high * tall), (left + number * wide, top + low * tall)]
        canvas.line(line, "grid", 0.75)


def extent(panel: Panel) -> tuple[tuple[int, int], tuple[int, int]]:
    """The columns and the rows that are drawn and lie in the array, each from the first to behind the last."""
    window, sheet = panel.window, panel.sheet
    columns = [n for n, at in enumerate(sheet.columns[: panel.columns]) if lies_in(window, sheet.column_axis, at)]
    rows = [
        n
        for n, row in enumerate(sheet.rows[: panel.rows])
        if all(lies_in(window, axis, at) for axis, at in zip(sheet.row_axes, row, strict=True))
    ]
    return span(columns), span(rows)


def span(numbers: list[int]) -> tuple[int, int]:
    """From the first to behind the last."""
    return (numbers[0], numbers[-1] + 1) if numbers else (0, 0)


def lies_in(window: Window, axis: int, place: int) -> bool:
    """Whether a block with this index begins in the array."""
    return axis < 0 or 0 <= place * window.stride[axis] < window.array[axis]


def draw_cell(canvas: Canvas, panel: Panel, cell: Cell, corner: tuple[float, float]) -> None:
    """A block that is worked on, with its steps."""
    wide, tall = panel.cell
    place, size = (corner[0] + 1.5, corner[1] + 1.5), (wide - 3, tall - 3)
    color = "roof" if not cell.inside else color_of(panel.window)
    again = len(cell.runs) > 1
    tint, edge = (0.34, 2.0) if again else (0.16, 0.75)
    if cell.sizes:
        canvas.box(place, filled(panel, cell, size), color, tint=tint)
    canvas.box(place, size, color, tint=0.0 if cell.sizes else tint, edge=edge, dashed=cell.inside < 1)
    lines = told(cell, wide, int((tall - 4) // 12))
    middle = corner[1] + tall * clear(panel, cell)
    for number, line in enumerate(lines):
        canvas.text(
            (corner[0] + wide / 2, middle + (number - (len(lines) - 1) / 2) * 12), line, size=SIZE, align="center"
        )


def filled(panel: Panel, cell: Cell, size: tuple[float, float]) -> tuple[float, float]:
    """How much of its cell a block takes up whose size comes from the index map; the largest, if it has several."""
    shares = [here / most for here, most in zip(cell.sizes[-1], panel.window.block, strict=True)]
    across = shares.pop(panel.sheet.column_axis) if panel.sheet.column_axis >= 0 else 1.0
    return size[0] * across, size[1] * math.prod(shares)


def clear(panel: Panel, cell: Cell) -> float:
    """How far down a cell its words stand: the edge of an array that ends within it must not strike them out."""
    if len(panel.sheet.row_axes) != 1:
        return 0.5
    cut = edge(panel.window, panel.sheet.row_axes[0], cell.row, 1)
    return 0.5 if not 0 < cut < 1 else cut / 2 if cut >= 0.5 else (1 + cut) / 2  # noqa: PLR2004 - the larger part


def draw_frame(canvas: Canvas, panel: Panel) -> None:
    """The edge of the array, which cuts the last block where the array is no multiple of it."""
    left, top = panel.left + LABELS, panel.top + HEAD + LABELS
    (first, last), (high, low) = extent(panel)
    wide, tall = panel.cell
    across = edge(panel.window, panel.sheet.column_axis, panel.sheet.columns, last)
    down = (
        edge(panel.window, panel.sheet.row_axes[-1], [row[-1] for row in panel.sheet.rows], low)
        if (len(panel.sheet.row_axes) == 1)
        else low
    )
    x, y, right, bottom = left + first * wide, top + high * tall, left + across * wide, top + down * tall
    if last > first and low > high:
        canvas.line([(x, y), (right, y), (right, bottom), (x, bottom), (x, y)], "ink", 1.5)


def edge(window: Window, axis: int, places: Sequence[int], behind: int) -> float:
    """Where an array ends, counted in cells, if its last block is drawn: within that block where it sticks out."""
    if axis < 0 or not behind:
        return behind
    start = places[behind - 1] * window.stride[axis]
    return behind - 1 + min(1.0, (window.array[axis] - start) / window.block[axis])


def told(cell: Cell, wide: float, lines: int) -> list[str]:
    """The steps of a block in a few lines that fit in its cell, or how many they are, and a size of its own."""
    size = ", ".join(map(shape, cell.sizes))
    more = [size] if size and long(size) <= wide - 5 else []
    runs = [str(first) if first == last else f"{first}–{last}" for first, last in cell.runs]
    found = [""]
    for number, run in enumerate(runs, start=1):
        item = run + "," * (number < len(runs))
        longer = f"{found[-1]} {item}".strip()
        if long(longer) <= wide - 5:
            found[-1] = longer
        else:
            found.append(item)
    if len(found) <= max(1, lines - len(more)) and max(map(long, found)) <= wide - 5:
        return [*found, *more]
    return [f"× {len(runs)}", *more]


def long(words: str) -> float:
    """About how much room words take."""
    return sum(MARK if letter in " ," else LETTER for letter in words)


def missing(panel: Panel) -> str:
    """What is not drawn of a sheet that is too large."""
    rows, columns = len(panel.sheet.rows) - panel.rows, len(panel.sheet.columns) - panel.columns
    more = [f"{count} more {name}" for count, name in ((rows, "rows"), (columns, "columns")) if count]
    return " and ".join(more)


def color_of(window: Window) -> Color:
    """The color of an array, by the direction of its copies."""
    return "in" if window.role == "input" else "out"


def shape(sizes: Sequence[int]) -> str:
    """A shape in words."""
    return " × ".join(f"{size}" for size in sizes) or "one value"


def block_of(window: Window) -> str:
    """The shape of an array's blocks in words."""
    return f"up to {shape(window.block)}" if window.sizes else shape(window.block)


def label(row: Sequence[int]) -> str:
    """The index of a row."""
    return ",".join(map(str, row)) or "0"


def times(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{count} times"
