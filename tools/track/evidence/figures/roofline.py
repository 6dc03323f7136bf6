"""The roofline picture: two roofs of one core of a chip, and the kernels under them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from track.errors import BadInput
from track.evidence.clocks import clock_of
from track.evidence.figures.svg import Canvas, Figure
from track.evidence.record import Chip
from track.evidence.roofline import Point, checked, roof

__all__ = ["roofline"]

WIDTH, PLOT = 700.0, 330.0
LEFT, RIGHT, TOP = 74.0, 16.0, 18.0
AXIS, ROW, FOOT = 52.0, 21.0, 50.0
MARGIN, RADIUS, BADGE = 4.0, 4.0, 9.0
MOST = 16


class Scale:
    """From intensities and rates, both on logarithmic axes, to places on the page."""

    def __init__(self, points: Sequence[Point], chip: Chip) -> None:
        ridge = chip.bf16_flops_per_second / chip.hbm_bytes_per_second
        intensities = [float(found.intensity) for found in points]
        self.low = math.floor(math.log2(min(intensities))) - 1
        self.high = math.ceil(math.log2(max(ridge, *intensities))) + 2
        lowest = min(
            2.0**self.low * chip.hbm_bytes_per_second, *(float(found.flops_per_second) / 2 for found in points)
        )
        self.bottom = math.floor(math.log10(lowest))
        self.top = math.log10(chip.bf16_flops_per_second) + 0.35

    def x(self, intensity: float) -> float:
        """Across, for operations per byte."""
        return LEFT + (math.log2(intensity) - self.low) / (self.high - self.low) * (WIDTH - LEFT - RIGHT)

    def y(self, rate: float) -> float:
        """Down, for operations per second."""
        share = (math.log10(rate) - self.bottom) / (self.top - self.bottom)
        return PLOT - share * (PLOT - TOP)


def roofline(points: Sequence[Point], chip: Chip, prefix: str) -> Figure:
    """The points under the roofs of one core of `chip`, numbered and named below; a point above them is an error."""
    if not points or len(points) > MOST:
        raise BadInput(f"a roofline shows 1 to {MOST} points", {"chip": chip.name, "found": len(points)})
    ordered = sorted((checked(found, chip) for found in points), key=lambda one: (-one.flops_per_second, one.name))
    height = PLOT + AXIS + ROW * len(ordered) + FOOT
    canvas, scale = Canvas(WIDTH, height), Scale(ordered, chip)
    draw_axes(canvas, scale)
    draw_roofs(canvas, scale, chip)
    draw_points(canvas, scale, ordered)
    draw_names(canvas, ordered, chip)
    for number, line in enumerate(model(chip)):
        canvas.text((MARGIN, height - 28 + 15 * number), line, "soft", size=11)
    return canvas.finish(prefix, f"Roofline of one {chip.name} core", *words(ordered, chip))


def model(chip: Chip) -> tuple[str, str]:
    """How the points come to their height."""
    clock = clock_of(chip.name)
    return (
        "Computed, not measured, all on one core: copies take their bytes at HBM bandwidth, shared by those in flight;",
        f"the body takes the bundles that the compiler made of it, at an assumed {clock.hertz / 1e9:g} GHz.",
    )


def draw_axes(canvas: Canvas, scale: Scale) -> None:
    """Grid lines with their values, and what the axes are."""
    floor = PLOT
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
    """The kernels, each with its number beside it, where there is room."""
    places = [(scale.x(float(found.intensity)), scale.y(float(found.flops_per_second))) for found in points]
    taken = list(places)
    for place in places:
        canvas.shape(circle(*place, RADIUS), "compute")
    for number, place in enumerate(places, start=1):
        badge = free(place, taken)
        taken.append(badge)
        canvas.line([place, badge], "soft", 0.75)
        canvas.text(badge, str(number), size=11, align="center", bold=True)


def free(place: tuple[float, float], taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The nearest place for a number that no point and no other number takes, within the picture."""
    around = [
        (place[0] + far * math.cos(turn), place[1] + far * math.sin(turn))
        for far in (16, 26, 38, 52, 68)
        for turn in (math.pi * eighth / 4 for eighth in (1, 2, 0, 3, 7, 4, 5, 6))
    ]
    inside = [(x, y) for x, y in around if LEFT + BADGE < x < WIDTH - RIGHT - BADGE and TOP + BADGE < y < PLOT - BADGE]
    clear = [spot for spot in inside if all(math.dist(spot, other) > 1.5 * BADGE for other in taken)]
    return (clear or inside or around)[0]


def draw_names(canvas: Canvas, points: Sequence[Point], chip: Chip) -> None:
    """Below the picture: the names to the numbers, and what they reach."""
    for number, found in enumerate(points, start=1):
        y = PLOT + AXIS + ROW * (number - 0.5)
        canvas.text((22, y), str(number), align="right", bold=True)
        canvas.text((32, y), found.name, bold=True)
        canvas.text(
            (WIDTH - MARGIN, y), f"{said(found)}, {share(found, chip)} of its roof", "soft", size=11, align="right"
        )


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
    return f"{float(found.intensity):.3g} operations per byte, {si(float(found.flops_per_second))}FLOP/s"


def words(points: Sequence[Point], chip: Chip) -> tuple[str, str]:
    """The picture in full, and in short."""
    names = points[0].name if len(points) == 1 else f"{len(points)} kernels, {points[0].name} highest"
    short = f"Roofline of one {chip.name} core with {names}."
    roofs = (
        f"The memory roof is {si(chip.hbm_bytes_per_second)}B/s of HBM bandwidth, the compute roof "
        f"{si(chip.bf16_flops_per_second)}FLOP/s in bf16; both are one core's, from the pinned tpu_info."
    )
    axes = "Across: operations per byte moved to or from HBM. Up: operations per second. Both axes are logarithmic."
    told = " ".join(f"{found.name}: {said(found)}, {share(found, chip)} of its roof." for found in points)
    return f"{short} {axes} {roofs} {' '.join(model(chip))} Clock: {clock_of(chip.name).source}. {told}", short


def share(found: Point, chip: Chip) -> str:
    """How much of the roof above it a point reaches."""
    return f"{float(found.flops_per_second / roof(chip, found.intensity)):.0%}"
