"""A TMA copy is longer than the unit can count.

"My tile fits into shared memory, and the compiler refuses it all the same."
The box of a TMA copy has a limit of its own: 256 elements along each axis, whatever the bytes. A longer tile takes
several copies, each with an arrival at the barrier.
"""

from __future__ import annotations

import jax
from jax.experimental.pallas import mosaic_gpu as plgpu

from kernels.gpu_copy.kernel import Ref


def box_too_long(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input, copied row by row.

    Shapes: x[m, n] to [m, n], grid (m,); a block sees one row[n].
    """

    def kernel(x_gmem: Ref, o_gmem: Ref, row: Ref, arrived: Ref) -> None:
        i = jax.lax.axis_index("i")
        plgpu.copy_gmem_to_smem(x_gmem.at[i], row, arrived)  # wrong where n is more than 256
        plgpu.barrier_wait(arrived)
        plgpu.copy_smem_to_gmem(row, o_gmem.at[i])
        plgpu.wait_smem_to_gmem(0)

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=x.shape[:1],
        grid_names=("i",),
        scratch_types=[plgpu.SMEM(x.shape[1:], x.dtype), plgpu.Barrier()],
        interpret=interpret,
    )(x)
