"""Rooflines: what a chip could do at most, and what a computed schedule does.

The height of a point is the kernel's floating-point operations over the time of its replayed schedule, in which copies
take their bytes over the bandwidth and the body takes its bundles over the clock. It is not the lower of the two roofs
at its intensity, which could not lie above them and would say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from track.errors import BadInput, Finding
from track.evidence.record import Chip, Event, Region, Work
from track.evidence.schedule import costs_of, duration

__all__ = ["Point", "point", "roof"]


class Point(Struct, frozen=True):
    """A kernel on a roofline: operations for each byte of HBM traffic, and operations a second."""

    name: str
    intensity: Fraction
    flops_per_second: Fraction


def roof(chip: Chip, intensity: Fraction) -> Fraction:
    """The most operations a second that one core can do at this intensity."""
    return min(Fraction(chip.bf16_flops_per_second), intensity * chip.hbm_bytes_per_second)


def point(
    name: str, work: Work | None, orders: Sequence[Sequence[Event]], regions: Sequence[Region] | None, chip: Chip
) -> Point:
    """Where a kernel lies, were its grids run one after the other, each in its order, on one core of the chip.

    `regions` are those of the kernel compiled for that chip. Without them there is no time, and no point.
    """
    if work is None or not orders or not work.flops or not work.bytes:
        raise BadInput("a roofline needs operations, bytes and an order of events", {"kernel": name})
    if not regions:
        about = {"kernel": name, "chip": chip.name, "expected": "a tpu-aot record with its bundles"}
        raise BadInput("a point on a roofline needs a computed time, and that needs the kernel's bundles", about)
    models = costs_of(regions, chip, orders)
    seconds = sum((duration(order, costs) for order, costs in zip(orders, models, strict=True)), Fraction(0))
    return checked(Point(name, Fraction(work.flops, work.bytes), work.flops / seconds), chip)


def checked(found: Point, chip: Chip) -> Point:
    """The point, if it is not above its roof: to beat the chip is a mistake in the count or in the model."""
    limit = roof(chip, found.intensity)
    if found.flops_per_second > limit:
        about = {"chip": chip.name, "point": f"{float(found.flops_per_second):.6g}", "roof": f"{float(limit):.6g}"}
        raise Finding(f"the point of {found.name!r} lies above its roof", about)
    return found
