"""A reduction takes in the padding of the last block.

"My sum is right for 24 rows, and for 20 it is NaN in the interpreter and slightly off on the TPU."
A block may stick out of its array. What it holds there is not defined: NaN in the interpreters, old bytes on a chip.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def ragged_sum(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum over all blocks of 8 rows, the last of which need not be full.

    Shapes: x[m, 128] to [8, 128], grid (ceil(m/8),).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        @pl.when(pl.program_id(0) == 0)
        def _() -> None:
            o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

        o_ref[...] += x_ref[...]  # wrong: rows from m on are to be masked with `jnp.where`

    return pl.pallas_call(
        kernel,
        grid=(pl.cdiv(x.shape[0], ROWS),),
        in_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda _: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((ROWS, LANES), x.dtype),
        interpret=interpret,
    )(x)
