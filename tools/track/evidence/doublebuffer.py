"""The order of events of a pipelined grid, worked out from its index maps: what a `pallas_call` on a TPU does.

No interpreter records it, since it runs a `pallas_call` without its pipeline. The rules are those of the Scheduler in
jax's pipeline.py, which `emit_pipeline` follows on the record: fetch a block as many steps ahead as there are buffers
to spare, and only if it differs from the one before; send a block off when the next step leaves it, and wait for that
after the next step's body.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from track.evidence.record import Direction, Event, Grid, Touch, Window

__all__ = ["bytes_of", "events_of", "orders_of"]


def orders_of(recorded: Sequence[Event] | None, grids: Sequence[Grid]) -> list[tuple[Event, ...]]:
    """The order of each grid of a kernel: as it was recorded, or else as it is worked out."""
    return [tuple(recorded)] if recorded else [events_of(grid) for grid in grids]


def bytes_of(grid: Grid) -> int:
    """The bytes that the pipeline moves between HBM and the core."""
    return sum(event.bytes for event in events_of(grid) if event.op == "dma_start")


def events_of(grid: Grid) -> tuple[Event, ...]:
    """Every copy, wait and run of the body, in order."""
    return tuple(Pipeline(grid).events())


@dataclass
class Pipeline:
    """A grid at work; remembers the copies that were started and not yet waited for."""

    grid: Grid
    flying: dict[tuple[str, int], Event] = field(default_factory=dict[tuple[str, int], Event])
    started: int = 0

    def __post_init__(self) -> None:
        self.steps = math.prod(self.grid.shape)
        self.inputs = [window for window in self.grid.windows if window.role == "input"]
        self.outputs = [window for window in self.grid.windows if window.role == "output"]
        self.order = {window.operand: order_of(window) for window in self.grid.windows}

    def events(self) -> Iterator[Event]:
        """The order: before the loop, step by step, after it."""
        for ahead in range(max((window.buffers for window in self.inputs), default=1) - 1):
            for window in self.inputs:
                if ahead < min(window.buffers - 1, self.steps) and arrives(window, ahead):
                    yield self.start(window, -1, ahead, "in")
        for step in range(self.steps):
            yield from self.step(step)
        for window in self.outputs:
            yield self.wait(window, self.steps, self.steps - 1)

    def step(self, step: int) -> Iterator[Event]:
        """One turn of the loop."""
        for window in self.inputs:
            ahead = step + max(window.buffers - 1, 0)
            if ahead < self.steps and arrives(window, ahead):
                yield self.start(window, step, ahead, "in")
        for window in self.inputs:
            if arrives(window, step):
                yield self.wait(window, step, step)
        touched = tuple(Touch(window.operand, self.slot(window, step)) for window in self.grid.windows)
        yield Event("compute", step, touches=touched)
        for window in self.outputs:
            if leaves(window, step):
                yield self.start(window, step, step, "out")
        for window in self.outputs:
            if step and arrives(window, step):
                yield self.wait(window, step, step - 1)

    def start(self, window: Window, step: int, of: int, direction: Direction) -> Event:
        """The start of the copy of the block that step `of` works on."""
        size = bytes_at(window, of)
        names = (direction, window.operand, self.slot(window, of), window.blocks[of], size, self.started)
        event = Event("dma_start", step, 0, *names)
        self.flying[window.operand, self.order[window.operand][of]] = event
        self.started += 1
        return event

    def wait(self, window: Window, step: int, of: int) -> Event:
        """The wait for that copy."""
        begun = self.flying.pop((window.operand, self.order[window.operand][of]))
        names = (begun.direction, begun.operand, begun.slot, begun.block, begun.bytes, begun.dma)
        return Event("dma_wait", step, 0, *names)

    def slot(self, window: Window, step: int) -> int:
        """The slot that the step works in: slots are filled in turn."""
        return self.order[window.operand][step] % window.buffers


def arrives(window: Window, step: int) -> bool:
    """Whether the block of a step is not the one of the step before."""
    return step == 0 or not window.same(step, step - 1)


def leaves(window: Window, step: int) -> bool:
    """Whether the block of a step is not the one of the step after."""
    return step == len(window.blocks) - 1 or not window.same(step, step + 1)


def order_of(window: Window) -> list[int]:
    """For each step, how many blocks came before its own."""
    counts = [0]
    for step in range(1, len(window.blocks)):
        counts.append(counts[-1] + arrives(window, step))
    return counts


def bytes_at(window: Window, step: int) -> int:
    """The bytes of the block of a step, as far as it lies in the array."""
    size = window.itemsize
    for place, stride, block, array in zip(
        window.blocks[step], window.stride, window.size(step), window.array, strict=True
    ):
        first = place * stride
        size *= max(0, min(first + block, array) - max(first, 0))
    return size
