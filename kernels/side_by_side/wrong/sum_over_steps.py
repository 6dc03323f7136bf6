"""A sum is added up over the steps of a grid, and on a GPU the steps run side by side.

"My kernel passes in both interpreters and is right on a TPU. On a GPU most of the sum is missing."
On a TPU core the steps take turns, so the block in `o_ref` is there for the next one. On a GPU each step is a block of
threads of its own: they load the same old sum, each adds its part, and the last to store wins. Let one block of threads
loop over all parts, or write a part each and add those up outside.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK = 256


def sum_over_steps(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum of all blocks.

    Shapes: x[n] to [256], grid (n/256,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        @pl.when(pl.program_id(0) == 0)
        def _() -> None:
            o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

        o_ref[...] += x_ref[...]  # wrong on a GPU: nothing says that the step before has stored

    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // BLOCK,),
        in_specs=[pl.BlockSpec((BLOCK,), lambda i: (i,))],
        out_specs=pl.BlockSpec((BLOCK,), lambda _: (0,)),
        out_shape=jax.ShapeDtypeStruct((BLOCK,), x.dtype),
        interpret=interpret,
    )(x)
