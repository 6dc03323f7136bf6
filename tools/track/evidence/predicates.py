"""The four predicates of the pinned Scheduler, run for every step of a kernel's pipeline.

The Scheduler is jax's own, and so are the BufferedRefs: they are the ones that the kernel's `emit_pipeline` makes with
`BufferedRef.input` and `BufferedRef.output` while it is traced. What follows from the predicates is not worked out here
either: the Scheduler's verbs run, and `when`, through which they act, is replaced by a note of what they decided.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.pallas.mosaic import pipeline

from track.evidence import program, topics
from track.evidence.lanes.compare import pretend_tpu
from track.evidence.record import Job, TruthTable, Verdict, WindowTable

__all__ = ["perform"]

PREDICATES = ("out_of_fetch", "has_changed", "will_change_current", "will_change_fetch")
VERBS = {"input": ("copy_in", "wait_in"), "output": ("copy_out", "wait_out")}
LAST = ("finalize", "finalize_step")  # the verb behind the loop: called once, or from jax 0.12 once for each lag


def perform(job: Job) -> Verdict:
    """The truth table of a kernel that is one pipeline over a grid of one dimension or more."""
    if absent := missing(pipeline.Scheduler):
        return Verdict("not-applicable", reason=f"the Scheduler of jax {jax.__version__} has no {absent}")
    pretend_tpu()
    pipelines = program.trace(*topics.find(job)).pipelines
    if len(pipelines) != 1:
        return Verdict("not-applicable", reason=f"the kernel has {len(pipelines)} pipelines, and a table is of one")
    (one,) = pipelines
    if any(index_map.reads for index_map in one.maps):
        return Verdict("not-applicable", reason="an index map reads data, which a trace does not have")
    counts = {"input": 0, "output": 0}
    windows: list[WindowTable] = []
    for buffered in one.buffered:
        role = "output" if buffered.is_output else "input"
        windows.append(window(one, buffered, role, f"{role} {counts[role]}"))
        counts[role] += 1
    return Verdict("ok", table=TruthTable(one.grid, one.steps, tuple(windows)))


def missing(scheduler: type) -> str:
    """What the tables ask for and a Scheduler does not have, in words; empty where all is there."""
    asked = (*PREDICATES, "initialize_step", *VERBS["input"], *VERBS["output"])
    absent = [f"`{name}`" for name in asked if not hasattr(scheduler, name)]
    if not any(hasattr(scheduler, name) for name in LAST):
        absent.append(" and no ".join(f"`{name}`" for name in LAST))
    return ", no ".join(absent)


def window(one: program.Pipeline, buffered: Any, role: Any, name: str) -> WindowTable:
    """The table of one operand: a jitted function of the step number, called for each step."""
    stages = max(2, *(ref.buffer_count for ref in one.buffered))

    @jax.jit
    def at(step: jax.Array) -> dict[str, Any]:
        indices = jnp.unravel_index(step, one.grid)
        scheduler = pipeline.Scheduler(step, indices, one.grid, (0,) * len(one.grid), stages)
        with scheduler.grid_env():
            found = {name: jnp.bool_(getattr(scheduler, name)(buffered)) for name in PREDICATES}
            return {
                **found,
                **{verb: decision(getattr(scheduler, verb), buffered) for verb in VERBS[role]},
                "blocks": jnp.stack(
                    [jnp.int32(program.start_of(index)) for index in buffered.compute_index(*scheduler.indices)]
                ),
                "before": [decision(scheduler.initialize_step, buffered, step=ahead) for ahead in range(stages - 1)],
                "after": waits_after(scheduler, buffered),
            }

    rows = [jax.device_get(at(jnp.int32(step))) for step in range(one.steps)]
    columns: dict[str, Any] = {name: tuple(bool(row[name]) for row in rows) for name in (*PREDICATES, *VERBS[role])}
    return WindowTable(
        name,
        role,
        buffered.buffer_count,
        tuple(tuple(map(int, row["blocks"])) for row in rows),
        **columns,
        before=tuple(map(bool, rows[0]["before"])) if role == "input" else (),
        after=bool(rows[-1]["after"]) if role == "output" else False,
    )


def decision(verb: Callable[..., Any], buffered: Any, **options: Any) -> jax.Array:
    """Whether a verb of the Scheduler would act at this step; False where it does not even ask."""
    with noted_decisions() as decisions:
        verb(buffered.initialize_slots(), None, **options)
    return jnp.bool_(decisions[0] if decisions else 0)


def waits_after(scheduler: Any, buffered: Any) -> jax.Array:
    """Whether the Scheduler, at the last step, would wait behind the loop for a copy out of the operand.

    `finalize` waits for the copy of the last step alone. `finalize_step` is called with every lag, as `_emit_pipeline`
    does: with 0 for the copy of the last step, with more for one of an earlier step that is still out. As everywhere in
    a table, it is the decision that counts: an operand with one buffer has its copies waited for by `copy_out`, and
    nothing is left to wait for when the Scheduler decides to.
    """
    if hasattr(scheduler, "finalize"):
        return decision(scheduler.finalize, buffered)
    lags = range(scheduler.num_stages - 2, -1, -1)
    return jnp.stack([decision(scheduler.finalize_step, buffered, lag=lag) for lag in lags]).any()


def drop(action: object) -> None:
    """Do not do it."""


@contextlib.contextmanager
def noted_decisions() -> Generator[list[Any]]:
    """While the block runs, `when` in pipeline.py notes its condition and drops the action."""
    decisions: list[Any] = []
    original = pipeline.when

    def note(condition: Any) -> Callable[[Any], None]:
        decisions.append(condition)
        return drop

    pipeline.when = note
    try:
        yield decisions
    finally:
        pipeline.when = original
