"""A product of bfloat16 matrices does not say that it adds up in float32.

"`jnp.dot` works with `interpret=True`. On the TPU: internal verification error, please file a bug."
The matrix unit adds up in 32 bits. `jnp.dot` of two bfloat16 arrays promises a bfloat16 sum, which there is not.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def narrow_dot(x: jax.Array, y: jax.Array, *, interpret: object = False) -> jax.Array:
    """The product of two matrices of bfloat16.

    Shapes: x[m, k], y[k, n] to [m, n], no grid.
    """

    def kernel(x_ref: jax.Ref, y_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = jnp.dot(x_ref[...], y_ref[...])  # wrong: `preferred_element_type=jnp.float32` is missing

    shape = jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), x.dtype)
    return pl.pallas_call(kernel, out_shape=shape, interpret=interpret)(x, y)
