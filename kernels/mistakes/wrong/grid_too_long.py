"""The grid has one step more than there are blocks.

"`interpret=True` is happy and the output is right. On the TPU the program stops, or another array is damaged."
The block of the last step lies wholly outside the array. The compiler does not know that, and does not ask.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def grid_too_long(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, block by block.

    Shapes: x[m, 128] to [m, 128], grid (m/8 + 1,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_ref[...]

    spec = pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (x.shape[0] // ROWS + 1,)  # wrong: `pl.cdiv(x.shape[0], ROWS)`
    return pl.pallas_call(kernel, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape, interpret=interpret)(x)
