"""The table of scalars does not fit into scalar memory.

"Short sequences work; with a long one the TPU says RESOURCE_EXHAUSTED in memory space smem."
What `PrefetchScalarGridSpec` prefetches lies in SMEM as a whole, and SMEM is 1 MiB: 262,144 numbers of 32 bits.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS, LANES = 8, 128


def smem_overflow(table: jax.Array, x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Block `table[i]` of the input becomes block i of the output.

    Shapes: table[t] of int32 and x[m, 128] to [m, 128], grid (m/8,).
    """

    def kernel(_: jax.Ref, x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = x_ref[...]

    grid_spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,  # wrong: the whole table, of which a step needs one number
        grid=(x.shape[0] // ROWS,),
        in_specs=[pl.BlockSpec((ROWS, LANES), lambda i, table_ref: (table_ref[i], 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i, _: (i, 0)),
    )
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(kernel, grid_spec=grid_spec, out_shape=shape, interpret=interpret)(table, x)
