"""The block has a shape and no index map, so every step gets block 0.

"I gave every spec a block shape and a grid of the right length. Only the first block of my output is right."
Without a map the indices are all zero; nothing is guessed from the grid. What no step writes is left as it was.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def no_index_map(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, meant for every block of 8 rows.

    Shapes: x[m, 128] to [m, 128], grid (m/8,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_ref[...]

    spec = pl.BlockSpec((ROWS, LANES))  # wrong: `lambda i: (i, 0)` is missing
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (x.shape[0] // ROWS,)
    return pl.pallas_call(kernel, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape, interpret=interpret)(x)
