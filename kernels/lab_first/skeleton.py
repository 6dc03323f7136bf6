"""Lab 1.1, First kernels: three kernels to finish. You only add lines; nothing that is here has to change.

A grid runs a kernel once for each of its steps. A step sees one block of each array, through a Ref.
Check with `track lab check 1.1`, or with `python kernels/lab_first/lab.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS = 8  # rows in a block


# Part 1, add: the call is complete, the kernel is not.


def add_kernel(x_ref: jax.Ref, y_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """A step: the block of the answer is the sum of the blocks of x and y."""


def add(x: jax.Array, y: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum x + y, of arrays [m, n]; step i sees block i of each, which is [8, n]."""
    m, n = x.shape
    block = pl.BlockSpec((ROWS, n), lambda i: (i, 0))
    return pl.pallas_call(
        add_kernel,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        grid=(m // ROWS,),
        in_specs=[block, block],
        out_specs=block,
        interpret=interpret,
    )(x, y)


# Part 2, scale: the kernel is complete, the call lacks its grid and its blocks.


def scale_kernel(x_ref: jax.Ref, factor_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """A step: a block of x times the factor, which is [1, 1] and is spread over the block."""
    o_ref[...] = x_ref[...] * factor_ref[...]  # [8, n] * [1, 1] -> [8, n]


def scale(x: jax.Array, factor: jax.Array, *, interpret: object = False) -> jax.Array:
    """The product x · factor, of x[m, n] and factor[1, 1]; step i sees block i of x, and all of the factor."""
    m, n = x.shape
    return pl.pallas_call(
        scale_kernel,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        interpret=interpret,
    )(x, factor)


# Part 3, reduce: both are to be finished.


def reduce_kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """A step: the rows of one block of x are added to the one row of the answer, which stays from step to step."""


def reduce(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum of all rows, of x[m, n] as [1, n]; step i sees block i of x, which is [8, n], and all of the answer."""
    m, n = x.shape
    return pl.pallas_call(
        reduce_kernel,
        out_shape=jax.ShapeDtypeStruct((1, n), x.dtype),
        interpret=interpret,
    )(x)
