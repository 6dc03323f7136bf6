"""A buffer holds one number a row, and is as large as if it held 128.

"My running maximum is 65536 numbers, 256 KiB. The compiler says that it does not fit into 16 MiB of VMEM."
The last two axes of a buffer lie in tiles of 8 by 128, so a column of width 1 is padded to 128 lanes.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS, LANES, NUMBERS = 8, 128, 2**16


def narrow_scratch(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input plus its first column, which takes the way through a long, narrow buffer.

    Shapes: x[m, 128] to [m, 128], grid (m/8,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref, column_ref: jax.Ref) -> None:
        column_ref[:ROWS] = x_ref[:, :1]  # [8, 128] -> [8, 1]
        o_ref[...] = x_ref[...] + column_ref[:ROWS]

    spec = pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // ROWS,),
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.VMEM((NUMBERS, 1), jnp.float32)],  # wrong on a TPU: (NUMBERS // 128, 128) is as long
        interpret=interpret,
    )(x)
