"""From what the hooks noted to the events of a record: directions, slots, blocks, steps.

Everything is read off ids and indices: a buffer's operand from the order in which buffers are brought to the chip,
a DMA's slot from its semaphore, its block from the range it covers, a wait's DMA from the semaphore it waits on, first
in first out.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from track.evidence.lanes.hooks import Access, Buffer, Copy, Range, Recording, Signal, Site
from track.evidence.record import Direction, Event, Touch

__all__ = ["Unordered", "by_device", "events_of"]

BODY = "ep_run_kernel"
Note = Copy | Signal | Access


class Unordered(Exception):
    """The notes do not say which event belongs to which grid step."""


def events_of(recording: Recording, operands: list[str], steps: int) -> tuple[Event, ...]:
    """The events of one run of one pipeline with this many steps, in order."""
    reader = Reader(recording, operands)
    events = [event for note in in_body_spans(recording.log, steps) for event in reader.read(note)]
    return tuple(with_steps(events, steps))


def by_device(recording: Recording, operands: list[str], devices: int) -> tuple[tuple[Event, ...], ...] | None:
    """What each device copied, waited for and signaled, in its own order; None where none did."""
    notes = [note for note in recording.log if not isinstance(note, Access)]
    readers = [Reader(recording, operands) for _ in range(devices)]  # each device numbers its own copies
    orders = tuple(
        tuple(reader.alone(note) for note in notes if note.device == device) for device, reader in enumerate(readers)
    )
    return orders if notes else None


def in_body_spans(log: list[Note], steps: int) -> Iterator[Note | list[Access]]:
    """The log with the accesses of each run of the body gathered into one list, and all other accesses left out."""
    groups = [(inside, list(notes)) for inside, notes in itertools.groupby(log, key=is_body)]
    accesses = [note for inside, notes in groups if inside for note in notes]
    each = len(accesses) // steps if steps else 0
    repeats = (
        each > 0 and [note.site.ident for note in accesses] == [note.site.ident for note in accesses[:each]] * steps
    )
    apart = sum(inside for inside, _ in groups) == steps
    if not apart and not repeats:
        raise Unordered("the steps of the body cannot be told apart")
    for inside, notes in groups:
        size = len(notes) if apart else each
        if inside:
            yield from (
                [note for note in chunk if isinstance(note, Access)] for chunk in itertools.batched(notes, size)
            )
        else:
            yield from (note for note in notes if not isinstance(note, Access))


def is_body(note: Note) -> bool:
    """Whether the pipeline's body did this."""
    return isinstance(note, Access) and BODY in note.site.scope


