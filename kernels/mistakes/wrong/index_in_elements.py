"""The index map gives the row where a block starts; it is to give the number of the block.

"Half of my output is NaN with `interpret=True`. I took `index_map` for the offset of the block in the array."
Pallas multiplies what the map returns by the block shape, so block 1 is fetched from row 64, not from row 8.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def index_in_elements(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, meant for every block of 8 rows.

    Shapes: x[m, 128] to [m, 128], grid (m/8,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_ref[...]

    spec = pl.BlockSpec((ROWS, LANES), lambda i: (i * ROWS, 0))  # wrong: `(i, 0)` is block i
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (x.shape[0] // ROWS,)
    return pl.pallas_call(kernel, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape, interpret=interpret)(x)
