"""The blocks fit into VMEM, and the compiler may not use so much of it.

"My v5e has 128 MiB of VMEM, and the compiler says that 20 MiB exceed it."
Without `vmem_limit_bytes` a kernel gets a default share: 16 MiB on a v5e or v5p, more on a v6e or 7x.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, COLUMNS = 1280, 1024  # 5 MiB of float32


def default_vmem_limit(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, in blocks of 5 MiB, which need 20 MiB: two for the input, two for the output.

    Shapes: x[m, 1024] to [m, 1024], grid (ceil(m/1280),).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_ref[...]

    spec = pl.BlockSpec((ROWS, COLUMNS), lambda i: (i, 0))
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (pl.cdiv(x.shape[0], ROWS),)
    # wrong: `compiler_params=pltpu.CompilerParams(vmem_limit_bytes=...)` is missing
    return pl.pallas_call(kernel, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape, interpret=interpret)(x)
