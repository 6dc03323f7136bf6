"""The tiled matrix product with its pipeline in sight: one `pallas_call` without a grid, and the grid inside it.

The matrices stay in HBM, and `pltpu.emit_pipeline` brings their tiles to VMEM, two buffers each, while the body works.
A `pallas_call` with a grid does the same behind the curtain; written out, it can be placed, nested, and run twice.

Run this file to see it at work: `python kernels/matmul_pipeline/kernel.py`.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

IN_HBM = pl.BlockSpec(memory_space=pl.ANY)  # the operand stays where it is; the pipeline moves its tiles


def matmul_pipeline(
    x: jax.Array, y: jax.Array, *, bm: int = 128, bn: int = 128, bk: int = 128, interpret: object = False
) -> jax.Array:
    """The product x @ y; step (i, j, k) adds the product of tile (i, k) of x and tile (k, j) of y to tile (i, j).

    Shapes: x[m, k] and y[k, n] to [m, n], pipeline grid (m/bm, n/bn, k/bk);
        a step sees x[bm, bk], y[bk, bn], o[bm, bn] and acc[bm, bn].
    Units: 2·m·n·k floating-point operations; VMEM 4·bm·bn + 2·itemsize·(bm·bk + bk·bn + bm·bn) bytes,
        two buffers for each block and one for the sum.
    Errors: ValueError where x and y do not fit each other, or m, n or k is no positive multiple of its block.
    Source: jax/_src/pallas/mosaic/pipeline.py, `emit_pipeline`.
    """
    (m, k), (height, n) = x.shape, y.shape
    if (height, y.dtype) != (k, x.dtype):
        raise ValueError(f"y must be {x.dtype}[{k}, n] to fit x, but it is {y.dtype}{list(y.shape)}")
    grid = (blocks_in("m", m, bm), blocks_in("n", n, bn), blocks_in("k", k, bk))

    def kernel(x_hbm: jax.Ref, y_hbm: jax.Ref, o_hbm: jax.Ref, acc_ref: jax.Ref) -> None:
        pltpu.emit_pipeline(
            functools.partial(add_tile, acc_ref=acc_ref, last=grid[2] - 1),
            grid=grid,
            in_specs=[
                pl.BlockSpec((bm, bk), lambda i, _, k: (i, k)),
                pl.BlockSpec((bk, bn), lambda _, j, k: (k, j)),
            ],
            out_specs=[pl.BlockSpec((bm, bn), lambda i, j, _: (i, j))],
        )(x_hbm, y_hbm, o_hbm)

    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        in_specs=[IN_HBM, IN_HBM],
        out_specs=IN_HBM,
        scratch_shapes=[pltpu.VMEM((bm, bn), jnp.float32)],  # lives as long as the call, so across the pipeline's steps
        interpret=interpret,
    )(x, y)


def add_tile(x_ref: jax.Ref, y_ref: jax.Ref, o_ref: jax.Ref, *, acc_ref: jax.Ref, last: int) -> None:
    """The pipeline's body: `program_id` counts the pipeline's grid here, not that of the call."""

    @pl.when(pl.program_id(2) == 0)
    def clear() -> None:
        acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)

    # [bm, bk] @ [bk, bn] -> [bm, bn]
    acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    @pl.when(pl.program_id(2) == last)
    def store() -> None:
        o_ref[...] = acc_ref[...].astype(o_ref.dtype)


def blocks_in(axis: str, size: int, block: int) -> int:
    """How many blocks an axis has."""
    if size % block or not size:
        fits = [fit for fit in (size - size % block, size - size % block + block) if fit]
        nearest = " and ".join(map(str, fits))
        raise ValueError(f"axis {axis} is {size}, no positive multiple of its block {block}; nearest fit: {nearest}")
    return size // block


if __name__ == "__main__":
    import contextlib

    import numpy as np
    import reference  # the file beside this one

    on_tpu = jax.default_backend() == "tpu"
    if on_tpu:
        chip = contextlib.nullcontext()
    else:  # the pipeline asks which chip it runs on, so name one for the interpreter to play
        v5e = jax.sharding.AbstractDevice(device_kind="TPU v5 lite", num_cores=1, platform="tpu")
        chip = jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), (), abstract_device=v5e))

    x, y = jax.random.uniform(jax.random.key(0), (2, 256, 256), jnp.bfloat16, -1.0, 1.0)  # 2 of [256, 256]
    with chip:
        z = matmul_pipeline(x, y, interpret=not on_tpu)
    expected = reference.matmul_pipeline(np.asarray(x, np.float64), np.asarray(y, np.float64))
    error = np.abs(np.asarray(z, np.float64) - expected).max()
    where = "on a TPU" if on_tpu else "interpreted"
    print(f"matmul_pipeline: {list(x.shape)} @ {list(y.shape)}, {where}, largest error {error:.2g}")
