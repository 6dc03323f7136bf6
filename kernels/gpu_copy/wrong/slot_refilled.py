"""A slot is filled again while the TMA unit still reads what it held.

"My double buffering is right with two tiles a block, and wrong with more."
Two slots keep a copy in and a copy out apart for one step. From the third tile on, a slot is the one that the step
before has sent out, and only `wait_smem_to_gmem(0, wait_read_only=True)` says that it has been read.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from kernels.gpu_copy.kernel import COLS, ROWS, Ref


def slot_refilled(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input, copied by one block through two slots.

    Shapes: x[m, 128] to [m, 128], grid (1,); a block sees tiles[2, 64, 128].
    """
    steps = x.shape[0] // ROWS

    def kernel(x_gmem: Ref, o_gmem: Ref, tiles: Ref, arrived: Ref) -> None:
        def fetch(step: int | jax.Array, slot: int | jax.Array) -> None:
            plgpu.copy_gmem_to_smem(x_gmem.at[pl.ds(step * ROWS, ROWS)], tiles.at[slot], arrived.at[slot])

        fetch(0, 0)

        @pl.loop(0, steps)
        def _(step: jax.Array) -> None:
            slot = step % 2

            @pl.when(step + 1 < steps)
            def _() -> None:
                fetch(step + 1, 1 - slot)  # wrong: step - 1 may still be on its way out of this slot

            plgpu.barrier_wait(arrived.at[slot])
            plgpu.copy_smem_to_gmem(tiles.at[slot], o_gmem.at[pl.ds(step * ROWS, ROWS)])

        plgpu.wait_smem_to_gmem(0)

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(1,),
        grid_names=("i",),
        scratch_types=[plgpu.SMEM((2, ROWS, COLS), x.dtype), plgpu.Barrier(num_barriers=2)],
        interpret=interpret,
    )(x)
