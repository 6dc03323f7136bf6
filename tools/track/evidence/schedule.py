"""Events on a line: in the order in which they were recorded, or at the times that a stated model gives them.

The model: a DMA moves its bytes at the HBM bandwidth, and DMAs in flight together share it equally; a wait lasts until
its DMA is done; a run of the body takes its bundles at the clock, while DMAs go on; everything else takes no time.
Times are exact fractions of a second: equal inputs, equal pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from track.errors import BadInput, Finding
from track.evidence.clocks import Clock, clock_of
from track.evidence.record import Chip, Event, Record, Region

__all__ = ["Costs", "Flight", "Times", "bundles_of", "costs_of", "duration", "flights", "ordered", "replay"]


class Flight(Struct, frozen=True):
    """A DMA as a stretch of the order: event number `begin` started it, event number `end` waited for it."""

    start: Event
    begin: int
    end: int


class Costs(Struct, frozen=True):
    """What one core of a chip takes for a byte and for a run of a kernel's body: the model, with its assumptions.

    `bundles` of one run need not be whole: a loop that the compiler unrolled is shared out among the steps.
    """

    chip: Chip
    clock: Clock
    bundles: Fraction

    @property
    def body(self) -> Fraction:
        """Seconds for one run of the body."""
        return self.bundles / self.clock.hertz


class Times(Struct, frozen=True):
    """When each event begins and ends, and when each DMA, by its number, is done; in seconds."""

    spans: tuple[tuple[Fraction, Fraction], ...]
    done: dict[int, Fraction]


def ordered(record: Record) -> tuple[Event, ...] | None:
    """The one order of the record's events; BadInput where devices have their own, or there is no pipeline."""
    apart = record.measures.by_device
    if apart is None:
        return record.measures.events
    about = {"kernel": record.kernel, "devices": len(apart)}
    if len(apart) > 1:
        raise BadInput("events of several devices have no one order to draw", about)
    raise BadInput("a timeline is drawn of a pipeline, and these events are of none", about)


def flights(events: Sequence[Event]) -> list[Flight]:
    """Every DMA, by its start; one that nothing waits for has no end, and is an error of the kernel."""
    devices = {event.device for event in events}
    if len(devices) > 1:
        raise BadInput("events of several devices have no one order to draw", {"devices": len(devices)})
    waits = {event.dma: place for place, event in enumerate(events) if event.op == "dma_wait"}
    starts = [(place, event) for place, event in enumerate(events) if event.op == "dma_start"]
    lost = [event for _, event in starts if event.dma not in waits]
    if lost:
        raise Finding(
            f"{len(lost)} DMAs are started and never waited for", {"first": f"{lost[0].direction} {lost[0].block}"}
        )
    return [Flight(event, place, waits[event.dma]) for place, event in starts]


def bundles_of(regions: Sequence[Region], steps: int) -> Fraction:
    """The bundles of one run of the body, of a kernel whose grid has so many steps.

    That is all that lies in the loop over the grid, which is the longest of the outermost loops, and what lies in loops
    inside of it as often as they turn. What a condition skips at some steps (a reset, a last store) counts as if it ran
    at every step. All steps are one core's, also where the compiler gave half of them to another. A kernel of one step,
    or whose loop the compiler unrolled, has its whole program shared out among its steps.
    """
    loops = outermost_loops(regions)
    if steps == 1 or not loops:
        outside = sum(region.bundles for region in regions if not region.depth)
        inside = sum(turn_of(loop) * turns_of(loop[0], loop[0].trips) for loop in loops)
        return Fraction(outside + inside, steps)
    return Fraction(turn_of(max(loops, key=lambda loop: sum(region.bundles for region in loop))))


def outermost_loops(regions: Sequence[Region]) -> list[list[Region]]:
    """The regions of each loop that lies in no other."""
    loops: list[list[Region]] = []
    depth = 0
    for region in regions:
        if region.depth and (not depth or (region.depth == 1 and region.name == "loop")):
            loops.append([])
        if region.depth:
            loops[-1].append(region)
        depth = region.depth
    return loops


