"""What the tiled product is run on: one pair of matrices, cut into tiles of five shapes, in 64 grid steps at most."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np

from kernels.contract import Case, Inputs, Kernel, Tolerance
from kernels.matmul import kernel, reference

SIZE = 512  # m, n and k
BLOCKS = ((128, 128, 128), (256, 128, 128), (256, 256, 128), (256, 256, 512), (512, 512, 128))

SUM = Tolerance(
    2**-8,
    SIZE * SIZE * 2**-24,
    f"{SIZE} products of numbers up to 1, each exact in float32, are added in whatever order, and each addition is off"
    f" by 2^-24 of at most {SIZE}; then the answer is rounded to bfloat16, by 2^-8 of itself",
)
FOR_A_TPU = (
    "The running sum is in VMEM, which a GPU does not have, and lives from one grid step to the next. A TPU core takes"
    " them in turn; on a GPU they run side by side, so a block of threads sums in registers and loops over k itself."
)


def uniform(rng: np.random.Generator) -> Inputs:
    """Two matrices of numbers between -1 and 1, in bfloat16."""
    return tuple(rng.uniform(-1.0, 1.0, (2, SIZE, SIZE)).astype(jnp.bfloat16))


def tiled(bm: int, bn: int, bk: int) -> Kernel:
    """The product in tiles of one shape, as a kernel of its own."""
    return Kernel(
        f"matmul_{bm}x{bn}x{bk}",
        functools.partial(kernel.matmul, bm=bm, bn=bn, bk=bk),
        reference.matmul,
        (Case(f"{SIZE} x {SIZE} x {SIZE} bfloat16", uniform, SUM),),
        ("hlo", "tpu-interpret", "tpu-aot"),
        dict.fromkeys(("gpu-interpret", "gpu-aot", "h200"), FOR_A_TPU),
    )


KERNELS = tuple(tiled(*blocks) for blocks in BLOCKS)
