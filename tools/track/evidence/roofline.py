"""Rooflines: what a chip could do at most, and what a computed schedule does.

The height of a point is the kernel's floating-point operations over the time of its replayed schedule. It is not the
lower of the two roofs at its intensity, which could not lie above them and would say nothing.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from track.errors import BadInput, Finding
from track.evidence.record import Chip, Record
from track.evidence.schedule import duration

__all__ = ["Point", "point", "roof"]


class Point(Struct, frozen=True):
    """A kernel on a roofline: operations for each byte of HBM traffic, and operations a second."""

    name: str
    intensity: Fraction
    flops_per_second: Fraction


def roof(chip: Chip, intensity: Fraction) -> Fraction:
    """The most operations a second that one core can do at this intensity."""
    return min(Fraction(chip.bf16_flops_per_second), intensity * chip.hbm_bytes_per_second)


def point(record: Record, chip: Chip) -> Point:
    """Where a recorded kernel lies, were its schedule run on the chip."""
    work, events = record.measures.work, record.measures.events
    if work is None or not events or not work.flops or not work.bytes:
        about = {"kernel": record.kernel, "lane": record.lane, "status": record.status, "reason": record.reason}
        raise BadInput("a roofline needs operations, bytes and an order of events", about)
    seconds = duration(events, chip.hbm_bytes_per_second)
    return checked(Point(record.kernel, Fraction(work.flops, work.bytes), work.flops / seconds), chip)


def checked(found: Point, chip: Chip) -> Point:
    """The point, if it is not above its roof: to beat the chip is a mistake in the count or in the model."""
    limit = roof(chip, found.intensity)
    if found.flops_per_second > limit:
        about = {"chip": chip.name, "point": f"{float(found.flops_per_second):.6g}", "roof": f"{float(limit):.6g}"}
        raise Finding(f"the point of {found.name!r} lies above its roof", about)
    return found
