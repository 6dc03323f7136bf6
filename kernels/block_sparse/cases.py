"""What the block-sparse product is run on: 16 blocks of x, four of them in one row, and none in another."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from kernels.block_sparse import kernel, reference
from kernels.contract import Case, Inputs, Kernel, Tolerance

M, K, N = 256, 512, 256
BM, BK = 64, 128
NONZERO = np.array([[1, 1, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]])  # [M/BM, K/BK]

SUM = Tolerance(
    0.0,
    16 * K * 2**-24,
    "a sum of 512 products of normal numbers stays within 4·√512 on its way, an addition in float32 rounds by 2^-24 of"
    " that at most, and 512 such roundings, of either sign, come to 4·√512 of them at most",
)


def sparse(dtype: DTypeLike) -> Case:
    """Normal numbers in the blocks that are marked, packed; eight of sixteen blocks, for the empty row keeps one."""

    def make(rng: np.random.Generator) -> Inputs:
        x = rng.standard_normal((M, K)) * np.kron(NONZERO, np.ones((BM, BK)))  # [4, 4] -> [M, K]
        return *kernel.pack(x.astype(dtype), BM, BK), rng.standard_normal((K, N)).astype(dtype)

    return Case(f"8 of 16 blocks, {np.dtype(dtype).name}", make, SUM)


NOT_A_GPU = (
    "A TPU works out its index maps ahead of the body, to fetch the blocks in time, and reads their data from scalar"
    " memory. A GPU has no such memory and needs none: a block of threads loads an index like any other number"
)

KERNELS = (
    Kernel(
        "block_sparse_matmul",
        functools.partial(kernel.block_sparse_matmul, m=M),
        functools.partial(reference.block_sparse_matmul, m=M),
        (sparse(np.float32), sparse(jnp.bfloat16)),
        ("hlo", "tpu-interpret", "tpu-aot"),
        dict.fromkeys(("gpu-interpret", "gpu-aot", "h200"), NOT_A_GPU),
    ),
)
