"""The kernel calls an operation that has no rule for the TPU.

"`jnp.sort` works with `interpret=True`. On the TPU: Unimplemented primitive in Pallas TPU lowering."
An interpreter runs whatever jax can run. A lowering knows only the primitives that have a rule in it.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def unsupported_primitive(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Each row of the input, sorted.

    Shapes: x[m, n] to [m, n], no grid.
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = jnp.sort(x_ref[...], axis=1)  # wrong: no lowering has a rule for `sort`

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=interpret)(x)
