"""The grid picture: every array in its blocks, and on each block the steps of the grid that work on it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from track.errors import BadInput
from track.evidence.figures.cells import Sheet, sheet_of
from track.evidence.figures.panels import LABELS, Panel, block_of, draw_head, draw_sheet, shape, times, told
from track.evidence.figures.svg import Canvas, Figure
from track.evidence.record import Grid, Window

__all__ = ["grid"]

WIDTH, MARGIN, GAP = 700.0, 4.0, 26.0
FOOT, TOP, LINE = 74.0, 30.0, 16.0
WIDEST, TALLEST, FLATTEST = 92.0, 40.0, 24.0
CELLS, FEWER = 112, 0.75  # that are drawn of all arrays together, and how many fewer of each where there are more
MOST_ROWS, MOST_COLUMNS, MOST_ARRAYS, MOST_SIZES = 16, 10, 8, 8
AXES = "ijklmnpq"
SIZED = "The size under the steps is what the index map says, and color fills that much of the room for a block."


def grid(grid: Grid, kernel: str, prefix: str) -> Figure:
    """Which block of which array each step works on; a block outside its array is drawn outside of it."""
    if not grid.windows:
        raise BadInput("a grid picture needs an array that is walked over in blocks", {"kernel": kernel})
    panels = laid_out(grid.windows[:MOST_ARRAYS])
    sized = any(panel.window.sizes for panel in panels)
    height = max(panel.bottom for panel in panels) + FOOT + LINE * sized
    canvas = Canvas(WIDTH, height)
    canvas.text((MARGIN, 12), order(grid), "soft")
    for panel in panels:
        draw_head(canvas, panel)
        draw_sheet(canvas, panel)
    draw_key(canvas, height - LINE * sized)
    if sized:
        canvas.text((MARGIN, height - 15), SIZED, "soft", size=11)
    return canvas.finish(prefix, f"Blocks that each grid step of {kernel} works on", *words(grid, kernel, panels))


def laid_out(windows: Sequence[Window]) -> list[Panel]:
    """Up to three arrays beside each other, then the next row."""
    across = min(3, len(windows))
    width = (WIDTH - 2 * MARGIN - GAP * (across - 1)) / across
    room = int(CELLS / len(windows) - FEWER * len(windows))
    panels: list[Panel] = []
    top = TOP
    for place, window in enumerate(windows):
        if place and place % across == 0:
            top = max(panel.bottom for panel in panels) + GAP
        sheet = sheet_of(window)
        columns = min(len(sheet.columns), MOST_COLUMNS, math.isqrt(room))
        rows = min(len(sheet.rows), MOST_ROWS, room // columns)
        wide = min(WIDEST, (width - LABELS) / columns)
        tall = max(FLATTEST, min(TALLEST, wide, lines_needed(sheet, wide) * 13 + 6))
        left = MARGIN + place % across * (width + GAP)
        panels.append(Panel(window, sheet, left, top, (wide, tall), rows, columns))
    return panels


def lines_needed(sheet: Sheet, wide: float) -> int:
    """How many lines the fullest cell has."""
    return max(len(told(cell, wide, 3)) for cell in sheet.cells)


def draw_key(canvas: Canvas, height: float) -> None:
    """What the marks mean."""
    y = height - 40
    marks = [
        ("in", 0.16, 0.75, False, "steps that work on the block"),
        ("in", 0.34, 2.0, False, "left, and moved again later"),
        ("roof", 0.16, 0.75, True, "outside the array"),
    ]
    x = MARGIN
    for color, tint, thick, dashed, text in marks:
        canvas.box((x, y - 7), (26, 14), color, tint=tint, edge=thick, dashed=dashed)  # pyright: ignore[reportArgumentType]
        canvas.text((x + 33, y), text, "soft", size=11)
        x += 33 + 6.3 * len(text) + 22
    note = (
        "Numbers are grid steps; “4–7” are steps in a row, “× 8” as many runs of them. Dashed: not wholly in the array."
    )
    canvas.text((MARGIN, height - 15), note, "soft", size=11)


def order(grid: Grid) -> str:
    """How steps are counted."""
    names = AXES[: len(grid.shape)]
    steps = math.prod(grid.shape)
    more = f"; {len(grid.windows) - MOST_ARRAYS} more arrays" if grid.windows[MOST_ARRAYS:] else ""
    if not grid.shape[1:]:
        return f"grid {shape(grid.shape)}: {steps} step{'s' * (steps != 1)}{more}"
    return f"grid {shape(grid.shape)} over ({', '.join(names)}): {steps} steps, {names[-1]} runs fastest{more}"


def words(grid: Grid, kernel: str, panels: Sequence[Panel]) -> tuple[str, str]:
    """The picture in full, and in short."""
    arrays = ", ".join(panel.window.operand for panel in panels)
    short = f"Blocks of {arrays} by grid step of {kernel}."
    across = "Across: the blocks along an array's last axis. Down: those along the axes before it."
    return f"{short} {order(grid)}. {across} {' '.join(map(sentence, panels))}", short


def sentence(panel: Panel) -> str:
    """What happens to an array, in words."""
    window, cells = panel.window, panel.sheet.cells
    verb = "fetched" if window.role == "input" else "written"
    counts = [
        (len(cells), f"worked on and {verb} {times(panel.sheet.copies)} in all"),
        (sum(len(cell.runs) > 1 for cell in cells), "left and moved again later"),
        (sum(0 < cell.inside < 1 for cell in cells), "partly outside of the array"),
        (sum(not cell.inside for cell in cells), "wholly outside of it"),
    ]
    told = [f"{count} {'blocks are' if count > 1 else 'block is'} {what}" for count, what in counts if count]
    shapes = f"{window.role} of {shape(window.array)} in blocks of {block_of(window)}"
    sizes = sorted({size for cell in cells for size in cell.sizes})
    listed = ", ".join(map(shape, sizes[:MOST_SIZES])) + f" and {len(sizes) - MOST_SIZES} more" * (
        len(sizes) > MOST_SIZES
    )
    return f"{window.operand}, {shapes}: {', '.join(told)}.{f' They have the sizes {listed}.' * bool(sizes)}"
