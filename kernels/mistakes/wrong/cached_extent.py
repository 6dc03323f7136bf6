"""The kernel asks for the extent of its grid, and is called with two grids.

"The second call of my kernel stops too early, or never writes its result. No error, and each alone is right."
jax 0.11.0 to 0.11.2 can reuse a traced `pl.num_programs` for another grid (issue 40847). Pass the extent in instead.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def cached_extent(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The extent of the grid, for half of the input and then for all of it.

    Shapes: x[m, 128] to [16, 128], grids (m/16,) and (m/8,).
    """

    def kernel(_: jax.Ref, o_ref: jax.Ref) -> None:
        extent = pl.num_programs(0)  # wrong at this version: in the second call, the extent of the first grid
        o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype) + extent

    def call(x: jax.Array) -> jax.Array:
        return pl.pallas_call(
            kernel,
            grid=(x.shape[0] // ROWS,),
            in_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))],
            out_specs=pl.BlockSpec((ROWS, LANES), lambda _: (0, 0)),
            out_shape=jax.ShapeDtypeStruct((ROWS, LANES), x.dtype),
            interpret=interpret,
        )(x)  # [m, 128] -> [8, 128]

    return jnp.concatenate([call(x[: x.shape[0] // 2]), call(x)])  # 2 × [8, 128] -> [16, 128]
