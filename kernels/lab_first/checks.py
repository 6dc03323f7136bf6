"""What lab 1.1 asks for: the grid, the blocks and the numbers of its three kernels.

The inputs are small whole numbers, so no order of adding them makes an error, and a wrong element is a wrong kernel.
"""

from __future__ import annotations

import numpy as np

from kernels.lab_first import reference
from kernels.labkit import causes
from kernels.labkit.judge import Judged
from kernels.labkit.problem import Cause
from kernels.labkit.task import Block, Confusion, Inputs, Task, Trial

__all__ = ["PARTS"]

ROWS = 8
EVERY_AXIS = Cause("sum of everything", "without `axis=0` the columns are added up as well")
SIZES = ((32, 128), (16, 256))


def whole(seed: int, *shapes: tuple[int, int]) -> Inputs:
    """Whole numbers from 1 to 9, as float32: none is zero, so that nothing is lost in a product."""
    rng = np.random.default_rng(seed)
    return tuple(rng.integers(1, 10, shape).astype(np.float32) for shape in shapes)


def rows(n: int) -> Block:
    """Step i sees block i of so many columns."""
    return Block((ROWS, n), lambda i: (i, 0))


def still(*shape: int) -> Block:
    """Every step sees the same block."""
    return Block(shape, lambda i: (0, 0))


ADD = Task(
    "add",
    reference.add,
    tuple(Trial(whole(0, (m, n), (m, n)), (m // ROWS,), 3 * (rows(n),)) for m, n in SIZES),
    confusions=(Confusion(causes.LEFT_OUT, lambda x, y: x), Confusion(causes.LEFT_OUT, lambda x, y: y)),
)
SCALE = Task(
    "scale",
    reference.scale,
    tuple(Trial(whole(1, (m, n), (1, 1)), (m // ROWS,), (rows(n), still(1, 1), rows(n))) for m, n in SIZES),
    confusions=(Confusion(causes.LEFT_OUT, lambda x, factor: x),),
)
REDUCE = Task(
    "reduce",
    reference.reduce,
    tuple(Trial(whole(2, (m, n)), (m // ROWS,), (rows(n), still(1, n))) for m, n in SIZES),
    confusions=(
        Confusion(causes.OVERWRITTEN, lambda x: x[-ROWS:].sum(axis=0, keepdims=True)),
        Confusion(causes.ONLY_FIRST, lambda x: x[:ROWS].sum(axis=0, keepdims=True)),
        Confusion(causes.CLEARED_LATE, lambda x: x[ROWS:].sum(axis=0, keepdims=True)),
        Confusion(causes.STORED_EARLY, lambda x: x[:-ROWS].sum(axis=0, keepdims=True)),
        Confusion(EVERY_AXIS, lambda x: np.full((1, x.shape[1]), x.sum())),
    ),
    sums=(0,),
)
PARTS = {task.function: Judged(task) for task in (ADD, SCALE, REDUCE)}
