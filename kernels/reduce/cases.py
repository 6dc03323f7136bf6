"""What the reduction is run on: eight grid steps that all add to one block."""

from __future__ import annotations

import numpy as np

from kernels.contract import Case, Kernel, Tolerance
from kernels.reduce import kernel, reference

M, N = 8 * kernel.ROWS, 256

SUM = Tolerance(
    M * 2**-24,
    0.0,
    f"{M} numbers of one sign, added in float32 in whatever order: each addition is off by 2^-24 of at most the sum",
)
IN_PARALLEL = (
    "A GPU runs the steps of a grid in any order and many at once, so all of them add to one block at the same time:"
    " Triton compiles this kernel without a word, and its sums on an H200 are wrong and change from run to run."
    " On a GPU the loop over rows goes inside the kernel."
)
NOT_APPLICABLE = {
    "gpu-interpret": "The GPU interpreter is for Mosaic GPU, where operands stay whole in global memory and a kernel"
    " makes its own copies: it takes no call whose operands come in blocks.",
    "gpu-aot": IN_PARALLEL,
    "h200": IN_PARALLEL,
}

KERNELS = (
    Kernel(
        "sum_rows",
        kernel.sum_rows,
        reference.sum_rows,
        (Case(f"{M} x {N}", lambda rng: (rng.random((M, N), np.float32),), SUM),),
        ("hlo", "tpu-interpret", "tpu-aot"),
        NOT_APPLICABLE,
    ),
)
