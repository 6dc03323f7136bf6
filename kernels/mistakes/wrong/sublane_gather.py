"""A gather goes along the rows of a tile, which not every TPU can do.

"My kernel compiles for a v5e. For a v4: Sublane gather not supported by this TPU generation."
What a generation lacks is known to its compiler alone. Compile for each one that you promise.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def sublane_gather(indices: jax.Array, x: jax.Array, *, interpret: object = False) -> jax.Array:
    """In each column, its elements in the order of the column's indices.

    Shapes: indices[8, 128] of int32 and x[8, 128] to [8, 128], no grid.
    """

    def kernel(indices_ref: jax.Ref, x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = jnp.take_along_axis(x_ref[...], indices_ref[...], axis=0)  # wrong on a v4

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=interpret)(indices, x)
