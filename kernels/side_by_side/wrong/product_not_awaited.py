"""A slot in shared memory is filled again while the tensor cores still read it.

"`InterpretGPUParams(detect_races=True)` finds nothing, and on the H200 nearly every element is wrong."
`wgmma` only starts a product, which the tensor cores compute beside the warpgroup, from both slots. The next step has
new tiles copied into these slots at once. With `plgpu.wgmma_wait(0)` behind `wgmma`, as in `product_awaited`, the slots
have been read before.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from kernels.side_by_side.kernel import BK, BM, BN, FOR_WGMMA, Ref


def product_not_awaited(x: jax.Array, y: jax.Array, *, interpret: object = False) -> jax.Array:
    """The product x @ y of two 16-bit matrices, added up in float32.

    Shapes: x[m, k], y[k, n] to float32[m, n], grid (m/64, n/256); a step sees x[64, 128] and y[128, 256].
    """
    (m, k), n = x.shape, y.shape[1]

    def kernel(x_gmem: Ref, y_gmem: Ref, o_gmem: Ref, x_smem: Ref, y_smem: Ref, arrived: Ref) -> None:
        rows = pl.ds(jax.lax.axis_index("i") * BM, BM)
        cols = pl.ds(jax.lax.axis_index("j") * BN, BN)

        def multiply(acc: Ref) -> jax.Array:
            @pl.loop(0, k // BK)
            def _(step: jax.Array) -> None:
                some = pl.ds(step * BK, BK)
                # wrong: the product of the step before may still read both slots
                plgpu.copy_gmem_to_smem(x_gmem.at[rows, some], x_smem, arrived)
                plgpu.copy_gmem_to_smem(y_gmem.at[some, cols], y_smem, arrived)
                plgpu.barrier_wait(arrived)
                plgpu.wgmma(acc, x_smem, y_smem)

            return acc[...]  # waits for all of the products

        o_gmem[rows, cols] = pl.run_scoped(multiply, plgpu.WGMMAAccumulatorRef((BM, BN), jnp.float32))

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((m, n), jnp.float32),
        grid=(m // BM, n // BN),
        grid_names=("i", "j"),
        scratch_types=[
            plgpu.SMEM((BM, BK), x.dtype, transforms=FOR_WGMMA),
            plgpu.SMEM((BK, BN), x.dtype, transforms=FOR_WGMMA),
            plgpu.Barrier(num_arrivals=2),
        ],
        interpret=interpret,
    )(x, y)
