"""The first kernels: each step of a one-dimensional grid takes a block of a vector and leaves a block of the answer.

`relu` reads one vector, `add` two, and `scale` a vector and one number, which it finds in the same block at every step.
Nothing here is of a TPU or of a GPU: one and the same file becomes Mosaic on the one and Triton on the other.

Run this file to see all three at work: `python kernels/elementwise/kernel.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK = 256  # elements that a step sees: a power of two, as Triton wants it, and whole rows of 128 TPU lanes


def relu_kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """A step: a Ref stands for a block of an array, `[...]` reads all of it, and assigning to that writes it."""
    o_ref[...] = jnp.maximum(x_ref[...] * 2.0 + 1.0, 0.0)


def relu(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The larger of 2x + 1 and 0; step i reads block i of x and writes block i of the answer.

    Shapes: x[n] to [n], grid (n/256,); a step sees x[256] and o[256].
    Units: 3 floating-point operations an element, 2·itemsize bytes of traffic.
    Errors: ValueError where n is no positive multiple of 256.
    Source: jax/_src/pallas/pallas_call.py, `pallas_call`.
    """
    (n,) = x.shape
    return pl.pallas_call(
        relu_kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(blocks_in("n", n, BLOCK),),
        in_specs=[pl.BlockSpec((BLOCK,), lambda i: (i,))],
        out_specs=pl.BlockSpec((BLOCK,), lambda i: (i,)),
        interpret=interpret,
    )(x)


def add_kernel(x_ref: jax.Ref, y_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """A step: both blocks are there before it begins, at the same place in x and in y."""
    o_ref[...] = x_ref[...] + y_ref[...]


def add(x: jax.Array, y: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum x + y; step i reads block i of both.

    Shapes: x[n] and y[n] to [n], grid (n/256,); a step sees x[256], y[256] and o[256].
    Units: 1 floating-point operation an element, 3·itemsize bytes of traffic.
    Errors: ValueError where n is no positive multiple of 256, or y is not like x.
    Source: jax/_src/pallas/pallas_call.py, `pallas_call`.
    """
    if (y.shape, y.dtype) != (x.shape, x.dtype):
        raise ValueError(f"y must be {x.dtype}{list(x.shape)} like x, but it is {y.dtype}{list(y.shape)}")
    (n,) = x.shape
    block = pl.BlockSpec((BLOCK,), lambda i: (i,))
    return pl.pallas_call(
        add_kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(blocks_in("n", n, BLOCK),),
        in_specs=[block, block],
        out_specs=block,
        interpret=interpret,
    )(x, y)


def scale_kernel(x_ref: jax.Ref, factor_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """A step: the factor is a block too, of one element, which the product spreads over the other."""
    o_ref[...] = factor_ref[...] * x_ref[...]  # [1] * [256] -> [256]


def scale(x: jax.Array, factor: jax.Array, *, interpret: object = False) -> jax.Array:
    """The product factor · x; step i reads block i of x, and block 0 of the factor, which has no other.

    Shapes: x[n] and factor[1] to [n], grid (n/256,); a step sees x[256], factor[1] and o[256].
    Units: 1 floating-point operation an element, 2·itemsize bytes of traffic.
    Errors: ValueError where n is no positive multiple of 256, or the factor is not one number of x's dtype.
    Source: jax/_src/pallas/pallas_call.py, `pallas_call`.
    """
    if (factor.shape, factor.dtype) != ((1,), x.dtype):
        raise ValueError(f"factor must be {x.dtype}[1], but it is {factor.dtype}{list(factor.shape)}")
    (n,) = x.shape
    return pl.pallas_call(
        scale_kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(blocks_in("n", n, BLOCK),),
        in_specs=[
            pl.BlockSpec((BLOCK,), lambda i: (i,)),
            pl.BlockSpec((1,), lambda _: (0,)),  # the same block at every step: fetched once, not once a step
        ],
        out_specs=pl.BlockSpec((BLOCK,), lambda i: (i,)),
        interpret=interpret,
    )(x, factor)


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
    x, y = jax.random.normal(jax.random.key(0), (2, 1024))  # 2 of [1024]
    factor = jnp.array([3.0])
    for run, *inputs in [(relu, x), (add, x, y), (scale, x, factor)]:
        z = np.asarray(run(*inputs, interpret=where == "interpreted"))
        expected = getattr(reference, run.__name__)(*(np.asarray(array, np.float64) for array in inputs))
        error = np.abs(z - expected).max()
        print(f"{run.__name__}: {list(x.shape)} -> {list(z.shape)}, {where}, largest error {error:.2g}")
