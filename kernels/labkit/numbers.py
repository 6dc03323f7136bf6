"""Are the numbers right, and if not: which is the first, whose block and step is it, and whose mistake gives those?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from kernels.labkit import causes
from kernels.labkit.problem import Cause, Wrong
from kernels.labkit.task import Task, Trial
from kernels.labkit.trace import Call, Window

__all__ = ["check_numbers", "widened"]


def check_numbers(
    found: np.ndarray,
    task: Task,
    trial: Trial,
    call: Call,
    how: str,
    where: str,
    zeroed: Callable[[], np.ndarray],
) -> None:
    """Wrong with the first element that is too far from the reference.

    `zeroed` computes the answer again, with memory that holds zeros before anything is stored.
    """
    wide = widened(trial.inputs)
    dtype = trial.inputs[0].dtype
    expected = rounded(task.reference(*wide), dtype)
    if found.shape != expected.shape or found.dtype != dtype:
        wanted, got = f"{dtype}{list(expected.shape)}", f"{found.dtype}{list(found.shape)}"
        raise Wrong(
            "the answer has another shape or dtype", {"where": where, "for": trial, "expected": wanted, "found": got}
        )
    numbers = found.astype(np.float64)
    off = differing(numbers, expected, task.relative)
    if not off.any():
        return
    at = tuple(map(int, np.argwhere(off)[0]))
    details = {
        "where": where,
        "for": f"{trial}, {how}",
        "differ": f"{int(off.sum()):,} of {off.size:,} elements",
        "first": f"{call.windows[-1].name}{list(at)}, {whose(at, call.windows[-1], call.steps)}",
        "expected": f"{expected[at]:g}",
        "found": f"{numbers[at]:g}",
    }
    raise Wrong(
        "the answer differs from NumPy's",
        details,
        cause_of_numbers(numbers, wide, task, trial, call) or cause_of_nan(numbers, task, zeroed),
    )


def differing(found: np.ndarray, expected: np.ndarray, relative: float) -> np.ndarray:
    """Which elements are too far from what was expected; a NaN always is."""
    return ~(np.abs(found - expected) <= relative * np.abs(expected))


def cause_of_numbers(
    found: np.ndarray, wide: Sequence[np.ndarray], task: Task, trial: Trial, call: Call
) -> Cause | None:
    """The mistake that gives just these numbers."""
    if not all(call.loaded[: call.inputs]):
        return causes.LEFT_OUT
    for confusion in task.confusions:
        wrong = rounded(confusion.answer(*wide, **trial.keywords), trial.inputs[0].dtype)
        alike = (np.isnan(found) & np.isnan(wrong)) | ~differing(found, wrong, task.relative)
        if alike.all() and not np.isnan(wrong).all():
            return confusion.cause
    return None


def cause_of_nan(found: np.ndarray, task: Task, zeroed: Callable[[], np.ndarray]) -> Cause | None:
    """The mistake that leaves NaN in memory: it is told by what comes out if there are zeros instead."""
    holes = np.isnan(found)
    if not holes.any():
        return None
    filled = zeroed()[holes].astype(np.float64)
    if np.isnan(filled).any():
        return None
    if task.sums and filled.any():
        return causes.NO_CLEARING
    return causes.NEVER_STORED if holes.all() else causes.IN_PART


def whose(at: tuple[int, ...], window: Window, steps: Sequence[tuple[int, ...]]) -> str:
    """Of an element of the answer: its block, and the steps that work on that."""
    block = tuple(place // (extent or 1) for place, extent in zip(at, window.block, strict=True))
    mine = [step for step, worked in zip(steps, window.blocks, strict=True) if worked == block]
    if not mine:
        return f"in block {block}, which no step has"
    return (
        f"in block {block}, of step {mine[0]}"
        if len(mine) == 1
        else f"in block {block}, of steps {mine[0]} to {mine[-1]}"
    )


def rounded(answer: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """The answer as an output of this dtype has it, in float64."""
    return np.asarray(answer).astype(dtype).astype(np.float64)


def widened(inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The arrays as float64 where they hold floats."""
    return [array.astype(np.float64) if jnp.issubdtype(array.dtype, jnp.floating) else array for array in inputs]
