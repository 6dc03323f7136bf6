"""The roofline picture: two roofs of one core of a chip, and the kernels under them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from track.evidence.figures.svg import Canvas, Figure
from track.evidence.record import Chip, Record
from track.evidence.roofline import Point, point, roof

__all__ = ["roofline"]

WIDTH, HEIGHT = 700.0, 400.0
LEFT, RIGHT, TOP, BOTTOM = 74.0, 16.0, 18.0, 78.0
MODEL = "Points are computed: the recorded order, copies at HBM bandwidth sharing it, compute taking no time."


class Scale:
    """From intensities and rates, both on logarithmic axes, to places on the page."""

    def __init__(self, points: Sequence[Point], chip: Chip) -> None:
        ridge = chip.bf16_flops_per_second / chip.hbm_bytes_per_second
        intensities = [float(found.intensity) for found in points]
        self.low = math.floor(math.log2(min(intensities))) - 1
        self.high = math.ceil(math.log2(max(ridge, *intensities))) + 2
        self.bottom = math.floor(math.log10(2.0**self.low * chip.hbm_bytes_per_second))
        self.top = math.log10(chip.bf16_flops_per_second) + 0.35

    def x(self, intensity: float) -> float:
        """Across, for operations per byte."""
        return LEFT + (math.log2(intensity) - self.low) / (self.high - self.low) * (WIDTH - LEFT - RIGHT)

    def y(self, rate: float) -> float:
        """Down, for operations per second."""
        share = (math.log10(rate) - self.bottom) / (self.top - self.bottom)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def roofline(records: Sequence[Record], chip: Chip, prefix: str) -> Figure:
    """The records as points under the roofs of one core of `chip`; a point above them is an error."""
    points = [point(record, chip) for record in records]
    canvas, scale = Canvas(WIDTH, HEIGHT), Scale(points, chip)
    draw_axes(canvas, scale)
    draw_roofs(canvas, scale, chip)
    draw_points(canvas, scale, points)
    return canvas.finish(prefix, f"Roofline of one {chip.name} core", *words(points, chip))


def draw_axes(canvas: Canvas, scale: Scale) -> None:
    """Grid lines with their values, and what the axes are."""
    floor = HEIGHT - BOTTOM
    for power in range(scale.low, scale.high + 1, 2):
        x = scale.x(2.0**power)
        canvas.line([(x, TOP), (x, floor)], "grid", 0.75)
        canvas.text((x, floor + 13), str(Fraction(2) ** power), "soft", size=11, align="center")
    for power in range(scale.bottom, math.floor(scale.top) + 1):
        y = scale.y(10.0**power)
        canvas.line([(LEFT, y), (WIDTH - RIGHT, y)], "grid", 0.75)
        canvas.text((LEFT - 8, y), si(10**power), "soft", size=11, align="right")
    canvas.text(
        ((LEFT + WIDTH - RIGHT) / 2, floor + 34), "operations per byte moved to or from HBM", size=12, align="center"
    )
    canvas.text((12, (TOP + floor) / 2), "operations per second, one core", size=12, align="center", angle=90)
    canvas.text((LEFT, HEIGHT - 14), MODEL, "soft", size=11)


def draw_roofs(canvas: Canvas, scale: Scale, chip: Chip) -> None:
    """The memory roof, the compute roof, and their names."""
    ridge = chip.bf16_flops_per_second / chip.hbm_bytes_per_second
    corners = [(2.0**scale.low, 2.0**scale.low * chip.hbm_bytes_per_second)]
    corners += [(ridge, chip.bf16_flops_per_second), (2.0**scale.high, chip.bf16_flops_per_second)]
    places = [(scale.x(intensity), scale.y(rate)) for intensity, rate in corners]
    canvas.line(places, "roof", 2.5)
    (left, low), (corner, high), (right, _) = places
    angle = math.degrees(math.atan2(low - high, corner - left))
    share = 0.55
    along = (left + share * (corner - left) - 7, low + share * (high - low) - 11)
    canvas.text(along, f"HBM, {si(chip.hbm_bytes_per_second)}B/s", align="center", angle=angle)
    canvas.text((right - 4, high - 11), f"bf16 peak, {si(chip.bf16_flops_per_second)}FLOP/s", align="right")


def draw_points(canvas: Canvas, scale: Scale, points: Sequence[Point]) -> None:
    """The kernels, each with a line to its name."""
    ordered = sorted(points, key=lambda found: (-found.flops_per_second, found.name))
    places = [(scale.x(float(found.intensity)), scale.y(float(found.flops_per_second))) for found in ordered]
    across = max(x for x, _ in places) + 56
    numbers = across + 7.6 * max(len(found.name) for found in ordered) + 10  # wider than the longest name in bold
    for number, (found, (x, y)) in enumerate(zip(ordered, places, strict=True)):
        level = places[0][1] + 14 + 22 * number
        canvas.line([(x, y), (across - 6, level)], "soft", 0.75)
        canvas.shape(circle(x, y, 5), "compute")
        canvas.text((across, level), found.name, bold=True)
        canvas.text((numbers, level), said(found), "soft", size=11)


def circle(x: float, y: float, radius: float) -> list[tuple[float, float]]:
    """A circle, as a polygon of 24 corners."""
    turns = [2 * math.pi * corner / 24 for corner in range(24)]
    return [(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]


def si(value: float) -> str:
    """A number with its SI prefix, to three digits, ready for a unit."""
    power = max(0, math.floor(math.log10(value)) // 3)
    return f"{value / 1000**power:.3g} {['', 'k', 'M', 'G', 'T', 'P'][power]}"


def said(found: Point) -> str:
    """A point's two numbers."""
    return f"{found.intensity} operations per byte, {si(float(found.flops_per_second))}FLOP/s"


def words(points: Sequence[Point], chip: Chip) -> tuple[str, str]:
    """The picture in full, and in short."""
    short = f"Roofline of one {chip.name} core with {', '.join(found.name for found in points)}."
    roofs = (
        f"The memory roof is {si(chip.hbm_bytes_per_second)}B/s of HBM bandwidth, the compute roof "
        f"{si(chip.bf16_flops_per_second)}FLOP/s in bf16; both are one core's, from the pinned tpu_info."
    )
    axes = "Across: operations per byte moved to or from HBM. Up: operations per second. Both axes are logarithmic."
    told = " ".join(f"{found.name}: {said(found)}, {share(found, chip)} of its roof." for found in points)
    return f"{short} {axes} {roofs} {MODEL} {told}", short


def share(found: Point, chip: Chip) -> str:
    """How much of the roof above it a point reaches."""
    return f"{float(found.flops_per_second / roof(chip, found.intensity)):.0%}"
