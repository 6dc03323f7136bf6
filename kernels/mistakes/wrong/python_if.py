"""A Python `if` asks for a number that is known only while the kernel runs.

"TracerBoolConversionError: Attempted boolean conversion of traced array."
The kernel's Python runs once, to write the program down, and the grid step is not a number then. `pl.when` puts the
question into the program.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def python_if(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum of all blocks of 8 rows.

    Shapes: x[m, 128] to [8, 128], grid (m/8,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        if pl.program_id(0) == 0:  # wrong: `@pl.when(pl.program_id(0) == 0)`
            o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)
        o_ref[...] += x_ref[...]

    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // ROWS,),
        in_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda _: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((ROWS, LANES), x.dtype),
        interpret=interpret,
    )(x)
