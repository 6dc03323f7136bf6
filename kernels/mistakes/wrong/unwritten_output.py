"""Some of the output is never written.

"I expected zeros where my kernel does nothing. `interpret=True` shows NaN, and the TPU shows other rows of the array."
An output block is not zeroed for you: what is written back is whatever its buffer held, here the block before.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def unwritten_output(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The even blocks of 8 rows; zeros are wanted in place of the odd ones.

    Shapes: x[m, 128] to [m, 128], grid (m/8,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        @pl.when(pl.program_id(0) % 2 == 0)  # wrong: and in the other steps nothing is written
        def _() -> None:
            o_ref[...] = x_ref[...]

    spec = pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (x.shape[0] // ROWS,)
    return pl.pallas_call(kernel, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape, interpret=interpret)(x)
