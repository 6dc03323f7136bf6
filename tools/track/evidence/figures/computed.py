"""The computed timeline: the same rows as the recorded one, with everything at the time that the model gives it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from track.evidence.figures.rows import (
    FOOT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Rows,
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
from track.evidence.figures.timeline import draw_key
from track.evidence.record import Event
from track.evidence.schedule import Costs, Flight, Times, duration, replay

__all__ = ["computed_timeline"]

MORE_FOOT = 34.0
LETTER = 6.6


class Scale:
    """From a time to its place across the page."""

    def __init__(self, found: Shown, times: Times) -> None:
        self.times, self.count = times, len(found.events)
        self.end = max(end for _, end in times.spans[: self.count])
        if self.count == len(times.spans):
            self.end = max(self.end, *times.done.values())

    def x(self, moment: Fraction) -> float:
        """Across, for a moment."""
        return LEFT + float(min(moment, self.end) / self.end) * (WIDTH - LEFT - RIGHT) if self.end else LEFT

    def cell(self, place: int) -> tuple[float, float]:
        """Where an event begins and ends."""
        begin, end = self.times.spans[place]
        return self.x(begin), self.x(end)

    def bar(self, flight: Flight) -> tuple[float, float]:
        """Where a copy in flight lies: from its start until its bytes are there."""
        return self.x(self.times.spans[flight.begin][0]), self.x(self.times.done[flight.start.dma])


def computed_timeline(kernel: str, events: Sequence[Event], costs: Costs, prefix: str) -> Figure:
    """The order replayed on one core of a chip; copies above and below the body, one row for each slot."""
    found, times = shown(kernel, events), replay(events, costs)
    rows, height = layout(found.flying)
    height += MORE_FOOT
    canvas, scale = Canvas(WIDTH, height), Scale(found, times)
    draw_steps(canvas, scale, found.events, height - FOOT - MORE_FOOT)
    draw_rows(canvas, rows)
    for flight in found.flying:
        draw_flight(canvas, scale, flight, rows, varying(found.flying, flight.start.operand))
    for place, event in enumerate(found.events):
        if event.op == "compute":
            draw_body(canvas, event, scale.cell(place), rows)
        elif event.op == "dma_wait":
            draw_stall(canvas, scale.cell(place), rows["compute", "", 0])
    draw_axis(canvas, scale, height - FOOT - MORE_FOOT)
    draw_key(canvas, height - 17)
    for number, line in enumerate(model(found, costs)):
        canvas.text((4, height - 28 + 15 * number), line, "soft", size=11)
    title = f"Computed timeline of {kernel} on one {costs.chip.name} core"
    return canvas.finish(prefix, title, *words(kernel, found, costs, duration(events, costs)))


def draw_steps(canvas: Canvas, scale: Scale, events: Sequence[Event], bottom: float) -> None:
    """A band for every second grid step, with its number where there is room."""
    canvas.text((LEFT - 10, TOP - 20), "grid step", "soft", align="right")
    behind = LEFT - 20.0
    for step, group in itertools.groupby(range(len(events)), key=lambda place: events[place].step):
        places = list(group)
        left, right = scale.cell(places[0])[0], scale.cell(places[-1])[1]
        inside = any(events[place].op == "compute" for place in places)
        if inside and step % 2 == 0:
            canvas.box((left, TOP - 8), (max(right - left, 0.5), bottom - TOP + 8), "grid", tint=0.45)
        middle, half = (left + right) / 2, LETTER * len(str(step)) / 2
        if inside and middle - half > behind:
            canvas.text((middle, TOP - 20), str(step), "soft", align="center")
            behind = middle + half + 3


def draw_flight(canvas: Canvas, scale: Scale, flight: Flight, rows: Rows, axes: Sequence[int]) -> None:
    """A copy until its bytes are there, and where it is waited for, if later with a thin line in between."""
    y = rows[flight.start.direction, flight.start.operand, flight.start.slot]
    left, right = scale.bar(flight)
    draw_bar(canvas, flight, (left, right), y, axes)
    if flight.end < scale.count:
        waited = scale.cell(flight.end)[1]
        if waited > right:
            canvas.line([(right, y + 12), (waited, y + 12)], "wait", 0.75)
        draw_wait(canvas, waited, y)


def draw_stall(canvas: Canvas, ends: tuple[float, float], y: float) -> None:
    """A stretch in which the core can do nothing but wait."""
    if ends[1] - ends[0] > 0.25:  # noqa: PLR2004 - a quarter of a pixel cannot be seen
        canvas.box((ends[0], y + 8), (ends[1] - ends[0], 8), "wait", tint=0.35)


def draw_axis(canvas: Canvas, scale: Scale, bottom: float) -> None:
    """Times, from zero."""
    step = tick(scale.end / 6)
    for number in range(math.floor(scale.end / step) + 1):
        x = scale.x(number * step)
        canvas.line([(x, bottom), (x, bottom + 4)], "soft", 1)
        last = x > WIDTH - RIGHT - 24
        canvas.text((x, bottom + 11), time(number * step), "soft", size=11, align="right" if last else "center")


def tick(least: Fraction) -> Fraction:
    """The smallest of 1, 2, 5, 10, ... picoseconds that is no smaller."""
    worth = Fraction(1, 10**12)
    while True:
        for factor in (1, 2, 5):
            if factor * worth >= least:
                return factor * worth
        worth *= 10


def time(seconds: Fraction) -> str:
    """A time, in words."""
    for unit, worth in (("s", 1), ("ms", 10**3), ("µs", 10**6)):
        if seconds * worth >= 1:
            return f"{float(seconds * worth):.3g} {unit}"
    return f"{float(seconds * 10**9):.3g} ns"


def model(found: Shown, costs: Costs) -> tuple[str, str]:
    """What was assumed."""
    chip, clock = costs.chip, f"{costs.clock.hertz / 1e9:g} GHz"
    bandwidth = f"{chip.hbm_bytes_per_second / 1e9:,.0f} GB/s"
    body = f"Compute: {float(costs.bundles):,.4g} bundles a step at an assumed {clock}."
    return (
        f"Computed, not measured, for one {chip.name} core. Copies: bytes at {bandwidth}, shared by those in flight.",
        f"{found.cut}{body} Thin in the compute row: the core waits.",
    )


def words(kernel: str, found: Shown, costs: Costs, seconds: Fraction) -> tuple[str, str]:
    """The picture in full, and in short."""
    short = f"Computed timeline of {kernel} on one {costs.chip.name} core: {found.of}, {time(seconds)}."
    across = "Across: time, as the model gives it."
    down = "Down: one row for each buffer slot, copies in above the compute row, copies out below."
    marks = "A bar lasts until a copy's bytes are there; a thick line marks the end of the wait for it."
    return (
        f"{short} {across} {down} {marks} {' '.join(model(found, costs))} {costs.clock.source}. {sentences(found)}",
        short,
    )
