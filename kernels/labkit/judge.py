"""Judging one function: is it laid out as asked, and right in both interpreters?"""

from __future__ import annotations

import contextlib
import functools
import io
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas import tpu as pltpu

from kernels.labkit.attempt import Attempt
from kernels.labkit.layout import check_blocks, check_layout, check_sums, place_in
from kernels.labkit.numbers import check_numbers
from kernels.labkit.problem import Wrong
from kernels.labkit.task import Inputs, Task, Trial
from kernels.labkit.trace import Call, trace, without_kernel

__all__ = ["Judged", "judge", "laid_out"]

RACE = "RACE DETECTED"  # what the interpreter prints of one
Called = tuple[Callable[..., jax.Array], Inputs, Mapping[str, int]]
CLOCK = 64  # entries of a vector clock: by default all copies of a core share one, and a race can go unseen


@dataclass(frozen=True)
class Judged:
    """A part that is one task."""

    task: Task

    def judge(self, attempt: Attempt) -> Iterator[str]:
        """What is right of it, a sentence each."""
        return judge(attempt, self.task)

    def call(self, attempt: Attempt) -> Called:
        """What the compiler is given: the function, on the first trial."""
        trial = self.task.trials[0]
        return attempt.function(self.task.function), trial.inputs, trial.keywords


def judge(attempt: Attempt, task: Task) -> Iterator[str]:
    """What is found to be right, a sentence each; Wrong with the first thing that is not."""
    function = attempt.function(task.function)
    try:
        for number, trial in enumerate(task.trials):
            call = laid_out(attempt, task, trial)
            yield from described(call) if not number else ()
            run(attempt, function, task, trial, call)
    except Wrong as wrong:
        raise wrong.at(attempt.place(task.function)) from wrong
    each = "" if len(task.trials) == 1 else f", for {len(task.trials)} shapes"
    yield f"NumPy's numbers in both interpreters, and no race{each}"


def laid_out(attempt: Attempt, task: Task, trial: Trial) -> Call:
    """The call as it was asked for; Wrong where it is not, and then with the grid and the blocks before the kernel."""
    function = attempt.function(task.function)
    try:
        with attempt.blaming(f"jax had traced {task.function}({trial})", task.function):
            call = trace(function, trial.inputs, trial.keywords)
    except Wrong as wrong:
        bare = None
        with contextlib.suppress(Wrong), attempt.blaming("jax had traced it without its kernel"):
            bare = without_kernel(function, trial.inputs, trial.keywords)
        if bare:
            check_blocks(bare, task, trial, attempt)
            check_sums(bare, task, attempt)
        raise wrong.at(attempt.place(task.function)) from wrong
    check_layout(call, task, trial, attempt)
    return call


def described(call: Call) -> Iterator[str]:
    """What the call does, in numbers."""
    seen = ", ".join(f"{window.name}{list(window.block)}" for window in call.windows)
    copies = sum(len(window.copies) for window in call.windows)
    yield f"grid {call.grid}, {math.prod(call.grid)} steps, each of which sees {seen}"
    yield f"{copies} copies of blocks, which move {call.moved:,} bytes"


def run(attempt: Attempt, function: Callable[..., jax.Array], task: Task, trial: Trial, call: Call) -> None:
    """Wrong where an interpreter refuses the call, computes something else, or sees a race."""
    arrays = [jnp.asarray(array) for array in trial.inputs]
    asked = functools.partial(function, **trial.keywords)
    simulated = pltpu.InterpretParams(detect_races=True, vector_clock_size=CLOCK)

    def answer(interpret: object) -> np.ndarray:
        return np.asarray(jax.jit(functools.partial(asked, interpret=interpret))(*arrays))  # traced, as it was above

    def zeroed() -> np.ndarray:
        zeros = pltpu.InterpretParams(uninitialized_memory="zero")
        doing = f"{task.function} had run on memory that holds zeros"
        with attempt.blaming(doing, task.function), contextlib.redirect_stdout(io.StringIO()):
            return answer(zeros)

    for how, interpret in (("interpret=True", True), ("interpret=pltpu.InterpretParams(...)", simulated)):
        said = io.StringIO()
        with attempt.blaming(f"{task.function} had run with {how}", task.function), contextlib.redirect_stdout(said):
            found = answer(interpret)
        check_numbers(found, task, trial, call, how, place_in(call.source, task, attempt), zeroed)
        races = [line for line in said.getvalue().splitlines() if RACE in line]
        sys.stdout.write(said.getvalue())
        if races:
            raise Wrong(
                "two accesses to one memory race", {"for": f"{trial}, {how}", "found": " ".join(races[0].split())}
            )
