"""A scratch buffer is larger than the VMEM of any core.

"I keep the whole matrix in a scratch buffer. It works in both interpreters; the TPU says RESOURCE_EXHAUSTED."
VMEM is 16 to 128 MiB, by generation. An interpreter takes what it needs from the memory of its machine.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

MIB = 2**20
ROWS, COLUMNS = 34 * 1024, 1024  # 136 MiB of float32


def vmem_overflow(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, by way of a corner of the buffer.

    Shapes: x[8, 128] to [8, 128], no grid.
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref, matrix_ref: jax.Ref) -> None:
        matrix_ref[-8:, -128:] = x_ref[...]
        o_ref[...] = 2.0 * matrix_ref[-8:, -128:]

    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.VMEM((ROWS, COLUMNS), x.dtype)],  # wrong: leave it in HBM, and copy a part at a time
        compiler_params=pltpu.CompilerParams(vmem_limit_bytes=140 * MIB),
        interpret=interpret,
    )(x)
