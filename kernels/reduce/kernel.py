"""A sum over rows, one block of rows a step, in an output block that stays in VMEM from the first step to the last.

The output's index map answers (0, 0) at every step, so the block is never exchanged and what a step adds is still there
at the next. That holds because a TPU core takes the steps of a grid one after the other.

Run this file to see it at work: `python kernels/reduce/kernel.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS = 8  # rows that a step sees: the sublanes of one float32 tile


def sum_rows(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum of all rows; step i adds row block i to the one output block.

    Shapes: x[m, n] to [1, n], grid (m/8,), sequential; a step sees x[8, n] and o[1, n].
    Units: m·n floating-point operations; itemsize·m·n bytes are read, and itemsize·n are written, once.
    Errors: ValueError where m is no positive multiple of 8.
    Source: jax/_src/pallas/mosaic/pipeline.py, `Scheduler.has_changed`: an output leaves when its block changes.
    """
    m, n = x.shape
    return pl.pallas_call(
        sum_rows_kernel,
        out_shape=jax.ShapeDtypeStruct((1, n), x.dtype),
        grid=(blocks_in("m", m, ROWS),),
        in_specs=[pl.BlockSpec((ROWS, n), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((1, n), lambda _: (0, 0)),  # the same block at every step: the accumulator
        interpret=interpret,
    )(x)


def sum_rows_kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """One step: what VMEM holds before the first is nobody's zero, so that step clears it."""

    @pl.when(pl.program_id(0) == 0)
    def clear() -> None:
        o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

    o_ref[...] += jnp.sum(x_ref[...], axis=0, keepdims=True)  # [8, n] -> [1, n]


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
    x = jax.random.uniform(jax.random.key(0), (64, 256))
    y = np.asarray(sum_rows(x, interpret=not on_tpu))
    error = np.abs(y - reference.sum_rows(np.asarray(x, np.float64))).max()
    where = "on a TPU" if on_tpu else "interpreted"
    print(f"sum_rows: {list(x.shape)} -> {list(y.shape)}, {where}, largest error {error:.2g}")
