"""A product by hand on a Hopper GPU: a slot in shared memory for each operand, and the two waits that keep it right.

A copy by the TMA unit and a `wgmma` of the tensor cores run beside the warpgroup that starts them. It waits for the
copies before it multiplies, and for the product before it copies again. `wrong/product_not_awaited.py` is the same
without the second wait.

Run this file to see it at work: `python kernels/side_by_side/kernel.py`.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

BM, BN, BK = 64, 256, 128
# How `wgmma` wants its operands in SMEM: tiles of 8 rows of 128 bytes, their 16-byte chunks swizzled against conflicts.
FOR_WGMMA = (
    plgpu.TilingTransform((8, 64)),  # pyright: ignore[reportAbstractUsage] - jax does make them, and leaves one
    plgpu.SwizzleTransform(128),  # pyright: ignore[reportAbstractUsage] - method of theirs undefined
)

Ref = Any  # jax gives its GPU primitives types of its own for a reference, and `jax.Ref` is none of them


def product_awaited(x: jax.Array, y: jax.Array, *, interpret: object = False) -> jax.Array:
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
                plgpu.copy_gmem_to_smem(x_gmem.at[rows, some], x_smem, arrived)
                plgpu.copy_gmem_to_smem(y_gmem.at[some, cols], y_smem, arrived)
                plgpu.barrier_wait(arrived)
                plgpu.wgmma(acc, x_smem, y_smem)
                plgpu.wgmma_wait(0)  # until both slots have been read: the next step fills them again

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


if __name__ == "__main__":
    import numpy as np
    import reference  # the file beside this one

    chip = jax.devices()[0]
    is_hopper = getattr(chip, "compute_capability", "") == "9.0"
    where = f"on {chip.device_kind}" if is_hopper else "interpreted"

    rng = np.random.default_rng(0)  # small whole numbers: every product and every sum of them is a float32
    x, y = (rng.integers(-2, 3, shape).astype(jnp.bfloat16) for shape in [(64, 512), (512, 256)])
    expected = reference.product(x.astype(np.float64), y.astype(np.float64))  # [64, 256]
    with jax.default_device(chip if is_hopper else jax.devices("cpu")[0]):
        interpret = False if is_hopper else plgpu.InterpretGPUParams(detect_races=True)
        o = np.asarray(product_awaited(jnp.asarray(x), jnp.asarray(y), interpret=interpret))
    error = np.abs(o - expected).max()
    print(f"product_awaited: {list(x.shape)} @ {list(y.shape)} -> {list(o.shape)}, {where}, largest error {error:g}")
