"""Hopper's tensor core instruction, compiled for Blackwell.

"My kernel is fast on an H100, and on a B200 it does not even compile."
`wgmma` belongs to sm_90a, where the `a` says that later chips need not have it, and Blackwell has not: there it is
`tcgen05_mma`, with its accumulator in tensor memory. Pallas lowers either for any chip; the refusal is ptxas' own.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from kernels.gpu_matmul.kernel import FOR_WGMMA, Ref


def wgmma_on_blackwell(x: jax.Array, y: jax.Array, *, interpret: object = False) -> jax.Array:
    """The product of two small bfloat16 matrices, by one warpgroup and one `wgmma`.

    Shapes: x[64, k], y[k, n] to [64, n] in float32, grid (1,).
    """
    shape = x.shape[0], y.shape[1]

    def kernel(x_gmem: Ref, y_gmem: Ref, o_gmem: Ref, x_smem: Ref, y_smem: Ref, arrived: Ref) -> None:
        plgpu.copy_gmem_to_smem(x_gmem, x_smem, arrived)
        plgpu.copy_gmem_to_smem(y_gmem, y_smem, arrived)
        plgpu.barrier_wait(arrived)

        def multiply(acc: Ref) -> jax.Array:
            plgpu.wgmma(acc, x_smem, y_smem)  # wrong on Blackwell
            return acc[...]  # waits for it

        o_gmem[...] = pl.run_scoped(multiply, plgpu.WGMMAAccumulatorRef(shape, jnp.float32))

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(shape, jnp.float32),
        grid=(1,),
        grid_names=("i",),
        scratch_types=[
            plgpu.SMEM(x.shape, x.dtype, transforms=FOR_WGMMA),
            plgpu.SMEM(y.shape, y.dtype, transforms=FOR_WGMMA),
            plgpu.Barrier(num_arrivals=2),
        ],
        interpret=interpret,
    )(x, y)
