"""What lab 1.2 asks for: the grid, the blocks and the numbers of the product, and tiles that fit two budgets.

The inputs are small whole numbers, so every sum of their products is a float32, and is rounded once, to bfloat16.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from kernels.lab_tiled_matmul import reference
from kernels.lab_tiled_matmul.skeleton import MOST_KEPT, MOST_MOVED, SIZE
from kernels.labkit import causes
from kernels.labkit.attempt import Attempt
from kernels.labkit.judge import Called, Judged, laid_out
from kernels.labkit.problem import Cause, Wrong
from kernels.labkit.task import Block, Confusion, Inputs, Task, Trial

__all__ = ["PARTS"]

TILE = 128
WRONG_AXIS = Cause("condition on the wrong axis", "a sum along k begins and ends with the axis of k, which is axis 2")
TOO_MUCH_MOVED = Cause(
    "tiles too small", "a block that is left is read again when it is needed again: larger bm and bn read less"
)
TOO_MUCH_KEPT = Cause(
    "tiles too large", "a block takes two buffers, and the sum a float32 for each element of the tile"
)
NO_TILES = Cause("nothing is chosen", "the function returns the three extents of a tile")

Step = Callable[[int, int, int, int], bool]
AT_FIRST: Step = lambda i, j, k, last: k == 0  # noqa: E731 -- shorter than a function, and read beside its use
AT_LAST: Step = lambda i, j, k, last: k == last  # noqa: E731 -- as above


def whole(m: int, n: int, k: int) -> Inputs:
    """Whole numbers from 1 to 4, as bfloat16."""
    rng = np.random.default_rng(3)
    return tuple(rng.integers(1, 5, shape).astype(jnp.bfloat16) for shape in ((m, k), (k, n)))


def trial(sizes: tuple[int, int, int], tile: tuple[int, int, int]) -> Trial:
    """A product of some size in tiles of some shape."""
    (m, n, k), (bm, bn, bk) = sizes, tile
    asked = (
        Block((bm, bk), lambda i, j, k: (i, k)),
        Block((bk, bn), lambda i, j, k: (k, j)),
        Block((bm, bn), lambda i, j, k: (i, j)),
    )
    return Trial(whole(m, n, k), (m // bm, n // bn, k // bk), asked, {"bm": bm, "bn": bn, "bk": bk})


def simulated(clear: Step, store: Step, dtype: DTypeLike = np.float64) -> Callable[..., np.ndarray]:
    """The product, if the sum is cleared and stored at these of the steps: each is told i, j, k and the last k.

    What a step adds is rounded to `dtype` first.
    """

    def product(x: np.ndarray, y: np.ndarray, *, bm: int, bn: int, bk: int) -> np.ndarray:
        answer = np.full((len(x), y.shape[1]), np.nan)
        total = np.full((bm, bn), np.nan)
        grid = len(x) // bm, y.shape[1] // bn, len(y) // bk
        for i, j, k in itertools.product(*map(range, grid)):
            rows, columns, inner = (slice(at * by, (at + 1) * by) for at, by in ((i, bm), (j, bn), (k, bk)))
            total = np.zeros((bm, bn)) if clear(i, j, k, grid[2] - 1) else total
            total = total + (x[rows, inner] @ y[inner, columns]).astype(dtype).astype(np.float64)
            if store(i, j, k, grid[2] - 1):
                answer[rows, columns] = total
        return answer

    return product


def share(steps: slice) -> Callable[..., np.ndarray]:
    """The product, if of the steps along k only these count."""

    def product(x: np.ndarray, y: np.ndarray, *, bk: int, **_: int) -> np.ndarray:
        inner = np.arange(len(y)).reshape(-1, bk)[steps].ravel()
        return x[:, inner] @ y[inner]

    return product


MATMUL = Task(
    "matmul",
    reference.matmul,
    (trial((256, 384, 768), (128, 128, 256)), trial((256, 384, 768), (256, 128, 128))),
    confusions=(
        Confusion(causes.NARROW_SUM, simulated(AT_FIRST, AT_LAST, jnp.bfloat16)),
        Confusion(causes.OVERWRITTEN, simulated(lambda *step: True, AT_LAST)),
        Confusion(causes.CLEARED_ONCE, simulated(lambda i, j, k, last: i == j == k == 0, AT_LAST)),
        Confusion(causes.ONLY_FIRST, share(slice(1))),
        Confusion(causes.CLEARED_LATE, share(slice(1, None))),
        Confusion(causes.STORED_EARLY, share(slice(-1))),
        Confusion(WRONG_AXIS, simulated(lambda i, j, k, last: i == 0, AT_LAST)),
        Confusion(WRONG_AXIS, simulated(lambda i, j, k, last: j == 0, AT_LAST)),
        Confusion(WRONG_AXIS, simulated(AT_FIRST, lambda i, j, k, last: i == last)),
        Confusion(WRONG_AXIS, simulated(AT_FIRST, lambda i, j, k, last: j == last)),
    ),
    sums=(2,),
    wide=True,
)


class Tiles:
    """The second part: tiles for one product, whose traffic and memory fit their budgets."""

    def judge(self, attempt: Attempt) -> Iterator[str]:
        """What the tiles come to; Wrong where a budget is exceeded, or the product is not as it should be."""
        tile, where = self.tile(attempt), attempt.place("blocks")
        asked = trial((SIZE, SIZE, SIZE), tile)
        task = replace(MATMUL, trials=(asked,))
        call = laid_out(attempt, task, asked)
        about = {"where": where, "tiles": " × ".join(map(str, tile))}
        for what, found, most, cause in (
            ("moved", call.moved, MOST_MOVED, TOO_MUCH_MOVED),
            ("kept in VMEM", call.kept, MOST_KEPT, TOO_MUCH_KEPT),
        ):
            if found > most:
                details = {**about, "expected": f"at most {most:,} bytes", "found": f"{found:,} bytes"}
                raise Wrong(f"more bytes are {what} than the budget has", details, cause)
        work = 2 * SIZE**3
        yield f"tiles {about['tiles']}: {len(call.steps)} steps, {work / call.moved:.0f} operations for each byte"
        yield f"{call.moved:,} bytes moved of {MOST_MOVED:,}; {call.kept:,} bytes kept of {MOST_KEPT:,}"
        yield from Judged(task).judge(attempt)

    def call(self, attempt: Attempt) -> Called:
        """What the compiler is given: the product in these tiles."""
        asked = trial((SIZE, SIZE, SIZE), self.tile(attempt))
        return attempt.function("matmul"), asked.inputs, asked.keywords

    def tile(self, attempt: Attempt) -> tuple[int, int, int]:
        """What the learner's function returns, if it is three extents."""
        function: Callable[..., Any] = attempt.function("blocks")
        with attempt.blaming("blocks had returned", "blocks"):
            said = function()
        about = {"where": attempt.place("blocks"), "expected": f"three multiples of {TILE} that divide {SIZE}"}
        if said is None:
            raise Wrong("blocks returns nothing", about, NO_TILES)
        named = isinstance(said, tuple | list) and len(said) == len(("bm", "bn", "bk"))
        if not named or not all(isinstance(extent, int | np.integer) and extent > 0 for extent in said):
            cause = causes.FLOAT if named and any(isinstance(extent, float) for extent in said) else None
            raise Wrong("blocks does not return three whole numbers", {**about, "found": repr(said)}, cause)
        if any(extent % TILE or SIZE % extent for extent in said):
            raise Wrong("these tiles do not fit the arrays", {**about, "found": repr(said)})
        bm, bn, bk = map(int, said)
        return bm, bn, bk


PARTS = {"matmul": Judged(MATMUL), "blocks": Tiles()}
