"""The index map always gives a block that the array does not have.

"The compiler crashed, with a stack trace of C++ and no word about my kernel."
Where a block index is a number that the compiler can see, it works the address out itself, and stops at a check of its
own. A number that depends on the step passes, since nobody asks where it leads.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128


def fixed_block_outside(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The first block of 8 rows in every place, as the author thought.

    Shapes: x[m, 128] to [m, 128], grid (m/8,).
    """
    blocks = x.shape[0] // ROWS

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = x_ref[...]

    return pl.pallas_call(
        kernel,
        grid=(blocks,),
        in_specs=[pl.BlockSpec((ROWS, LANES), lambda _: (blocks, 0))],  # wrong: the last block is `blocks - 1`
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=interpret,
    )(x)
