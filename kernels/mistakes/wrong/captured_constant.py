"""The kernel uses an array from outside that is not among its arguments.

"The kernel function captures constants. You should pass them as inputs."
A kernel sees only what is copied to it, through its refs. A Python number is part of the program; an array is data.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def captured_constant(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input plus the numbers 0 to 127 along each row.

    Shapes: x[m, 128] to [m, 128], no grid.
    """
    offsets = jnp.arange(128, dtype=jnp.float32)  # [128]

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = x_ref[...] + offsets  # wrong: `offsets` has to come in as a ref

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=interpret)(x)
