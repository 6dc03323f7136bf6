"""A computed index runs past the end of its buffer.

"In the interpreter the last row repeats itself, as I wanted. On the TPU it is garbage."
XLA clamps an index into the array, and `interpret=True` is XLA. A chip reads the memory behind the buffer.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl


def clamped_read(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Each row becomes the one below it; the last stays.

    Shapes: x[m, 128] to [m, 128], grid (m,); each step sees all of both arrays.
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        row = pl.program_id(0)
        o_ref[pl.ds(row, 1)] = x_ref[pl.ds(row + 1, 1)]  # wrong: row m is outside; `jnp.minimum(row + 1, m - 1)`

    whole = pl.BlockSpec(x.shape, lambda _: (0, 0))
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (x.shape[0],)
    return pl.pallas_call(kernel, grid=grid, in_specs=[whole], out_specs=whole, out_shape=shape, interpret=interpret)(x)
