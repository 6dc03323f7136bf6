"""The timeline of a pipeline: which copy was in flight in which slot while the body ran, in the recorded order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from track.evidence.figures.rows import (
    FOOT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Shown,
    draw_bar,
    draw_body,
    draw_rows,
    draw_wait,
    layout,
    sentences,
    shown,
    varying,
)
from track.evidence.figures.svg import Canvas, Figure
from track.evidence.record import Event, Record
from track.evidence.schedule import Flight, ordered

__all__ = ["draw_key", "timeline"]


class Scale:
    """From the number of an event to its place across the page."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.cell = (WIDTH - LEFT - RIGHT) / count

    def left(self, place: float) -> float:
        """The left edge of an event's cell."""
        return LEFT + place * self.cell

    def bar(self, flight: Flight) -> tuple[float, float]:
        """Where a copy in flight lies: from the middle of its start's cell to the middle of its wait's."""
        return self.left(flight.begin + 0.5), self.left(min(flight.end + 0.5, self.count))


def timeline(record: Record, prefix: str) -> Figure:
    """Copies in above, the body in the middle, copies out below; one row for each slot of each buffer."""
    found = shown(record.kernel, ordered(record))
    rows, height = layout(found.flying)
    canvas, scale = Canvas(WIDTH, height), Scale(len(found.events))
    draw_steps(canvas, scale, found.events, height - FOOT)
    draw_rows(canvas, rows)
    for flight in found.flying:
        y = rows[flight.start.direction, flight.start.operand, flight.start.slot]
        draw_bar(canvas, flight, scale.bar(flight), y, varying(found.flying, flight.start.operand))
        if flight.end < len(found.events):
            draw_wait(canvas, scale.bar(flight)[1], y)
    for place, event in enumerate(found.events):
        if event.op == "compute":
            draw_body(canvas, event, (scale.left(place) + 0.5, scale.left(place + 1) - 0.5), rows)
    draw_key(canvas, height)
    note = "Left to right: the order in which events were recorded. Widths count events, not time."
    canvas.text((LEFT, height - 13), found.cut + note, "soft", size=11)
    return canvas.finish(
        prefix, f"Recorded order of copies and compute in {record.kernel}", *words(record.kernel, found)
    )


def draw_steps(canvas: Canvas, scale: Scale, events: Sequence[Event], bottom: float) -> None:
    """A band for every second grid step, with the number of each above."""
    steps = max(event.step for event in events if event.op == "compute") + 1
    canvas.text((LEFT - 10, TOP - 20), "grid step", "soft", align="right")
    for step, group in itertools.groupby(range(len(events)), key=lambda place: events[place].step):
        places = list(group)
        left, right = scale.left(places[0]), scale.left(places[-1] + 1)
        if step % 2 == 0 and step < steps:
            canvas.box((left, TOP - 8), (right - left, bottom - TOP + 8), "grid", tint=0.45)
        name = {-1: "start", steps: "end"}.get(step, str(step))
        narrow = right - left < 8 * len(name)
        if narrow and step < 0:
            canvas.text((left, TOP - 36), name, "soft", size=11)
        elif narrow:
            canvas.text((right, TOP - 36), name, "soft", size=11, align="right")
        else:
            canvas.text(((left + right) / 2, TOP - 20), name, "soft", align="center")


def draw_key(canvas: Canvas, height: float) -> None:
    """What the marks mean."""
    y = height - 36
    canvas.box((LEFT, y - 6), (26, 12), "in", tint=0.28, edge=1.25, radius=3)
    canvas.box((LEFT + 30, y - 6), (26, 12), "out", tint=0.28, edge=1.25, radius=3)
    canvas.text((LEFT + 63, y), "copy in flight", "soft", size=11)
    canvas.line([(LEFT + 152, y - 8), (LEFT + 152, y + 8)], "wait", 2.5)
    canvas.text((LEFT + 160, y), "waited for here", "soft", size=11)
    canvas.box((LEFT + 258, y - 6), (12, 12), "compute", tint=0.35, edge=1.25, radius=2)
    canvas.text((LEFT + 275, y), "the body runs", "soft", size=11)
    canvas.box((LEFT + 366, y - 6), (10, 12), "compute", tint=0.75, radius=2)
    canvas.text((LEFT + 382, y), "and reads or writes this slot", "soft", size=11)


def words(kernel: str, found: Shown) -> tuple[str, str]:
    """The picture in full, and in short."""
    short = f"Timeline of {kernel}: {found.of}."
    across = "Across: the order in which the interpreter recorded the events; widths count events, not time."
    down = "Down: one row for each buffer slot, copies in above the compute row, copies out below."
    marks = "A bar lasts from the start of a copy to the wait for it; a thick line marks the wait."
    return f"{short} {found.cut}{across} {down} {marks} {sentences(found)}", short
