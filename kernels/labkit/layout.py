"""Is a call laid out as the lab asks: its grid, its blocks, what it stores, and in what it sums?"""

from __future__ import annotations

from collections.abc import Sequence

from kernels.labkit import causes
from kernels.labkit.attempt import Attempt
from kernels.labkit.problem import Cause, Wrong
from kernels.labkit.task import Block, Task, Trial
from kernels.labkit.trace import Call, Window

__all__ = ["check_layout", "place_in"]


def check_layout(call: Call, task: Task, trial: Trial, attempt: Attempt) -> None:
    """Wrong with the first thing that is not as it was asked."""
    if call.grid != trial.grid:
        raise Wrong(
            "the grid is not the one that was asked for",
            {"where": attempt.place(task.function), "for": trial, "expected": trial.grid, "found": call.grid},
            None if call.grid else causes.NO_GRID,
        )
    if len(call.windows) != len(trial.blocks):
        details = {"where": attempt.place(task.function), "expected": len(trial.blocks), "found": len(call.windows)}
        raise Wrong("the call does not have as many arrays as was asked for", details)
    for window, block in zip(call.windows, trial.blocks, strict=True):
        check_window(call, window, block, trial, attempt)
    for window, stored in list(zip(call.windows, call.stored, strict=True))[call.inputs :]:
        if not stored:
            details = {"where": place_in(call.source, attempt), "expected": f"an assignment to {window.name}[...]"}
            raise Wrong(f"the kernel never writes {window.name}", details, causes.NO_STORE)
    check_sums(call, task, attempt)


def check_window(call: Call, window: Window, block: Block, trial: Trial, attempt: Attempt) -> None:
    """Wrong where an array's blocks are not those that were asked for."""
    where = place_in(window.source, attempt) if window.source else attempt.shown
    about = {"where": where, "array": f"{window.name}, {list(window.array)}", "for": trial}
    if window.block != block.shape:
        cause = causes.NO_BLOCK_SPEC if window.block == window.array else None
        details = {**about, "expected": f"blocks of {list(block.shape)}", "found": f"blocks of {list(window.block)}"}
        raise Wrong(f"a step does not see the block of {window.name} that it needs", details, cause)
    expected = [tuple(block.at(*step)) for step in call.steps]
    for step, want, got in zip(call.steps, expected, window.blocks, strict=True):
        if want != got:
            said = {"step": step, "expected": f"block {want}", "found": f"block {got}"}
            cause = cause_of_places(window.blocks, expected, block.shape)
            raise Wrong(f"the index map of {window.name} names another block", {**about, **said}, cause)


def cause_of_places(
    found: Sequence[tuple[int, ...]], expected: Sequence[tuple[int, ...]], shape: Sequence[int]
) -> Cause | None:
    """Which mistake makes these places of those."""
    scaled = [tuple(index * extent for index, extent in zip(place, shape, strict=True)) for place in expected]
    some = [
        all(got in {want, much} for got, want, much in zip(place, wanted, times, strict=True))
        for place, wanted, times in zip(found, expected, scaled, strict=True)
    ]
    if all(some):
        return causes.IN_ELEMENTS
    if [tuple(reversed(place)) for place in found] == list(expected):
        return causes.SWAPPED
    if len(set(found)) == 1:
        return causes.STANDS_STILL
    if len(set(expected)) == 1:
        return causes.NEVER_STILL
    return None


def check_sums(call: Call, task: Task, attempt: Attempt) -> None:
    """Wrong where a sum is kept in few bits, or in steps that are declared independent."""
    where = place_in(call.source, attempt)
    for axis in set(task.sums) & set(call.parallel):
        details = {
            "where": attempt.place(task.function),
            "axis": axis,
            "expected": '"arbitrary"',
            "found": '"parallel"',
        }
        raise Wrong("steps that add to one block are declared parallel", details, causes.PARALLEL_SUM)
    narrow = [f"{dtype}{list(shape)} scratch" for shape, dtype in call.scratch if dtype != "float32"]
    narrow += [f"a product in {dtype}" for dtype in call.dots if dtype != "float32"]
    outputs = list(zip(call.windows, call.loaded, strict=True))[call.inputs :]
    narrow += [f"{window.name} is added to, which has the dtype of the answer" for window, loaded in outputs if loaded]
    if task.wide and narrow:
        found = narrow[0]
        raise Wrong(
            "the sum is not kept in float32", {"where": where, "expected": "float32", "found": found}, causes.NARROW_SUM
        )


def place_in(source: str, attempt: Attempt) -> str:
    """`FILE:LINE` of jax, under the name that the file is shown by."""
    return source.replace(str(attempt.path), attempt.shown)