@dataclass
class Reader:
    """Turns notes into events; remembers the DMAs in flight and which buffer holds which operand."""

    recording: Recording
    operands: list[str]
    flying: dict[int, deque[Event]] = field(default_factory=lambda: defaultdict(deque))
    held: dict[int, str] = field(default_factory=dict[int, str])
    started: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.buffers = {buffer.id: buffer for buffer in self.recording.buffers}
        distant = [buffer.id for buffer in self.buffers.values() if is_distant(buffer)]
        self.names = dict(zip(distant, self.operands, strict=False))  # further ones are scratch, and have no name
        for note in self.recording.log:
            if isinstance(note, Copy):
                _, far, near, _ = self.ends(note)
                self.held[near.id] = self.names.get(far.id, f"buffer {far.id}")

    def read(self, note: Note | list[Access]) -> Iterator[Event]:
        """The event of a note, if it is one."""
        if isinstance(note, list):
            yield self.compute(note)
        elif isinstance(note, Copy):
            yield self.start(note)
        elif isinstance(note, Signal):
            yield self.wait(note) if note.op == "dma_wait" else signal(note)

    def alone(self, note: Copy | Signal) -> Event:
        """The event of a note outside of any pipeline, as far as the note says itself what it is."""
        if isinstance(note, Signal):
            return signal(note)
        _, far, _, part = self.ends(note)
        return Event(
            "dma_start",
            0,
            note.device,
            operand=self.names.get(far.id, f"buffer {far.id}"),
            block=block_of(part, far),
            bytes=elements(part, far) * far.itemsize,
            dma=next(self.started),
            semaphore=note.semaphore,
            scope=note.site.scope,
            calls=verbs(note.site),
            target=note.to,
            sent=note.sent,
            source=note.site.source,
        )

    def start(self, note: Copy) -> Event:
        """A DMA that begins."""
        direction, far, near, part = self.ends(note)
        event = Event(
            "dma_start",
            0,
            note.device,
            direction,
            self.held[near.id],
            self.recording.semaphores[note.semaphore],
            block_of(part, far),
            elements(part, far) * far.itemsize,
            next(self.started),
            note.semaphore,
            note.site.scope,
            verbs(note.site),
            source=note.site.source,
        )
        self.flying[note.semaphore].append(event)
        return event

    def ends(self, note: Copy) -> tuple[Direction, Buffer, Buffer, Range]:
        """The direction of a DMA, its buffer in HBM, its other buffer, and the part of the first that it covers."""
        source, target = self.buffers[note.source], self.buffers[note.target]
        if is_distant(target) and not is_distant(source):
            return "out", target, source, note.target_range
        return "in" if is_distant(source) > is_distant(target) else "", source, target, note.source_range

    def wait(self, note: Signal) -> Event:
        """The wait for a DMA: the oldest in flight on the same semaphore, which must have the bytes waited for."""
        begun = self.flying[note.semaphore].popleft()
        if begun.bytes != note.amount:
            raise Unordered(f"a wait for {note.amount} bytes on a semaphore whose oldest DMA has {begun.bytes}")
        site = note.site
        return replace(begun, op="dma_wait", scope=site.scope, calls=verbs(site), source=site.source)

    def compute(self, notes: list[Access]) -> Event:
        """One run of the body, from its first access to its last, with the slots that it touched."""
        touched = {(self.held.get(note.buffer, ""), slot_of(note.range)): None for note in notes}
        touches = tuple(Touch(operand, slot) for operand, slot in touched if operand)
        return Event("compute", 0, notes[0].device, scope=BODY, touches=touches, source=notes[0].site.source)


def signal(note: Signal) -> Event:
    """A semaphore raised or waited for by hand, or a wait for a copy that is not looked for."""
    return Event(
        note.op,
        0,
        note.device,
        bytes=note.amount,
        semaphore=note.semaphore,
        scope=note.site.scope,
        calls=verbs(note.site),
        target=note.to,
        source=note.site.source,
    )


def with_steps(events: list[Event], steps: int) -> Iterator[Event]:
    """The events with their grid steps: within a step, copies in come before the body and copies out after it."""
    done = 0
    for event in events:
        done += event.op == "compute"
        behind = event.op == "compute" or "_out" in event.scope
        step = done - 1 if behind else done
        if "ep_initialize" in event.scope:
            step = -1
        elif "ep_finalize" in event.scope:
            step = steps
        yield replace(event, step=step)


def verbs(site: Site) -> tuple[str, ...]:
    """The methods of pipeline.py on the way to an operation, without the functions nested in them."""
    named = (call.split(".<locals>")[0] for call in site.calls)
    return tuple(dict.fromkeys(name for name in named if "." in name))


def slot_of(part: Range) -> int:
    """The slot of a multiple buffer that an access names: its first index."""
    return part[0] if part and isinstance(part[0], int) else -1


def is_distant(buffer: Buffer) -> bool:
    """Whether the buffer is in HBM."""
    return buffer.space in ("hbm", "any")


def whole(part: Range, buffer: Buffer) -> list[slice]:
    """The range as one slice a dimension."""
    given = [side if isinstance(side, slice) else slice(side, side + 1, 1) for side in part]
    return given + [slice(0, size, 1) for size in buffer.shape[len(given) :]]


def elements(part: Range, buffer: Buffer) -> int:
    """How many elements the range covers."""
    return math.prod(len(range(side.start, side.stop, side.step or 1)) for side in whole(part, buffer))


def block_of(part: Range, buffer: Buffer) -> tuple[int, ...]:
    """Where the range lies, counted in blocks of its own size."""
    return tuple(side.start // max(1, side.stop - side.start) for side in whole(part, buffer))
