"""A slot is filled again while the copy out of it is still under way.

"My own double buffer is right in every test, and on the TPU a block of the output is now and then a later one."
The waits are all there, and one is a line too low: block i may come in while block i - 2 is still being read.
The numbers are right in both interpreters. Only the race detector sees it, and only with a large
`vector_clock_size`: by default all DMAs of a core share one entry of the clock, which puts them in an order that they
do not have.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS, LANES, SLOTS = 8, 128, 2


def slot_race(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input, copied block by block through two slots of VMEM.

    Shapes: x[m, 128] to [m, 128], no grid; m/8 blocks.
    """
    blocks = x.shape[0] // ROWS

    def kernel(x_hbm: jax.Ref, o_hbm: jax.Ref, slots: jax.Ref, arrived: jax.Ref, left: jax.Ref) -> None:
        outward = []
        for block in range(blocks):
            slot, rows = block % SLOTS, pl.ds(block * ROWS, ROWS)
            inward = pltpu.make_async_copy(x_hbm.at[rows], slots.at[slot], arrived.at[slot])
            inward.start()
            if block >= SLOTS:
                outward[block - SLOTS].wait()  # wrong: the slot has to be free before `inward.start()`
            inward.wait()
            outward.append(pltpu.make_async_copy(slots.at[slot], o_hbm.at[rows], left.at[slot]))
            outward[-1].start()
        for copy in outward[-SLOTS:]:
            copy.wait()

    return pl.pallas_call(
        kernel,
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        out_specs=pl.BlockSpec(memory_space=pl.ANY),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[
            pltpu.VMEM((SLOTS, ROWS, LANES), x.dtype),
            pltpu.SemaphoreType.DMA((SLOTS,)),
            pltpu.SemaphoreType.DMA((SLOTS,)),
        ],
        interpret=interpret,
    )(x)
