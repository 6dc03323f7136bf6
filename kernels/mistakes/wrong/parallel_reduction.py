"""The axis of a reduction is declared parallel.

"I marked all axes parallel for speed. The result is right on one TPU and wrong on another, which has two cores."
Parallel promises that the steps may run in any order and on any core, which steps that add up must not.
The TPU interpreter takes it at its word and shuffles the steps: by its default seed 0, 3, 1, 2, so what is written at
step 3 is half.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS, LANES = 8, 128


def parallel_reduction(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum of all blocks of 8 rows.

    Shapes: x[m, 128] to [8, 128], grid (m/8,).
    """
    steps = x.shape[0] // ROWS

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref, sum_ref: jax.Ref) -> None:
        @pl.when(pl.program_id(0) == 0)
        def _() -> None:
            sum_ref[...] = jnp.zeros(sum_ref.shape, sum_ref.dtype)

        sum_ref[...] += x_ref[...]

        @pl.when(pl.program_id(0) == steps - 1)
        def _() -> None:
            o_ref[...] = sum_ref[...]

    return pl.pallas_call(
        kernel,
        grid=(steps,),
        in_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda _: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((ROWS, LANES), x.dtype),
        scratch_shapes=[pltpu.VMEM((ROWS, LANES), x.dtype)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),  # wrong: "arbitrary"
        interpret=interpret,
    )(x)
