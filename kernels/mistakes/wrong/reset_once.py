"""The accumulator is zeroed once for the kernel, and not once for each output block.

"The first rows of my result are right; from then on every row has the sum of the ones before it in it."
A scratch buffer lives as long as the kernel, over all grid steps. The reset belongs where the reduction begins again.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS, LANES = 8, 128


def reset_once(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum over all blocks of 128 columns.

    Shapes: x[m, n] to [m, 128], grid (m/8, n/128), the last axis sequential.
    """
    rows, columns = x.shape[0] // ROWS, x.shape[1] // LANES

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref, sum_ref: jax.Ref) -> None:
        @pl.when((pl.program_id(0) == 0) & (pl.program_id(1) == 0))  # wrong: `pl.program_id(1) == 0`
        def _() -> None:
            sum_ref[...] = jnp.zeros(sum_ref.shape, sum_ref.dtype)

        sum_ref[...] += x_ref[...]
        o_ref[...] = sum_ref[...]

    return pl.pallas_call(
        kernel,
        grid=(rows, columns),
        in_specs=[pl.BlockSpec((ROWS, LANES), lambda i, k: (i, k))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i, _: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((x.shape[0], LANES), x.dtype),
        scratch_shapes=[pltpu.VMEM((ROWS, LANES), jnp.float32)],
        interpret=interpret,
    )(x)
