"""The last two sides of a block are no multiples of 8 and 128.

"It works with `interpret=True`; for a TPU, the last two dimensions of my block shape are to be divisible by 8 and 128."
A vector register of a TPU is 8 sublanes by 128 lanes, and a block is moved and addressed in whole tiles of that.
The rule is `_check_block_mappings` in jax/_src/pallas/mosaic/lowering.py, which only the TPU lowering calls.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, COLUMNS = 4, 64


def tile_rule(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, in blocks of 4 by 64.

    Shapes: x[m, n] to [m, n], grid (m/4, n/64).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_ref[...]

    spec = pl.BlockSpec((ROWS, COLUMNS), lambda i, j: (i, j))  # wrong on a TPU: 4 and 64, and not 8 and 128
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (x.shape[0] // ROWS, x.shape[1] // COLUMNS)
    return pl.pallas_call(kernel, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape, interpret=interpret)(x)
