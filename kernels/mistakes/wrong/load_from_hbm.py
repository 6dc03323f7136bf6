"""A kernel reads an array that was left in HBM.

"I used `pl.ANY` to keep a large array out of VMEM, and `interpret=True` reads it. The TPU says: Loads are only allowed
on VMEM and SMEM references."
Loads reach VMEM and SMEM. What is in HBM has to be copied first, by `pltpu.sync_copy` or by a block spec.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl


def load_from_hbm(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input.

    Shapes: x[m, n] to [m, n], no grid.
    """

    def kernel(x_hbm: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_hbm[...]  # wrong: `x_hbm` is not in VMEM

    left = pl.BlockSpec(memory_space=pl.ANY)
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(kernel, in_specs=[left], out_shape=shape, interpret=interpret)(x)
