"""The timelines as traces that ui.perfetto.dev and chrome://tracing open."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from track.errors import BadInput
from track.evidence.record import Event, Record
from track.evidence.schedule import Costs, Flight, flights, ordered, replay

__all__ = ["computed_trace", "trace"]

PROCESS = 1
META: dict[str, Any] = {"ph": "M", "pid": PROCESS}

Span = tuple[float, float]
"""When something begins, and how long it lasts, in microseconds, the unit of the format."""


def trace(record: Record) -> str:
    """Chrome trace JSON: a track for each buffer slot and one for the body.

    The recorded order has no times, so one event is drawn as one microsecond; the name of the process says so.
    """
    events = ordered(record)
    if not events:
        raise BadInput("a trace needs recorded events", {"kernel": record.kernel, "reason": record.reason})
    title = f"{record.kernel}: recorded order, one event is drawn as 1 us"
    return written(title, events, lambda flight: (flight.begin, flight.end - flight.begin), lambda place: (place, 1))


def computed_trace(kernel: str, events: Sequence[Event], costs: Costs) -> str:
    """The same at the times that the model gives; the name of the process says what was assumed."""
    times = replay(events, costs)

    def bar(flight: Flight) -> Span:
        return span(times.spans[flight.begin][0], times.done[flight.start.dma])

    assumed = f"HBM {costs.chip.hbm_bytes_per_second / 1e9:,.0f} GB/s, {float(costs.bundles):.4g} bundles a step"
    title = (
        f"{kernel}: computed for one {costs.chip.name} core, {assumed} at an assumed {costs.clock.hertz / 1e9:g} GHz"
    )
    return written(title, events, bar, lambda place: span(*times.spans[place]))


def span(begin: Fraction, end: Fraction) -> Span:
    """A stretch of time, to the picosecond."""
    return round(float(begin * 10**6), 6), round(float((end - begin) * 10**6), 6)


def written(title: str, events: Sequence[Event], bar: Callable[[Flight], Span], cell: Callable[[int], Span]) -> str:
    """The trace, with the stretches of copies and of runs of the body where they are said to lie."""
    flying = flights(events)
    above = sorted({track_of(flight.start) for flight in flying if flight.start.direction == "in"})
    below = sorted({track_of(flight.start) for flight in flying if flight.start.direction != "in"})
    threads = {name: number for number, name in enumerate([*above, "compute", *below], start=1)}
    rows = [named("process_name", 0, title)]
    for name, thread in threads.items():
        rows += [
            named("thread_name", thread, name),
            {**META, "name": "thread_sort_index", "tid": thread, "args": {"sort_index": thread}},
        ]
    for flight in flying:
        thread = threads[track_of(flight.start)]
        rows.append(stretch(f"block {flight.start.block}", thread, bar(flight), details(flight.start)))
    for place, event in enumerate(events):
        if event.op == "compute":
            rows.append(stretch(f"step {event.step}", threads["compute"], cell(place), {"step": event.step}))
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": rows}, indent=1) + "\n"


def named(kind: str, thread: int, name: str) -> dict[str, Any]:
    """A metadata row that names a process or a thread."""
    return {**META, "name": kind, "tid": thread, "args": {"name": name}}


def stretch(name: str, thread: int, lasting: Span, args: dict[str, Any]) -> dict[str, Any]:
    """Something that lasts."""
    begin, size = lasting
    return {"ph": "X", "pid": PROCESS, "tid": thread, "name": name, "ts": begin, "dur": size, "args": args}


def track_of(event: Event) -> str:
    """The row of a copy."""
    return f"copy {event.direction}, {event.operand}, slot {event.slot}"


def details(event: Event) -> dict[str, Any]:
    """What a click on a copy shows."""
    return {"step": event.step, "block": list(event.block), "bytes": event.bytes, "started by": list(event.calls)}
