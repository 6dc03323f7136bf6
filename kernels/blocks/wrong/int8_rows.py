"""The block is a multiple of 8 and 128, and the numbers are int8, whose tile on a TPU has more rows.

"My blocks are (8, 128) as the error message asks for, it works in float32, and in int8 the compiler still refuses."
jax checks for 8 and 128, whatever the type. The TPU compiler checks for the tile of the array, 32 by 128 for int8.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def int8_rows(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """A copy, block by block.

    Shapes: x[m, 128] to [m, 128], int8, grid (m/8,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = x_ref[...]

    spec = pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))  # wrong on a TPU: 32 rows are a tile of int8
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (x.shape[0] // ROWS,)
    return pl.pallas_call(kernel, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape, interpret=interpret)(x)
