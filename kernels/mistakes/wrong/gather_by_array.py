"""A block is indexed with an array of indices.

"`x_ref[indices]` works with `interpret=True`, and inside a TPU kernel I cannot do int indexing."
A load takes what lies together. An index may be a number or a slice, known or computed, but not an array: load the
block and use `jnp.take_along_axis`, or let an index map with prefetched scalars choose the block.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl


def gather_by_array(indices: jax.Array, x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Rows of the input, in the order of the indices.

    Shapes: indices[m] of int32 and x[m, n] to [m, n], no grid.
    """

    def kernel(indices_ref: jax.Ref, x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = x_ref[indices_ref[...]]  # wrong: an array as an index

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=interpret)(indices, x)
