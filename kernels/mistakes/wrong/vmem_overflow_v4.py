"""The blocks need more VMEM than the core has, and somebody counted each of them once.

"It runs on a v5e, and the v4 says that it ran out of memory in memory space vmem. But 10 MiB fit into 16."
Every block is there twice, so that the next can come while this one is worked on: twice 5 MiB in, twice 5 MiB out.
A v4 core has 16 MiB of VMEM, a v5p or 7x core 64, a v5e or v6e core 128. No interpreter counts them.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS, COLUMNS = 1280, 1024  # 5 MiB of float32


def vmem_overflow_v4(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, in blocks of 5 MiB.

    Shapes: x[m, 1024] to [m, 1024], grid (ceil(m/1280),).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_ref[...]

    spec = pl.BlockSpec((ROWS, COLUMNS), lambda i: (i, 0))  # wrong for a v4: 4 of these are 20 MiB
    return pl.pallas_call(
        kernel,
        grid=(pl.cdiv(x.shape[0], ROWS),),
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        compiler_params=pltpu.CompilerParams(vmem_limit_bytes=48 * 2**20),
        interpret=interpret,
    )(x)
