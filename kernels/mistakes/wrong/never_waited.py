"""A copy is started and never waited for.

"`interpret=True` gives the right answer, the TPU gives zeros, or the answer of the run before."
`start` only asks for the copy. Until `wait` returns, nothing says that a byte of it has arrived.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def never_waited(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, which the kernel itself copies into VMEM.

    Shapes: x[m, 128] to [m, 128], no grid.
    """

    def kernel(x_hbm: jax.Ref, o_ref: jax.Ref, x_vmem: jax.Ref, arrived: jax.Ref) -> None:
        pltpu.make_async_copy(x_hbm, x_vmem, arrived).start()
        o_ref[...] = 2.0 * x_vmem[...]  # wrong: `.wait()` has to come first

    return pl.pallas_call(
        kernel,
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.VMEM(x.shape, x.dtype), pltpu.SemaphoreType.DMA],
        interpret=interpret,
    )(x)
