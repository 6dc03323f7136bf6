"""An output block is left and come back to, as if it were still there.

"My kernel adds up into its output and passes with `interpret=True`; on the TPU the sums are short."
A TPU keeps an output block in VMEM only while steps in a row want it. Then it is written back, and a later visit gets a
buffer with whatever is in it: an output is never fetched.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, LANES, OUTPUTS = 8, 128, 2


def revisited_output(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum of all even blocks of 8 rows, then that of all odd ones.

    Shapes: x[m, 128] to [16, 128], grid (m/8,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        @pl.when(pl.program_id(0) < OUTPUTS)  # the first visit of each output block
        def _() -> None:
            o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

        o_ref[...] += x_ref[...]

    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // ROWS,),
        in_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i: (i % OUTPUTS, 0)),  # wrong: 0, 1, 0, 1 and not 0, 0, 1, 1
        out_shape=jax.ShapeDtypeStruct((OUTPUTS * ROWS, LANES), x.dtype),
        interpret=interpret,
    )(x)
