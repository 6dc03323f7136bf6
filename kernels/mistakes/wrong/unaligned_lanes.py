"""A window that moves along the lanes starts at a computed column.

"Sliding down the rows compiles, sliding along the columns does not: cannot statically prove the alignment."
A row of a tile is 128 lanes, and a load starts at the first of them. Load the whole tiles and use `pltpu.roll`, or tell
the compiler with `pl.multiple_of` what it cannot see.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, LANES, STRIDE = 8, 128, 3


def unaligned_lanes(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """In block i of 8 rows, the 128 columns from 3i on.

    Shapes: x[8, 256] to [32, 128], grid (4,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        start = pl.program_id(0) * STRIDE
        o_ref[...] = x_ref[:, pl.ds(start, LANES)]  # wrong: a load begins at a multiple of 128 lanes

    return pl.pallas_call(
        kernel,
        grid=(4,),
        in_specs=[pl.BlockSpec(x.shape, lambda _: (0, 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((4 * ROWS, LANES), x.dtype),
        interpret=interpret,
    )(x)
