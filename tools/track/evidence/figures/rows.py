"""What both timelines are made of: a row for each buffer slot, bars for copies, cells for runs of the body."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from msgspec import Struct

from track.errors import BadInput
from track.evidence.figures.svg import Canvas, Color
from track.evidence.record import Event
from track.evidence.schedule import Flight, flights

__all__ = [
    "FOOT",
    "LEFT",
    "RIGHT",
    "TOP",
    "WIDTH",
    "Rows",
    "Shown",
    "draw_bar",
    "draw_body",
    "draw_rows",
    "draw_wait",
    "layout",
    "sentences",
    "shown",
    "tally",
    "varying",
]

WIDTH, LEFT, RIGHT, TOP = 700.0, 112.0, 6.0, 44.0
ROW, GAP, GROUP_GAP = 24.0, 5.0, 16.0
FOOT = 58.0
WORDY, LETTER = 48.0, 6.6  # the width from which a bar has room for "block 3" and not just "3", and that of a digit
MOST_EVENTS = 120

Rows = dict[tuple[str, str, int], float]
"""The y of each row: by direction, operand and slot; the body's row is ("compute", "", 0)."""


class Shown(Struct, frozen=True):
    """The events that are drawn, and the copies that begin among them.

    That is all of them, or those of the first `steps` of very many; `of` says in words how many there are.
    """

    events: tuple[Event, ...]
    flying: tuple[Flight, ...]
    steps: int
    of: str

    @property
    def cut(self) -> str:
        """What is left out, in words; empty where nothing is."""
        return f"The first {self.steps} steps. " if self.steps else ""


def shown(kernel: str, events: Sequence[Event] | None) -> Shown:
    """What there is to draw of an order of events."""
    if not events:
        raise BadInput("a timeline needs recorded events", {"kernel": kernel})
    flying = flights(events)
    of, steps = tally(events), 0
    if len(events) > MOST_EVENTS:
        last = events[MOST_EVENTS].step
        events = [event for event in events if event.step < last]
        steps = last
    begun = tuple(flight for flight in flying if flight.begin < len(events))
    return Shown(tuple(events), begun, steps, of)


def layout(flying: Sequence[Flight]) -> tuple[Rows, float]:
    """Where each row lies, and how high the picture is."""
    keys = {(flight.start.direction, flight.start.operand, flight.start.slot): None for flight in flying}
    above = sorted(key for key in keys if key[0] == "in")
    below = sorted(key for key in keys if key[0] != "in")
    rows: Rows = {}
    y = TOP
    for group in (above, [("compute", "", 0)], below):
        for key in group:
            rows[key] = y
            y += ROW + GAP
        y += GROUP_GAP - GAP
    return rows, y - GROUP_GAP + 10 + FOOT


def draw_rows(canvas: Canvas, rows: Rows) -> None:
    """The name of each row, and the line it hangs on; the operand's name where there are several."""
    for (direction, operand, slot), y in rows.items():
        middle = y + ROW / 2
        canvas.line([(LEFT, y + ROW + GAP / 2), (WIDTH - RIGHT, y + ROW + GAP / 2)], "grid", 0.75)
        if direction == "compute":
            canvas.text((2, middle), "compute", "compute", bold=True)
            continue
        canvas.text((LEFT - 10, middle), f"slot {slot}", align="right")
        slots = sorted(other for way, name, other in rows if (way, name) == (direction, operand))
        if slot == slots[0]:
            canvas.text((2, middle), f"copy {direction}".strip(), direction_color(direction), bold=True)
        several = len({name for way, name, _ in rows if way == direction}) > 1
        if several and slot == slots[:2][-1]:
            at = middle if len(slots) > 1 else middle + 13
            canvas.text((2, at), operand, "soft", size=11)


def draw_bar(canvas: Canvas, flight: Flight, ends: tuple[float, float], y: float, axes: Sequence[int]) -> None:
    """A copy in flight, with its block where there is room."""
    left, right = ends
    color = direction_color(flight.start.direction)
    canvas.box(
        (left, y + 1), (max(right - left, 1.0), ROW - 2), color, tint=0.28, edge=1.25, radius=min(3, (right - left) / 3)
    )
    number = ",".join(str(flight.start.block[axis]) for axis in axes)
    label = f"block {number}" if right - left > WORDY + LETTER * (len(number) - 1) else number
    if right - left > LETTER * len(number) + 3:
        canvas.text(((left + right) / 2 - 1, y + ROW / 2), label, align="center", size=11)


def draw_wait(canvas: Canvas, x: float, y: float) -> None:
    """Where a copy is waited for."""
    canvas.line([(x, y - 1), (x, y + ROW + 1)], "wait", 2.5)


def draw_body(canvas: Canvas, event: Event, ends: tuple[float, float], rows: Rows) -> None:
    """A run of the body, and the slots that it reads or writes."""
    left, size = ends[0] + 0.5, max(ends[1] - ends[0] - 1, 1.0)
    y = rows["compute", "", 0]
    canvas.box((left, y + 1), (size, ROW - 2), "compute", tint=0.35, edge=1.25, radius=min(2, size / 3))
    for touch in event.touches:
        for (_, operand, slot), row in rows.items():
            if (operand, slot) == (touch.operand, touch.slot):
                inset = min(1.5, size / 4)
                canvas.box(
                    (left + inset, row + 5), (size - 2 * inset, ROW - 10), "compute", tint=0.75, radius=min(2, size / 3)
                )
    if size > LETTER * len(str(event.step)) + 1:
        canvas.text((left + size / 2, y + ROW / 2), str(event.step), align="center", size=11)


def varying(flying: Sequence[Flight], operand: str) -> list[int]:
    """The axes along which an operand's blocks differ; the first where none do."""
    blocks = [flight.start.block for flight in flying if flight.start.operand == operand]
    return [axis for axis, places in enumerate(zip(*blocks, strict=True)) if len(set(places)) > 1] or [0]


def direction_color(direction: str) -> Color:
    """The color of a copy."""
    return "out" if direction == "out" else "in"


def tally(events: Sequence[Event]) -> str:
    """How many steps and copies there are in all."""
    copies = [event.direction for event in events if event.op == "dma_start"]
    counts = [(sum(event.op == "compute" for event in events), "grid step", "grid steps")]
    counts += [(copies.count(way), f"copy {way}", f"copies {way}") for way in ("in", "out")]
    return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts)


def sentences(found: Shown) -> str:
    """What happens at each grid step, in words."""
    groups = itertools.groupby(found.events, key=lambda event: event.step)
    several = {
        way: len({f.start.operand for f in found.flying if f.start.direction == way}) > 1 for way in ("in", "out")
    }
    return " ".join(sentence(step, list(group), several) for step, group in groups)


def sentence(step: int, events: list[Event], several: dict[str, bool]) -> str:
    """What happens at one, the operands named where a direction has several."""
    verb = {"dma_start": "start", "dma_wait": "wait for"}
    told: list[str] = []
    for event in events:
        if event.op == "compute":
            told.append("compute")
        elif event.op in verb:
            block = ", ".join(map(str, event.block)) if several.get(event.direction) else str(event.block[0])
            of = f" of {event.operand}" if several.get(event.direction) else ""
            told.append(f"{verb[event.op]} copy {event.direction} of block {block}{of}, slot {event.slot}")
    inside = any(event.op == "compute" for event in events)
    where = "Before the loop" if step < 0 else f"Step {step}" if inside else "After the loop"
    return f"{where}: {'; '.join(told)}."
