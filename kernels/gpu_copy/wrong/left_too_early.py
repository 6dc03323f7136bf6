"""A block ends while the TMA unit still reads its shared memory.

"The last tiles of my output are sometimes those of another block."
`copy_smem_to_gmem` only asks for the copy. A block that ends gives its shared memory to the next one, read or not.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from kernels.gpu_copy.kernel import COLS, ROWS, Ref


def left_too_early(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input, copied by blocks that do not stay until it is.

    Shapes: x[m, 128] to [m, 128], grid (m/64,); a block sees one tile[64, 128].
    """

    def kernel(x_gmem: Ref, o_gmem: Ref, tile: Ref, arrived: Ref) -> None:
        rows = pl.ds(jax.lax.axis_index("i") * ROWS, ROWS)
        plgpu.copy_gmem_to_smem(x_gmem.at[rows], tile, arrived)
        plgpu.barrier_wait(arrived)
        plgpu.copy_smem_to_gmem(tile, o_gmem.at[rows])  # wrong: `plgpu.wait_smem_to_gmem(0)` has to come last

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // ROWS,),
        grid_names=("i",),
        scratch_types=[plgpu.SMEM((ROWS, COLS), x.dtype), plgpu.Barrier()],
        interpret=interpret,
    )(x)
