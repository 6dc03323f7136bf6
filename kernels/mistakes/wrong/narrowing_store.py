"""A float32 result is stored into a bfloat16 output.

"ValueError: Invalid dtype for `swap`." NumPy would round in silence; a ref takes only its own type.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def narrowing_store(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, computed in float32.

    Shapes: x[m, n] of bfloat16 to [m, n] of bfloat16, no grid.
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_ref[...].astype(jnp.float32)  # wrong: `.astype(o_ref.dtype)` is missing

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=interpret)(x)
