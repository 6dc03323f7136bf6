"""A matrix product for the Triton backend of Pallas, deprecated and still the short way to a GPU's tensor cores.

The kernel says which blocks to multiply. How they come through shared memory, what the threads do and which instruction
multiplies (`wgmma` on Hopper, `tcgen05.mma` on Blackwell) is for the compiler to find.

Run this file to see it at work: `python kernels/triton_matmul/kernel.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as pltriton


def triton_matmul(
    x: jax.Array,
    y: jax.Array,
    *,
    bm: int = 128,
    bn: int = 128,
    bk: int = 64,
    interpret: object = False,
) -> jax.Array:
    """The product x @ y of two 16-bit matrices, added up in float32 and rounded once, to the type of x.

    Shapes: x[m, k], y[k, n] to [m, n], grid (m/bm, n/bn); a block sees x[bm, k], y[k, bn] and o[bm, bn], and loads
        x[bm, bk] and y[bk, bn] at a time.
    Units: bm·bn/256 accumulator registers of each of 256 threads; SMEM 3·2·(bm·bk + bk·bn) bytes, one buffer a stage.
    Errors: ValueError where m, n or k is no positive multiple of its block, naming the axis and the nearest fits.
    Source: jax/_src/pallas/triton/lowering.py, `_dot_general_lowering`.
    """
    (m, k), n = x.shape, y.shape[1]
    grid, steps = (blocks_in("m", m, bm), blocks_in("n", n, bn)), blocks_in("k", k, bk)

    def kernel(x_ref: jax.Ref, y_ref: jax.Ref, o_ref: jax.Ref) -> None:
        def step(i: jax.Array, acc: jax.Array) -> jax.Array:
            at = pl.ds(i * bk, bk)
            return acc + jnp.dot(x_ref[:, at], y_ref[at, :], preferred_element_type=jnp.float32)  # [bm, bk] @ [bk, bn]

        acc = jax.lax.fori_loop(0, steps, step, jnp.zeros((bm, bn), jnp.float32))  # stays in registers
        o_ref[...] = acc.astype(o_ref.dtype)

    return pl.pallas_call(
        kernel,
        grid=grid,
        in_specs=[
            pl.BlockSpec((bm, k), lambda i, _: (i, 0)),  # nothing is copied here: a block is where its pointer starts
            pl.BlockSpec((k, bn), lambda _, j: (0, j)),
        ],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        compiler_params=pltriton.CompilerParams(num_warps=8, num_stages=3),  # 256 threads; loads run two steps ahead
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

    on_gpu = jax.default_backend() == "gpu"
    where = f"on {jax.devices()[0].device_kind}" if on_gpu else "interpreted"

    rng = np.random.default_rng(0)  # small whole numbers: every product and every sum is exact, also in float16
    x, y = (rng.integers(-2, 3, shape).astype(np.float16) for shape in [(256, 320), (320, 256)])
    o = np.asarray(triton_matmul(jnp.asarray(x), jnp.asarray(y), interpret=not on_gpu))
    error = np.abs(o - reference.triton_matmul(x.astype(np.float64), y.astype(np.float64))).max()
    print(f"triton_matmul: {list(x.shape)} @ {list(y.shape)} -> {list(o.shape)}, {where}, largest error {error:g}")
