"""The index map of the second factor has its two indices the wrong way round.

"My matmul is right for one block and wrong for more. The shapes all fit, so nothing complains."
A step (i, j, k) needs block (k, j) of `y`; with square blocks and a square array, (j, k) exists too.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

TILE = 128


def swapped_index_map(x: jax.Array, y: jax.Array, *, interpret: object = False) -> jax.Array:
    """The product of two square matrices, in float32.

    Shapes: x[n, n], y[n, n] to [n, n], grid (n/128, n/128, n/128).
    """

    def kernel(x_ref: jax.Ref, y_ref: jax.Ref, o_ref: jax.Ref) -> None:
        @pl.when(pl.program_id(2) == 0)
        def _() -> None:
            o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

        o_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    tile, blocks = (TILE, TILE), x.shape[0] // TILE
    of_x = pl.BlockSpec(tile, lambda i, _, k: (i, k))
    of_y = pl.BlockSpec(tile, lambda _, j, k: (j, k))  # wrong: `(k, j)`
    of_o = pl.BlockSpec(tile, lambda i, j, _: (i, j))
    return pl.pallas_call(
        kernel,
        grid=(blocks, blocks, blocks),
        in_specs=[of_x, of_y],
        out_specs=of_o,
        out_shape=jax.ShapeDtypeStruct(x.shape, jnp.float32),
        interpret=interpret,
    )(x, y)