def turn_of(loop: Sequence[Region]) -> int:
    """The bundles of one turn of an outermost loop."""
    return sum(region.bundles * (turns_of(region, region.trips) if region.depth > 1 else 1) for region in loop)


def turns_of(region: Region, trips: int) -> int:
    """How often a loop turns, or an error where the program does not say."""
    if not trips:
        about = {"kernel": region.kernel, "region": f"{region.name}, {region.bundles} bundles"}
        raise BadInput("a computed time needs to know how often each loop of the body turns", about)
    return trips


def costs_of(regions: Sequence[Region] | None, chip: Chip, orders: Sequence[Sequence[Event]]) -> list[Costs]:
    """The model of each grid of a kernel on one core of the chip that it was compiled for, one compiled kernel each.

    They are paired in program order, which XLA's numbers at the end of the compiled kernels' names follow; the order in
    which it compiles them is another.
    """
    compiled: dict[str, list[Region]] = {}
    for region in regions or ():
        compiled.setdefault(region.kernel, []).append(region)
    if not compiled or len(compiled) != len(orders):
        about = {"chip": chip.name, "grids": len(orders), "compiled kernels": ", ".join(compiled) or "none"}
        raise BadInput("a computed time needs the bundles of each grid, from a tpu-aot record for the chip", about)
    clock = clock_of(chip.name)
    return [
        Costs(chip, clock, bundles_of(compiled[name], sum(event.op == "compute" for event in order)))
        for name, order in zip(sorted(compiled, key=number_of), orders, strict=True)
    ]


def number_of(name: str) -> int:
    """The number at the end of a compiled kernel's name; 0 where there is none, as for the first."""
    _, _, number = name.rpartition(".")
    return int(number) if number.isdecimal() else 0


class Memory:
    """HBM and the copies in flight: what is left of each, in seconds of all the bandwidth."""

    def __init__(self) -> None:
        self.now = Fraction(0)
        self.left: dict[int, Fraction] = {}
        self.done: dict[int, Fraction] = {}

    def start(self, dma: int, seconds: Fraction) -> None:
        """Begin a copy that would take this long alone."""
        self.left[dma] = seconds
        if not seconds:
            self.finish(dma)

    def finish(self, dma: int) -> None:
        """Note that a copy is done."""
        del self.left[dma]
        self.done[dma] = self.now

    def share(self, seconds: Fraction) -> None:
        """Let so much time pass that every copy moves on by `seconds` of all the bandwidth, and none is done before."""
        self.now += seconds * len(self.left)
        for dma in list(self.left):
            self.left[dma] -= seconds
            if not self.left[dma]:
                self.finish(dma)

    def wait(self, dma: int) -> None:
        """Let time pass until the copy is done."""
        while dma in self.left:
            self.share(min(self.left.values()))

    def run(self, seconds: Fraction) -> None:
        """Let this much time pass."""
        end = self.now + seconds
        while self.left and self.now + min(self.left.values()) * len(self.left) <= end:
            self.share(min(self.left.values()))
        if self.left:
            self.share((end - self.now) / len(self.left))
        self.now = end


def replay(events: Sequence[Event], costs: Costs) -> Times:
    """When everything happens under the model."""
    memory = Memory()
    spans: list[tuple[Fraction, Fraction]] = []
    for event in events:
        begin = memory.now
        if event.op == "dma_start":
            memory.start(event.dma, Fraction(event.bytes, costs.chip.hbm_bytes_per_second))
        elif event.op == "dma_wait":
            memory.wait(event.dma)
        elif event.op == "compute":
            memory.run(costs.body)
        spans.append((begin, memory.now))
    for dma in list(memory.left):
        memory.wait(dma)
    return Times(tuple(spans), memory.done)


def duration(events: Sequence[Event], costs: Costs) -> Fraction:
    """How long the order takes under the model, in seconds, until the last copy is done."""
    times = replay(events, costs)
    return max([end for _, end in times.spans] + list(times.done.values()), default=Fraction(0))
