"""RMS norm over rows: each row over the root of its mean square, times a weight for each column.

Run this file to see it at work: `python kernels/rms_norm/kernel.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS = 8  # rows that a step sees: the sublanes of one float32 tile
EPSILON = 1e-6  # keeps a row of zeros from being divided by zero


def rms_norm(x: jax.Array, weight: jax.Array, *, interpret: object = False) -> jax.Array:
    """Rows over their root mean square, x / sqrt(mean(x²) + 1e-6) · weight; step i has row block i.

    The weights are one block, the same at every step.

    Shapes: x[m, n] and weight[n] to [m, n], grid (m/8,); a step sees x[8, n], weight[n] and o[8, n].
    Units: 4·m·n floating-point operations and a few a row; 2·itemsize bytes of traffic an element.
    Errors: ValueError where m is no positive multiple of 8, or the weight is not as long as a row.
    Source: jax/experimental/pallas/ops/gpu/rms_norm.py, simplified: whole rows, no bias, no gradient.
    """
    m, n = x.shape
    if weight.shape != (n,):
        raise ValueError(f"weight must be [n] = [{n}], as long as a row of x, but it is {list(weight.shape)}")
    return pl.pallas_call(
        rms_norm_kernel,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        grid=(blocks_in("m", m, ROWS),),
        in_specs=[
            pl.BlockSpec((ROWS, n), lambda i: (i, 0)),
            pl.BlockSpec((n,), lambda _: (0,)),  # the same block at every step: fetched once
        ],
        out_specs=pl.BlockSpec((ROWS, n), lambda i: (i, 0)),
        interpret=interpret,
    )(x, weight)


def rms_norm_kernel(x_ref: jax.Ref, weight_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """One step, in float32 whatever the type of x."""
    x = x_ref[...].astype(jnp.float32)  # [8, n]
    mean_square = jnp.mean(x * x, axis=1, keepdims=True)  # [8, n] -> [8, 1]
    scaled = x * jax.lax.rsqrt(mean_square + EPSILON)  # [8, n] * [8, 1] -> [8, n]
    weight = weight_ref[...].astype(jnp.float32)[None, :]  # [n] -> [1, n]
    o_ref[...] = (scaled * weight).astype(o_ref.dtype)  # [8, n] * [1, n] -> [8, n]


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
    x = jax.random.normal(jax.random.key(0), (64, 256))
    weight = jnp.linspace(0.5, 1.5, 256)
    y = np.asarray(rms_norm(x, weight, interpret=where == "interpreted"))
    error = np.abs(y - reference.rms_norm(np.asarray(x, np.float64), np.asarray(weight, np.float64))).max()
    print(f"rms_norm: {list(x.shape)} -> {list(y.shape)}, {where}, largest error {error:.2g}")
