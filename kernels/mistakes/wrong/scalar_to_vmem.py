"""One number is stored into a buffer in VMEM.

"`o_ref[0, 0] = total` works in the interpreter; on the TPU: Cannot store scalars to VMEM."
The scalar core writes to SMEM, the vector unit writes whole registers to VMEM. Give the output a
`memory_space=pltpu.SMEM`, or store an array of shape (1, 1).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def scalar_to_vmem(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum of all elements.

    Shapes: x[m, n] to [1, 1], no grid.
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[0, 0] = jnp.sum(x_ref[...])  # wrong: a scalar, and `o_ref` is in VMEM

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1, 1), x.dtype), interpret=interpret)(x)
