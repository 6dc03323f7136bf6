"""There is a grid but no block spec, so every step sees the whole array.

"I set `grid=(4,)` to split the work in four, and every row of my output has the number of the last block."
A grid only says how often the kernel runs. What a step sees is said by the block specs, and without one it is all.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS = 8


def no_block_spec(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input plus the number of its block of 8 rows.

    Shapes: x[m, 128] to [m, 128], grid (m/8,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = x_ref[...] + pl.program_id(0).astype(jnp.float32)

    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    # wrong: `in_specs` and `out_specs` are missing
    return pl.pallas_call(kernel, grid=(x.shape[0] // ROWS,), out_shape=shape, interpret=interpret)(x)
