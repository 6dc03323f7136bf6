"""The array is padded in front, which only one lane knows.

"`pl.Element` takes padding, and my stencil is right with `interpret=True`. Nothing else agrees."
`interpret=True` pads the array. `pltpu.InterpretParams` never reads the field, and the TPU compiler has no low padding.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def low_padding(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Every block of 8 rows plus the one before it.

    Shapes: x[m, 128] to [m, 128], grid (m/8,); a step sees x[16, 128].
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        before = jnp.where(pl.program_id(0) == 0, 0.0, x_ref[:ROWS])  # the padding is not zero
        o_ref[...] = x_ref[ROWS:] + before

    rows = pl.Element(2 * ROWS, padding=(ROWS, 0))  # wrong on a TPU; the start counts from the padded array's first row
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // ROWS,),
        in_specs=[pl.BlockSpec((rows, pl.Element(LANES)), lambda i: (i * ROWS, 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=interpret,
    )(x)
