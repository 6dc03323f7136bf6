"""A matrix product in tiles: two grid axes choose a tile of the answer, the third walks along k and adds up.

The sum is kept in a float32 scratch buffer, which no block map ever moves.
It is rounded to the output's type once, when the last tile along k has been added.

Run this file to see it at work: `python kernels/matmul/kernel.py`.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def matmul(
    x: jax.Array, y: jax.Array, *, bm: int = 128, bn: int = 128, bk: int = 128, interpret: object = False
) -> jax.Array:
    """The product x @ y; step (i, j, k) adds the product of tile (i, k) of x and tile (k, j) of y to tile (i, j).

    Shapes: x[m, k] and y[k, n] to [m, n], grid (m/bm, n/bn, k/bk), last axis sequential;
        a step sees x[bm, bk], y[bk, bn], o[bm, bn] and acc[bm, bn].
    Units: 2·m·n·k floating-point operations; VMEM 4·bm·bn + 2·itemsize·(bm·bk + bk·bn + bm·bn) bytes
        at most: one buffer for the sum, and two for each block, or one where it never changes.
    Errors: ValueError where x and y do not fit each other, or m, n or k is no positive multiple of its block.
    Source: jax/experimental/pallas/ops/tpu/matmul.py, simplified: one rule for types, and one store a tile.
    """
    (m, k), (height, n) = x.shape, y.shape
    if (height, y.dtype) != (k, x.dtype):
        raise ValueError(f"y must be {x.dtype}[{k}, n] to fit x, but it is {y.dtype}{list(y.shape)}")
    grid = (blocks_in("m", m, bm), blocks_in("n", n, bn), blocks_in("k", k, bk))
    return pl.pallas_call(
        functools.partial(matmul_kernel, last=grid[2] - 1),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        grid=grid,
        in_specs=[
            pl.BlockSpec((bm, bk), lambda i, _, k: (i, k)),
            pl.BlockSpec((bk, bn), lambda _, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, _: (i, j)),  # the tile stays while k goes by
        scratch_shapes=[pltpu.VMEM((bm, bn), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
        interpret=interpret,
    )(x, y)


def matmul_kernel(x_ref: jax.Ref, y_ref: jax.Ref, o_ref: jax.Ref, acc_ref: jax.Ref, *, last: int) -> None:
    """A step: the first and the last along k do something more, and the two conditions can hold at once."""

    @pl.when(pl.program_id(2) == 0)
    def clear() -> None:
        acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

    # [bm, bk] @ [bk, bn] -> [bm, bn]
    acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    @pl.when(pl.program_id(2) == last)
    def store() -> None:
        o_ref[...] = acc_ref[...].astype(o_ref.dtype)


def blocks_in(axis: str, size: int, block: int) -> int:
    """How many blocks an axis has."""
    if size % block or not size:
        fits = [fit for fit in (size - size % block, size - size % block + block) if fit]
        nearest = " and ".join(map(str, fits))
        raise ValueError(f"axis {axis} is {size}, no positive multiple of its block {block}; nearest fit: {nearest}")
    return size // block


if __name__ == "__main__":
    import numpy as np
    import reference  # the file beside this one

    on_tpu = jax.default_backend() == "tpu"
    where = "on a TPU" if on_tpu else "interpreted"
    x, y = jax.random.uniform(jax.random.key(0), (2, 256, 256), jnp.bfloat16, -1.0, 1.0)  # 2 of [256, 256]
    expected = reference.matmul(np.asarray(x, np.float64), np.asarray(y, np.float64))
    for bm, bn, bk in [(128, 128, 128), (256, 128, 256), (256, 256, 256)]:
        z = matmul(x, y, bm=bm, bn=bn, bk=bk, interpret=not on_tpu)
        error = np.abs(np.asarray(z, np.float64) - expected).max()
        print(f"matmul: tiles {bm} x {bn} x {bk} -> {list(z.shape)}, {where}, largest error {error:.2g}")
