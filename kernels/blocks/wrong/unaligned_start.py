"""A window starts in the middle of a tile.

"`pl.Element` lets my index map give any row, and `interpret=True` agrees. The TPU compiler cannot prove something."
Windows are copied in whole tiles, so it has to see that every start is a multiple of one.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, LANES, OFF = 8, 128, 5


def unaligned_start(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input without its first 5 rows and its last 3, by windows of 8 rows.

    Shapes: x[m, 128] to [m - 8, 128], grid (m/8 - 1,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = x_ref[...]

    steps = x.shape[0] // ROWS - 1
    return pl.pallas_call(
        kernel,
        grid=(steps,),
        in_specs=[
            pl.BlockSpec((pl.Element(ROWS), pl.Element(LANES)), lambda i: (i * ROWS + OFF, 0))  # wrong on a TPU
        ],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((steps * ROWS, LANES), x.dtype),
        interpret=interpret,
    )(x)
