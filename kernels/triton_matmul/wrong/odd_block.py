"""A block whose size is no power of two.

"It runs with `interpret=True`, and on the GPU jax says that a size must be a power of 2."
Triton spreads an array over threads by its bits, so every array in a kernel has a power of two of elements. A block
that has to end elsewhere is loaded with a mask: `pltriton.load(ref, mask=..., other=...)`.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as pltriton

BLOCK = 96


def odd_block(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input.

    Shapes: x[m] to [m], grid (m/96,); a block sees x[96].
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_ref[...]

    spec = pl.BlockSpec((BLOCK,), lambda i: (i,))  # wrong: 96 is 3·32
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // BLOCK,),
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        compiler_params=pltriton.CompilerParams(),
        interpret=interpret,
    )(x)
