"""The timeline of a pipeline: which copy was in flight in which slot while the body ran, in the recorded order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from track.errors import BadInput
from track.evidence.figures.svg import Canvas, Color, Figure
from track.evidence.record import Event, Record
from track.evidence.schedule import Flight, flights

__all__ = ["timeline"]

WIDTH, LEFT, RIGHT, TOP = 700.0, 112.0, 6.0, 44.0
ROW, GAP, GROUP_GAP = 24.0, 5.0, 16.0
FOOT = 58.0
WORDY = 48.0  # the width from which a bar has room for "block 3" and not just "3"

Rows = dict[tuple[str, str, int], float]
"""The y of each row: by direction, operand and slot; the body's row is ("compute", "", 0)."""


class Scale:
    """From the number of an event to its place across the page."""

    def __init__(self, count: int) -> None:
        self.cell = (WIDTH - LEFT - RIGHT) / count

    def left(self, place: float) -> float:
        """The left edge of an event's cell."""
        return LEFT + place * self.cell

    def middle(self, place: int) -> float:
        """The middle of an event's cell."""
        return self.left(place + 0.5)


def timeline(record: Record, prefix: str) -> Figure:
    """Copies in above, the body in the middle, copies out below; one row for each slot of each buffer."""
    events = record.measures.events
    if not events:
        raise BadInput("a timeline needs recorded events", {"kernel": record.kernel, "reason": record.reason})
    flying = flights(events)
    rows, height = layout(flying)
    canvas, scale = Canvas(WIDTH, height), Scale(len(events))
    draw_steps(canvas, scale, events, height - FOOT)
    draw_rows(canvas, rows)
    for flight in flying:
        draw_flight(canvas, scale, flight, rows, varying(flying, flight.start.operand))
    for place, event in enumerate(events):
        if event.op == "compute":
            draw_compute(canvas, scale, place, event, rows)
    draw_key(canvas, height)
    return canvas.finish(
        prefix, f"Recorded order of copies and compute in {record.kernel}", *words(record.kernel, events, flying)
    )


def layout(flying: list[Flight]) -> tuple[Rows, float]:
    """Where each row lies, and how high the picture is."""
    keys = {(flight.start.direction, flight.start.operand, flight.start.slot): None for flight in flying}
    above = sorted(key for key in keys if key[0] == "in")
    below = sorted(key for key in keys if key[0] == "out")
    rows: Rows = {}
    y = TOP
    for group in (above, [("compute", "", 0)], below):
        for key in group:
            rows[key] = y
            y += ROW + GAP
        y += GROUP_GAP - GAP
    return rows, y - GROUP_GAP + 10 + FOOT


def draw_steps(canvas: Canvas, scale: Scale, events: Sequence[Event], bottom: float) -> None:
    """A band for every second grid step, with the number of each above."""
    steps = max(event.step for event in events)
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


def draw_rows(canvas: Canvas, rows: Rows) -> None:
    """The name of each row, and the line it hangs on."""
    for (direction, _, slot), y in rows.items():
        middle = y + ROW / 2
        canvas.line([(LEFT, y + ROW + GAP / 2), (WIDTH - RIGHT, y + ROW + GAP / 2)], "grid", 0.75)
        if direction == "compute":
            canvas.text((2, middle), "compute", "compute", bold=True)
        else:
            canvas.text((LEFT - 10, middle), f"slot {slot}", align="right")
            if slot == 0:
                canvas.text((2, middle), f"copy {direction}", direction_color(direction), bold=True)


def draw_flight(canvas: Canvas, scale: Scale, flight: Flight, rows: Rows, axes: list[int]) -> None:
    """A copy in flight, from the event that started it to the one that waited for it."""
    start = flight.start
    left, right = scale.middle(flight.begin), scale.middle(flight.end)
    y, color = rows[start.direction, start.operand, start.slot], direction_color(start.direction)
    canvas.box((left, y + 1), (right - left, ROW - 2), color, tint=0.28, edge=1.25, radius=3)
    canvas.line([(right, y - 1), (right, y + ROW + 1)], "wait", 2.5)
    number = ",".join(str(start.block[axis]) for axis in axes)
    label = f"block {number}" if right - left > WORDY else number
    canvas.text(((left + right) / 2 - 1, y + ROW / 2), label, align="center", size=11)


def draw_compute(canvas: Canvas, scale: Scale, place: int, event: Event, rows: Rows) -> None:
    """A run of the body, and the slots that it reads or writes."""
    left, size = scale.left(place) + 1, scale.cell - 2
    y = rows["compute", "", 0]
    canvas.box((left, y + 1), (size, ROW - 2), "compute", tint=0.35, edge=1.25, radius=2)
    for touch in event.touches:
        for (_, operand, slot), row in rows.items():
            if (operand, slot) == (touch.operand, touch.slot):
                canvas.box((left + 1.5, row + 5), (size - 3, ROW - 10), "compute", tint=0.75, radius=2)
    canvas.text((left + size / 2, y + ROW / 2), str(event.step), align="center", size=11)


def draw_key(canvas: Canvas, height: float) -> None:
    """What the marks mean, and what the width does not."""
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
    note = "Left to right: the order in which events were recorded. Widths count events, not time."
    canvas.text((LEFT, height - 13), note, "soft", size=11)


def varying(flying: list[Flight], operand: str) -> list[int]:
    """The axes along which an operand's blocks differ; the first where none do."""
    blocks = [flight.start.block for flight in flying if flight.start.operand == operand]
    return [axis for axis, places in enumerate(zip(*blocks, strict=True)) if len(set(places)) > 1] or [0]


def direction_color(direction: str) -> Color:
    """The color of a copy."""
    return "out" if direction == "out" else "in"


def words(kernel: str, events: Sequence[Event], flying: list[Flight]) -> tuple[str, str]:
    """The picture in full, and in short."""
    steps = sum(event.op == "compute" for event in events)
    inward = sum(flight.start.direction == "in" for flight in flying)
    outward = sum(flight.start.direction == "out" for flight in flying)
    short = f"Timeline of {kernel}: {steps} grid steps, {inward} copies in, {outward} copies out."
    across = "Across: the order in which the interpreter recorded the events; widths count events, not time."
    down = "Down: one row for each buffer slot, copies in above the compute row, copies out below."
    marks = "A bar lasts from the start of a copy to the wait for it; a thick line marks the wait."
    told = " ".join(
        sentence(step, list(group)) for step, group in itertools.groupby(events, key=lambda event: event.step)
    )
    return f"{short} {across} {down} {marks} {told}", short


def sentence(step: int, events: list[Event]) -> str:
    """What happens at a grid step, in words."""
    verb = {"dma_start": "start", "dma_wait": "wait for"}
    told = [
        "compute"
        if event.op == "compute"
        else f"{verb[event.op]} copy {event.direction} of block {event.block[0]}, slot {event.slot}"
        for event in events
        if event.op == "compute" or event.op in verb
    ]
    where = (
        "Before the loop"
        if step < 0
        else f"Step {step}"
        if any(event.op == "compute" for event in events)
        else "After the loop"
    )
    return f"{where}: {'; '.join(told)}."
