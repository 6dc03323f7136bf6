"""The accumulator is added to before anything was put into it.

"The sum is NaN in the interpreter. On the TPU it was right the first time, and then it was not."
A buffer in VMEM starts with what the last kernel left there. Both interpreters fill it with NaN, so that it shows.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def missing_reset(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum of all blocks of 8 rows.

    Shapes: x[m, 128] to [8, 128], grid (m/8,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] += x_ref[...]  # wrong: `@pl.when(pl.program_id(0) == 0)` has to zero it first

    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // ROWS,),
        in_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda _: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((ROWS, LANES), x.dtype),
        interpret=interpret,
    )(x)
