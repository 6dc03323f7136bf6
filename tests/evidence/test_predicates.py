"""The verb behind the loop, asked of a Scheduler that has it in either form, and a Scheduler that lacks it.

The pinned Scheduler itself is asked in test_order.py.
"""

from __future__ import annotations

import types

import jax.numpy as jnp
import pytest
from jax._src.pallas.mosaic import pipeline

from track.evidence import predicates
from track.evidence.record import Job, Verdict

BUFFERED = types.SimpleNamespace(initialize_slots=lambda: "a ref with slots")
FOUR = 4


def wait(*, wanted: bool) -> None:
    """What a verb does: a wait under a condition."""

    @pipeline.when(jnp.bool_(wanted))
    def _() -> None:
        raise AssertionError("the condition is asked for, and nothing is done")


class Once:
    """As up to jax 0.11: one call, for the copy of the last step."""

    num_stages = FOUR

    def __init__(self, *, out: bool) -> None:
        self.out = out

    def finalize(self, buffered: object, target: object) -> None:
        assert (buffered, target) == ("a ref with slots", None)
        wait(wanted=self.out)


class ByLag:
    """As from jax 0.12: a call for each lag, which waits where the copy of so many steps before is still out."""

    num_stages = FOUR

    def __init__(self, *out: int, buffers: int = FOUR) -> None:
        self.out, self.buffers = out, buffers
        self.asked: list[int] = []

    def finalize_step(self, buffered: object, target: object, lag: int = 0) -> object:
        assert (buffered, target) == ("a ref with slots", None)
        self.asked.append(lag)
        if lag < max(self.buffers - 1, 1):
            wait(wanted=lag in self.out)
        return buffered


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [
        (Once(out=True), True),
        (Once(out=False), False),
        (ByLag(0), True),
        (ByLag(0, 1, 2), True),
        (ByLag(2), True),
        (ByLag(), False),
        (ByLag(0, buffers=2), True),
        (ByLag(1, 2, buffers=2), False),
    ],
)
def test_a_window_waits_behind_the_loop_where_one_of_the_calls_does(scheduler: Once | ByLag, *, expected: bool) -> None:
    assert bool(predicates.waits_after(scheduler, BUFFERED)) is expected


def test_every_lag_is_asked_as_the_pipeline_does() -> None:
    """`_emit_pipeline` of 0.12 goes from two less than there are stages down to 0."""
    scheduler = ByLag(0)
    predicates.waits_after(scheduler, BUFFERED)
    assert scheduler.asked == [2, 1, 0]


def test_the_pinned_scheduler_lacks_nothing() -> None:
    assert not predicates.missing(pipeline.Scheduler)


def test_a_scheduler_without_the_verb_has_no_table_and_the_reason_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = type("Scheduler", (pipeline.Scheduler,), {})
    monkeypatch.setattr(pipeline, "Scheduler", scheduler)
    for name in ("finalize", "has_changed"):
        monkeypatch.delattr(scheduler.__mro__[1], name)
    found = predicates.perform(Job("predicates", "/nowhere", "pipeline", "revisit", "32 rows"))
    reason = found.reason.partition(" has no ")[2]
    assert (found, reason) == (
        Verdict("not-applicable", reason=found.reason),
        "`has_changed`, no `finalize` and no `finalize_step`",
    )
