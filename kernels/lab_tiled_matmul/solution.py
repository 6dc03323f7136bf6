"""Lab 1.2, Tiled matmul: a kernel to finish, and a choice to make. You only add lines; nothing here has to change.

Check with `track lab check 1.2`, or with `python kernels/lab_tiled_matmul/lab.py`.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

# Part 1, matmul: the kernel is to be written, and the call lacks its grid and its blocks.


def matmul_kernel(x_ref: jax.Ref, y_ref: jax.Ref, o_ref: jax.Ref, acc_ref: jax.Ref, *, last: int) -> None:
    """A step (i, j, k): the product of x[bm, bk] and y[bk, bn] is added to acc[bm, bn], which is float32.

    acc is scratch memory: it belongs to no array, keeps what it holds from step to step, and is never cleared for you.
    At the last step along k, whose index is `last`, the sum is complete and goes to o[bm, bn].
    """

    @pl.when(pl.program_id(2) == 0)
    def clear() -> None:
        acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

    # [bm, bk] @ [bk, bn] -> [bm, bn]
    acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    @pl.when(pl.program_id(2) == last)
    def store() -> None:
        o_ref[...] = acc_ref[...].astype(o_ref.dtype)


def matmul(x: jax.Array, y: jax.Array, *, bm: int, bn: int, bk: int, interpret: object = False) -> jax.Array:
    """The product x @ y of x[m, k] and y[k, n], on the grid (m / bm, n / bn, k / bk), which takes blocks in order."""
    (m, k), (_, n) = x.shape, y.shape
    return pl.pallas_call(
        functools.partial(matmul_kernel, last=k // bk - 1),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        grid=(m // bm, n // bn, k // bk),
        in_specs=[
            pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)),
            pl.BlockSpec((bk, bn), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, k: (i, j)),  # the tile stays while k goes by
        scratch_shapes=[pltpu.VMEM((bm, bn), jnp.float32)],
        interpret=interpret,
    )(x, y)


# Part 2, blocks: which tiles fit both budgets?

SIZE = 1024  # m, n and k, in bfloat16
MOST_MOVED = 8 * 2**20  # bytes between HBM and VMEM, over the whole grid
MOST_KEPT = 5 * 2**20  # bytes of VMEM: two buffers for each block, and the scratch


def blocks() -> tuple[int, int, int]:
    """The extents bm, bn and bk, multiples of 128 that divide SIZE, with which matmul fits both budgets."""
    return SIZE, SIZE // 2, 128  # x is read twice and y once; a small bk costs no bytes, but steps
