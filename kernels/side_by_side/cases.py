"""What the sum is run on: 64 grid steps, enough for the blocks of a GPU to get in each other's way."""

from __future__ import annotations

import numpy as np

from kernels.contract import Case, Kernel, Tolerance
from kernels.side_by_side import reference
from kernels.side_by_side.wrong.sum_over_steps import sum_over_steps

STEPS = 64
EXACT = Tolerance(0.0, 0.0, "small whole numbers: every sum of them is a float32")
NO_INTERPRETER = (
    "The GPU interpreter takes no call whose operands come in blocks. Such a call goes to a GPU through Triton, and for"
    " Triton Pallas has no interpreter."
)


def whole(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Whole numbers from 1 to 8, so that each part that is missing shows."""
    return (rng.integers(1, 9, STEPS * reference.BLOCK).astype(np.float32),)


KERNELS = (
    Kernel(
        "sum_over_steps",
        sum_over_steps,
        reference.block_sum,
        (Case(f"{STEPS} steps", whole, EXACT),),
        ("hlo", "tpu-interpret", "tpu-aot", "gpu-aot", "h200"),
        {"gpu-interpret": NO_INTERPRETER},
        mistake="A sum is added up over the steps of a grid, and on a GPU the steps run side by side.",
        expected={"h200": "wrong"},
    ),
)
