"""Is a call laid out as the lab asks: its grid, its blocks, what it stores, and in what it sums?"""

from __future__ import annotations

from collections.abc import Sequence

from kernels.labkit import causes
from kernels.labkit.attempt import Attempt
from kernels.labkit.problem import Cause, Wrong
from kernels.labkit.task import Block, Task, Trial
from kernels.labkit.trace import Call, Window

__all__ = ["check_blocks", "check_layout", "check_sums", "place_in"]


def check_layout(call: Call, task: Task, trial: Trial, attempt: Attempt) -> None:
    """Wrong with the first thing that is not as it was asked."""
    check_blocks(call, task, trial, attempt)
    check_stores(call, task, attempt)
    check_sums(call, task, attempt)


def check_blocks(call: Call, task: Task, trial: Trial, attempt: Attempt) -> None:
    """Wrong where the grid is another, or a step does not see the blocks that it needs."""
    if call.grid != trial.grid:
        raise Wrong(
            "the grid is not the one that was asked for",
            {"where": attempt.place(task.function), "for": trial, "expected": trial.grid, "found": call.grid},
            cause_of_grid(call.grid, trial),
        )
    if len(call.windows) != len(trial.blocks):
        details = {"where": attempt.place(task.function), "expected": len(trial.blocks), "found": len(call.windows)}
        raise Wrong("the call does not have as many arrays as was asked for", details)
    for window, block in zip(call.windows, trial.blocks, strict=True):
        check_window(call, window, block, task, trial, attempt)


def cause_of_grid(found: tuple[int, ...], trial: Trial) -> Cause | None:
    """Which mistake makes this grid of the one that was asked for."""
    if not found:
        return causes.NO_GRID
    if sorted(found) == sorted(trial.grid):
        return causes.GRID_ORDER
    extents = {extent for array in trial.inputs for extent in array.shape}
    if len(found) == len(trial.grid) and {*found} - {*trial.grid} <= extents:
        return causes.GRID_IN_ELEMENTS
    return None


def check_stores(call: Call, task: Task, attempt: Attempt) -> None:
    """Wrong where the kernel writes to an input, or not to an output."""
    where = place_in(call.source, task, attempt)
    for place, (window, stored) in enumerate(zip(call.windows, call.stored, strict=True)):
        if place < call.inputs and stored:
            details = {"where": where, "expected": f"assignments to {call.windows[-1].name} alone"}
            raise Wrong(f"the kernel writes {window.name}, which is an input", details, causes.INPUT_STORED)
        if place >= call.inputs and not stored:
            details = {"where": where, "expected": f"an assignment to {window.name}[...]"}
            raise Wrong(f"the kernel never writes {window.name}", details, causes.NO_STORE)


def check_window(call: Call, window: Window, block: Block, task: Task, trial: Trial, attempt: Attempt) -> None:
    """Wrong where an array's blocks are not those that were asked for."""
    about = {
        "where": place_in(window.source, task, attempt),
        "array": f"{window.name}, {list(window.array)}",
        "for": trial,
    }
    shape = tuple(extent or 1 for extent in window.block)  # an axis that is squeezed out has one element
    if shape != block.shape:
        cause = causes.UNCUT if shape == window.array else None
        details = {**about, "expected": f"blocks of {list(block.shape)}", "found": f"blocks of {list(shape)}"}
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
    where = place_in(call.source, task, attempt)
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
        details = {"where": where, "expected": "float32", "found": narrow[0]}
        cause = None if " in int" in narrow[0] or narrow[0].startswith("int") else causes.NARROW_SUM
        raise Wrong("the sum is not kept in float32", details, cause)


def place_in(source: str, task: Task, attempt: Attempt) -> str:
    """`FILE:LINE` of jax, under the name that the file is shown by; of what jax itself put there, the function."""
    path = str(attempt.path)
    return source.replace(path, attempt.shown) if path in source else attempt.place(task.function)
