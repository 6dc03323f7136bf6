"""What the solution of lab 1.2 is run on in every lane: one product, cut into tiles of several shapes."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np

from kernels.contract import Case, Inputs, Kernel, Tolerance
from kernels.lab_tiled_matmul import reference, solution

SIZE = solution.SIZE
TILES = ((128, 128, 1024), (256, 256, 256), (512, 512, 128), (512, 512, 512), solution.blocks())

ONCE = Tolerance(
    2.0**-8, 0.0, "small whole numbers: every sum is a float32, then rounded once, by half of 2^-7 at most"
)
FOR_A_TPU = "The running sum is in VMEM, which a GPU does not have, and lives from one grid step to the next."


def whole(rng: np.random.Generator) -> Inputs:
    """Two matrices of whole numbers from 1 to 4, in bfloat16."""
    return tuple(rng.integers(1, 5, (2, SIZE, SIZE)).astype(jnp.bfloat16))


def tiled(bm: int, bn: int, bk: int) -> Kernel:
    """The product in tiles of one shape, as a kernel of its own."""
    return Kernel(
        f"lab_matmul_{bm}x{bn}x{bk}",
        functools.partial(solution.matmul, bm=bm, bn=bn, bk=bk),
        reference.matmul,
        (Case(f"{SIZE} x {SIZE} x {SIZE} bfloat16", whole, ONCE),),
        ("hlo", "tpu-interpret", "tpu-aot"),
        dict.fromkeys(("gpu-interpret", "gpu-aot", "h200"), FOR_A_TPU),
    )


KERNELS = tuple(tiled(*tile) for tile in TILES)
