"""The threads write a tile to shared memory, and the TMA unit is sent for it at once.

"Now and then a few elements of a tile are old."
Threads and TMA unit see shared memory along two ways, the generic and the async proxy. A write along the one is not
ordered with a read along the other, until `commit_smem` puts a fence and a barrier of the warpgroup between them.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from kernels.gpu_copy.kernel import COLS, ROWS, Ref


def store_not_committed(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, computed in place in the tile.

    Shapes: x[m, 128] to [m, 128], grid (m/64,); a block sees one tile[64, 128].
    """

    def kernel(x_gmem: Ref, o_gmem: Ref, tile: Ref, arrived: Ref) -> None:
        rows = pl.ds(jax.lax.axis_index("i") * ROWS, ROWS)
        plgpu.copy_gmem_to_smem(x_gmem.at[rows], tile, arrived)
        plgpu.barrier_wait(arrived)
        tile[...] = 2.0 * tile[...]
        plgpu.copy_smem_to_gmem(tile, o_gmem.at[rows])  # wrong: `plgpu.commit_smem()` has to come first
        plgpu.wait_smem_to_gmem(0)

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // ROWS,),
        grid_names=("i",),
        scratch_types=[plgpu.SMEM((ROWS, COLS), x.dtype), plgpu.Barrier()],
        interpret=interpret,
    )(x)
