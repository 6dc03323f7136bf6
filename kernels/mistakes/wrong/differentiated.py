"""A kernel is put under `jax.grad`.

"I was told that autodiff works, and `jax.grad` says: Linearization failed to produce known values."
A `pallas_call` has a rule for `jax.jvp` and none for the way back. Write the backward kernel too, and tie the two
together with `jax.custom_vjp`.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl


def differentiated(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The gradient of half the sum of the squares, which is the input.

    Shapes: x[m, n] to [m, n], no grid.
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 0.5 * x_ref[...] * x_ref[...]

    def total(x: jax.Array) -> jax.Array:
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return pl.pallas_call(kernel, out_shape=shape, interpret=interpret)(x).sum()  # [m, n] -> []

    return jax.grad(total)(x)  # wrong: nothing says how to go back through the kernel
