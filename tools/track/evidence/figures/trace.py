"""The timeline as a trace that ui.perfetto.dev and chrome://tracing open."""

from __future__ import annotations

import json
from typing import Any

from track.errors import BadInput
from track.evidence.record import Event, Record
from track.evidence.schedule import flights

__all__ = ["trace"]

PROCESS = 1


def trace(record: Record) -> str:
    """Chrome trace JSON: a track for each buffer slot and one for the body.

    The recorded order has no times, so one event is drawn as one microsecond; the name of the process says so.
    """
    events = record.measures.events
    if not events:
        raise BadInput("a trace needs recorded events", {"kernel": record.kernel, "reason": record.reason})
    flying = flights(events)
    above = sorted({track_of(flight.start) for flight in flying if flight.start.direction == "in"})
    below = sorted({track_of(flight.start) for flight in flying if flight.start.direction != "in"})
    threads = {name: number for number, name in enumerate([*above, "compute", *below], start=1)}
    rows = [named("process_name", 0, f"{record.kernel}: recorded order, one event is drawn as 1 us")]
    for name, thread in threads.items():
        rows += [
            named("thread_name", thread, name),
            {**META, "name": "thread_sort_index", "tid": thread, "args": {"sort_index": thread}},
        ]
    for flight in flying:
        name = f"block {flight.start.block}"
        rows.append(stretch(name, threads[track_of(flight.start)], flight.begin, flight.end, details(flight.start)))
    for place, event in enumerate(events):
        if event.op == "compute":
            rows.append(stretch(f"step {event.step}", threads["compute"], place, place + 1, {"step": event.step}))
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": rows}, indent=1) + "\n"


META: dict[str, Any] = {"ph": "M", "pid": PROCESS}


def named(kind: str, thread: int, name: str) -> dict[str, Any]:
    """A metadata row that names a process or a thread."""
    return {**META, "name": kind, "tid": thread, "args": {"name": name}}


def stretch(name: str, thread: int, begin: int, end: int, args: dict[str, Any]) -> dict[str, Any]:
    """Something that lasts."""
    return {"ph": "X", "pid": PROCESS, "tid": thread, "name": name, "ts": begin, "dur": end - begin, "args": args}


def track_of(event: Event) -> str:
    """The row of a copy."""
    return f"copy {event.direction}, {event.operand}, slot {event.slot}"


def details(event: Event) -> dict[str, Any]:
    """What a click on a copy shows."""
    return {"step": event.step, "block": list(event.block), "bytes": event.bytes, "started by": list(event.calls)}
