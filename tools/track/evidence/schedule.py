"""Events on a line: in the order in which they were recorded, or at the times that a stated model gives them.

The model: a DMA moves its bytes at the HBM bandwidth, and DMAs in flight together share it equally; a wait lasts until
its DMA is done; everything else takes no time. Times are exact fractions of a second: equal inputs, equal pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from msgspec import Struct

from track.errors import Finding
from track.evidence.record import Event

__all__ = ["Flight", "duration", "flights", "replay"]


class Flight(Struct, frozen=True):
    """A DMA as a stretch of the order: event number `begin` started it, event number `end` waited for it."""

    start: Event
    begin: int
    end: int


def flights(events: Sequence[Event]) -> list[Flight]:
    """Every DMA, by its start; one that nothing waits for has no end, and is an error of the kernel."""
    waits = {event.dma: place for place, event in enumerate(events) if event.op == "dma_wait"}
    starts = [(place, event) for place, event in enumerate(events) if event.op == "dma_start"]
    lost = [event for _, event in starts if event.dma not in waits]
    if lost:
        raise Finding(
            f"{len(lost)} DMAs are started and never waited for", {"first": f"{lost[0].direction} {lost[0].block}"}
        )
    return [Flight(event, place, waits[event.dma]) for place, event in starts]


def replay(events: Iterable[Event], bytes_per_second: int) -> list[Fraction]:
    """When each event is over, in seconds, under the model."""
    now = Fraction(0)
    left: dict[int, Fraction] = {}
    times: list[Fraction] = []
    for event in events:
        if event.op == "dma_start":
            left[event.dma] = Fraction(event.bytes, bytes_per_second)
        if event.op == "dma_wait":
            now += pass_until(event.dma, left)
        times.append(now)
    return times


def pass_until(dma: int, left: dict[int, Fraction]) -> Fraction:
    """Let time pass until one DMA is done, giving every DMA in flight its share; return how long that took."""
    passed = Fraction(0)
    while dma in left:
        slice_each = min(left.values())
        passed += slice_each * len(left)
        for other in list(left):
            left[other] -= slice_each
            if not left[other]:
                del left[other]
    return passed


def duration(events: Iterable[Event], bytes_per_second: int) -> Fraction:
    """How long the recorded order takes under the model, in seconds."""
    return replay(events, bytes_per_second)[-1]
