"""A matmul adds up its blocks in the type of its inputs.

"My Pallas matmul does not agree with `jnp.matmul`, and the longer the reduction the worse it gets."
A bfloat16 has 8 bits: of each block that is added, what is smaller than a 256th of the sum so far is rounded away.
Add up in a float32 scratch buffer, and round once at the end.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK = 128


def narrow_accumulation(x: jax.Array, y: jax.Array, *, interpret: object = False) -> jax.Array:
    """The product of two matrices in their own narrow type.

    Shapes: x[16, k], y[k, 128] to [16, 128], grid (k/128,).
    """

    def kernel(x_ref: jax.Ref, y_ref: jax.Ref, o_ref: jax.Ref) -> None:
        @pl.when(pl.program_id(0) == 0)
        def _() -> None:
            o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

        product = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)
        o_ref[...] += product.astype(o_ref.dtype)  # wrong: every step rounds the sum to 8 bits

    return pl.pallas_call(
        kernel,
        grid=(x.shape[1] // BLOCK,),
        in_specs=[
            pl.BlockSpec((x.shape[0], BLOCK), lambda k: (0, k)),
            pl.BlockSpec((BLOCK, y.shape[1]), lambda k: (k, 0)),
        ],
        out_specs=pl.BlockSpec((x.shape[0], y.shape[1]), lambda _: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), x.dtype),
        interpret=interpret,
    )(x, y)
