"""Lane `tpu-interpret`: the kernel on a simulated TPU core, with its memories, DMAs, semaphores and races."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jax.experimental.pallas import tpu as pltpu
from msgspec.structs import replace

from track.evidence import events, program
from track.evidence.lanes import hooks
from track.evidence.lanes.compare import pretend_tpu, run, verdict_on
from track.evidence.lanes.races import going_on
from track.evidence.record import Event, Verdict, Work

if TYPE_CHECKING:
    from kernels.contract import Case, Kernel

__all__ = ["judge"]

CLOCK = 64
"""Entries of a vector clock. The default, twice the number of cores, leaves one entry to all the DMAs of a core, and a
race between two of them can go unseen. Of more entries each DMA is given one by lot, from NumPy's own generator, so two
can still share one: the lane draws the same lots every time."""


def judge(kernel: Kernel, case: Case, target: str) -> Verdict:
    """Run the kernel, compare its numbers, and report its races and the order of its events."""
    pretend_tpu()
    traced = program.trace(kernel, case)
    recording = hooks.record()
    options = going_on(pltpu.InterpretParams)
    np.random.seed(0)  # noqa: NPY002 -- the generator that `shared_memory.get_random_virtual_device_id` draws from
    found = run(kernel, case, interpret=pltpu.InterpretParams(detect_races=True, vector_clock_size=CLOCK, **options))
    verdict = raced(verdict_on(kernel, case, found), recording.races)
    recorded, missing = order_of(recording, traced, kernel.devices)
    apart = None if recorded is not None else events.by_device(recording, names_of(traced), kernel.devices)
    work, uncounted = work_of(traced, recorded)
    measures = replace(verdict.measures, races=tuple(recording.races), events=recorded, by_device=apart, work=work)
    return replace(verdict, measures=measures, reason="; ".join(filter(None, (verdict.reason, missing, uncounted))))


def raced(verdict: Verdict, races: list[str]) -> Verdict:
    """A race makes right numbers wrong: they were right by luck."""
    if not races or verdict.status != "ok":
        return verdict
    return replace(verdict, status="wrong", error=races[0], reason="the numbers agree, but accesses race")


def order_of(recording: hooks.Recording, traced: program.Program, devices: int) -> tuple[tuple[Event, ...] | None, str]:
    """The events of a kernel that is one pipeline on one device, or none and the reason."""
    if devices > 1:
        return None, "no one order of events: each of the devices has its own"
    if len(traced.calls) != 1 or len(traced.pipelines) != 1:
        return None, "no order of events: the kernel is not one pallas_call around one emit_pipeline"
    try:
        return events.events_of(recording, traced.operands, traced.pipelines[0].steps), ""
    except events.Unordered as error:
        return None, f"no order of events: {error}"


def names_of(traced: program.Program) -> list[str]:
    """The names of the operands, where there is one `pallas_call` for them to be those of."""
    return traced.operands if len(traced.calls) == 1 else []


def work_of(traced: program.Program, recorded: tuple[Event, ...] | None) -> tuple[Work | None, str]:
    """The floating-point operations of the program and the bytes of its DMAs, or none and the reason."""
    if recorded is None:
        return None, ""
    moved = sum(event.bytes for event in recorded if event.op == "dma_start")
    try:
        return Work(traced.flops, moved), ""
    except program.Uncountable as error:
        return None, f"no count of its work: {error}"
