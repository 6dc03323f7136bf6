"""Softmax over rows: a step has eight whole rows, so that it can look at each one three times and fetch it once.

Run this file to see it at work: `python kernels/softmax/kernel.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS = 8  # rows that a step sees: the sublanes of one float32 tile


def softmax(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """exp(x) over its sum along each row; step i has row block i.

    Shapes: x[m, n] to [m, n], grid (m/8,); a step sees x[8, n] and o[8, n].
    Units: 5·m·n floating-point operations, an exp counted as one; 2·itemsize bytes of traffic an element.
    Errors: ValueError where m is no positive multiple of 8.
    Source: jax/experimental/pallas/ops/gpu/softmax.py, simplified: whole rows, and no mask for a length that is no
        power of two, which Triton therefore refuses.
    """
    m, n = x.shape
    return pl.pallas_call(
        softmax_kernel,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        grid=(blocks_in("m", m, ROWS),),
        in_specs=[pl.BlockSpec((ROWS, n), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((ROWS, n), lambda i: (i, 0)),
        interpret=interpret,
    )(x)


def softmax_kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """One step, in float32 whatever the type of x."""
    x = x_ref[...].astype(jnp.float32)  # [8, n]
    largest = jnp.max(x, axis=1, keepdims=True)  # [8, n] -> [8, 1]
    e = jnp.exp(x - largest)  # [8, n] - [8, 1] -> [8, n]; at most 1, so nothing overflows
    o_ref[...] = (e / jnp.sum(e, axis=1, keepdims=True)).astype(o_ref.dtype)  # [8, n] / [8, 1] -> [8, n]


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

    where = {"tpu": "on a TPU", "gpu": "on a GPU"}.get(jax.default_backend(), "interpreted")
    x = 1000.0 + jax.random.uniform(jax.random.key(0), (64, 256), minval=-8.0, maxval=8.0)  # exp(1000) would be inf
    y = np.asarray(softmax(x, interpret=where == "interpreted"))
    error = np.abs(y - reference.softmax(np.asarray(x, np.float64))).max()
    print(f"softmax: {list(x.shape)} -> {list(y.shape)}, {where}, largest error {error:.2g}")
