"""A copy into shared memory is started, and nothing waits at its barrier.

"Most of my output is right. Some tiles hold what another block left in shared memory."
`copy_gmem_to_smem` only asks for the copy. Until `barrier_wait` returns, nothing says that a byte of it has arrived.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from kernels.gpu_copy.kernel import COLS, ROWS, Ref


def barrier_never_waited(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input, copied before it has arrived.

    Shapes: x[m, 128] to [m, 128], grid (m/64,); a block sees one tile[64, 128].
    """

    def kernel(x_gmem: Ref, o_gmem: Ref, tile: Ref, arrived: Ref) -> None:
        rows = pl.ds(jax.lax.axis_index("i") * ROWS, ROWS)
        plgpu.copy_gmem_to_smem(x_gmem.at[rows], tile, arrived)
        plgpu.copy_smem_to_gmem(tile, o_gmem.at[rows])  # wrong: `plgpu.barrier_wait(arrived)` has to come first
        plgpu.wait_smem_to_gmem(0)

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // ROWS,),
        grid_names=("i",),
        scratch_types=[plgpu.SMEM((ROWS, COLS), x.dtype), plgpu.Barrier()],
        interpret=interpret,
    )(x)
