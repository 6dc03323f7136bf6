"""The arrays are float16, the narrow type of a GPU.

"My kernel works on a GPU and with `interpret=True`. The TPU compiler says: Invalid vector type for load."
A TPU has no float16. Its narrow type is bfloat16, with the range of a float32 and 8 bits of it.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl


def half_precision(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input.

    Shapes: x[m, n] of float16 to [m, n] of float16, no grid.
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_ref[...]  # wrong on a TPU: there is no load of float16

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=interpret)(x)
