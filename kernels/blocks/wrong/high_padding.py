"""The array is padded behind, which the TPU interpreter does not know.

"`pltpu.InterpretParams` says that my last window is out of bounds. It is meant to be: I padded the dimension."
The interpreter never reads the field; `interpret=True` pads the array, and the TPU compiler takes the window.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def high_padding(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Every block of 8 rows plus the one after it.

    Shapes: x[m, 128] to [m, 128], grid (m/8,); a step sees x[16, 128].
    """
    steps = x.shape[0] // ROWS

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        after = jnp.where(pl.program_id(0) == steps - 1, 0.0, x_ref[ROWS:])  # the padding is not zero
        o_ref[...] = x_ref[:ROWS] + after

    rows = pl.Element(2 * ROWS, padding=(0, ROWS))  # refused by `pltpu.InterpretParams`
    return pl.pallas_call(
        kernel,
        grid=(steps,),
        in_specs=[pl.BlockSpec((rows, pl.Element(LANES)), lambda i: (i * ROWS, 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=interpret,
    )(x)
