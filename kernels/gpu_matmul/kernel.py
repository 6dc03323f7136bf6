"""A matrix product on a Hopper GPU: one warpgroup keeps copies in flight, two keep the tensor cores busy.

`wgmma` multiplies what lies in shared memory (SMEM) and adds to registers; the 128 threads of a warpgroup issue it.
`plgpu.emit_pipeline_warp_specialized` gives the third warpgroup the copies, and nearly all registers to the other two.

Run this file to see it at work: `python kernels/gpu_matmul/kernel.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

# How `wgmma` wants its operands in SMEM: tiles of 8 rows of 128 bytes, their 16-byte chunks swizzled against conflicts.
FOR_WGMMA = (
    plgpu.TilingTransform((8, 64)),  # pyright: ignore[reportAbstractUsage] - jax does make them, and leaves one
    plgpu.SwizzleTransform(128),  # pyright: ignore[reportAbstractUsage] - method of theirs undefined
)

Ref = Any  # jax gives its GPU primitives types of its own for a reference, and `jax.Ref` is none of them


def gpu_matmul(
    x: jax.Array,
    y: jax.Array,
    *,
    bm: int = 256,
    bn: int = 128,
    bk: int = 64,
    slots: int = 3,
    interpret: object = False,
) -> jax.Array:
    """The product x @ y of two 16-bit matrices, added up in float32 and rounded once, to the type of x.

    Shapes: x[m, k], y[k, n] to [m, n], grid (m/bm, n/bn); a pipeline step sees x[bm, bk] and y[bk, bn], of which
        each of the two computing warpgroups takes x[bm/2, bk] and all of y.
    Units: SMEM 2·slots·(bm·bk + bk·bn) + 2·bm·bn + 16·slots bytes, at most 232448; bm·bn/256 accumulator registers of
        each computing thread.
    Errors: ValueError where m, n or k is no positive multiple of its block, naming the axis and the nearest fits.
    Source: jax/experimental/pallas/ops/gpu/hopper_matmul_mgpu.py at the pin, simplified: one tile a block, no clusters.
    """
    (m, k), n = x.shape, y.shape[1]
    grid, steps = (blocks_in("m", m, bm), blocks_in("n", n, bn)), blocks_in("k", k, bk)

    def kernel(x_gmem: Ref, y_gmem: Ref, o_gmem: Ref, o_smem: Ref) -> None:
        rows = pl.ds(jax.lax.axis_index("i") * bm, bm)
        cols = pl.ds(jax.lax.axis_index("j") * bn, bn)
        half = pl.ds(jax.lax.axis_index("warpgroup") * (bm // 2), bm // 2)  # the rows of this warpgroup

        def multiply(_: object, x_smem: Ref, y_smem: Ref, acc: Ref) -> Ref:
            plgpu.wgmma(acc, x_smem.at[half], y_smem)  # [bm/2, bk] @ [bk, bn], asynchronous
            plgpu.wgmma_wait(0)  # until both slots have been read: the copying warpgroup fills them again
            return acc

        def compute(run_pipeline: Callable[[Ref], Ref]) -> None:
            def with_accumulator(acc: Ref) -> None:
                run_pipeline(acc)
                o_smem[half] = acc[...].astype(o_smem.dtype)  # registers to SMEM
                plgpu.commit_smem()  # from here on the TMA unit sees it
                plgpu.copy_smem_to_gmem(o_smem.at[half], o_gmem.at[rows, cols].at[half])
                plgpu.wait_smem_to_gmem(0)

            pl.run_scoped(with_accumulator, plgpu.WGMMAAccumulatorRef((bm // 2, bn), jnp.float32))  # starts as zeros

        plgpu.emit_pipeline_warp_specialized(
            multiply,
            grid=(steps,),
            in_specs=[
                plgpu.BlockSpec((bm, bk), lambda step: (0, step), transforms=FOR_WGMMA),
                plgpu.BlockSpec((bk, bn), lambda step: (step, 0), transforms=FOR_WGMMA),
            ],
            wg_axis="warpgroup",
            num_compute_wgs=2,
            memory_registers=40,  # enough for a warpgroup that only copies
            max_concurrent_steps=slots,
            compute_context=compute,
        )(x_gmem.at[rows], y_gmem.at[:, cols])

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((m, n), x.dtype),
        grid=grid,
        grid_names=("i", "j"),
        num_threads=3,  # warpgroups, not CUDA threads
        thread_name="warpgroup",
        scratch_types=[plgpu.SMEM((bm, bn), x.dtype, transforms=FOR_WGMMA)],
        interpret=interpret,
    )(x, y)


def blocks_in(axis: str, size: int, block: int) -> int:
    """How many blocks an axis has."""
    if size % block or not size:
        fits = [fit for fit in (size - size % block, size - size % block + block) if fit]
        nearest = " and ".join(map(str, fits))
        raise ValueError(f"axis {axis} is {size}, no positive multiple of its block {block}; nearest fit: {nearest}")
    return size // block


if __name__ == "__main__":
    import numpy as np
    import reference  # the file beside this one

    chip = jax.devices()[0]
    is_hopper = getattr(chip, "compute_capability", "") == "9.0"
    where = f"on {chip.device_kind}" if is_hopper else "interpreted"

    rng = np.random.default_rng(0)  # small whole numbers: every product and every sum is exact, until the last rounding
    x, y = (rng.integers(-2, 3, shape).astype(jnp.bfloat16) for shape in [(256, 320), (320, 256)])
    expected = reference.gpu_matmul(x.astype(np.float64), y.astype(np.float64)).astype(jnp.bfloat16)  # [256, 256]
    with jax.default_device(chip if is_hopper else jax.devices("cpu")[0]):
        interpret = False if is_hopper else plgpu.InterpretGPUParams(detect_races=True)
        o = np.asarray(gpu_matmul(jnp.asarray(x), jnp.asarray(y), interpret=interpret))
    error = np.abs(o.astype(np.float64) - expected.astype(np.float64)).max()
    print(f"gpu_matmul: {list(x.shape)} @ {list(y.shape)} -> {list(o.shape)}, {where}, largest error {error:g}")
