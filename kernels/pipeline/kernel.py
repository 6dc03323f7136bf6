"""Two kernels that stream an array through VMEM, block by block, with `pltpu.emit_pipeline`.

`scaled_copy` fetches a new input block at every step.
`revisit` uses each input block at two steps in a row, so every second fetch can be left out.

Run this file to see both at work: `python kernels/pipeline/kernel.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS, LANES = 8, 128  # one float32 tile: 8 sublanes of 128 lanes

IN_HBM = pl.BlockSpec(memory_space=pl.ANY)  # the operand stays where it is; the pipeline moves its blocks


def scaled_copy(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input; step i reads input block i and writes output block i.

    Shapes: x[m, 128] to [m, 128], grid (m/8,); a step sees x[8, 128] and o[8, 128].
    Units: VMEM 2·(4096 + 4096) bytes, two buffers for the input and two for the output.
    Errors: ValueError where m is no positive multiple of 8 or a row is not 128 wide.
    Source: jax/_src/pallas/mosaic/pipeline.py, `emit_pipeline`.
    """
    steps = blocks_of(x)

    def kernel(x_hbm: jax.Ref, o_hbm: jax.Ref) -> None:
        pltpu.emit_pipeline(
            double,
            grid=(steps,),
            in_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))],
            out_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))],
        )(x_hbm, o_hbm)

    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(kernel, in_specs=[IN_HBM], out_specs=IN_HBM, out_shape=shape, interpret=interpret)(x)


def revisit(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, every block twice; step i reads input block i // 2 and writes output block i.

    Shapes: x[m, 128] to [2m, 128], grid (2m/8,); a step sees x[8, 128] and o[8, 128].
    Units: VMEM 2·(4096 + 4096) bytes; HBM reads 512·m bytes, half of what it writes.
    Errors: ValueError where m is no positive multiple of 8 or a row is not 128 wide.
    Source: jax/_src/pallas/mosaic/pipeline.py, `Scheduler.has_changed` and its three companions.
    """
    steps = 2 * blocks_of(x)

    def kernel(x_hbm: jax.Ref, o_hbm: jax.Ref) -> None:
        pltpu.emit_pipeline(
            double,
            grid=(steps,),
            in_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (i // 2, 0))],  # the same block at steps 2i and 2i + 1
            out_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))],
        )(x_hbm, o_hbm)

    shape = jax.ShapeDtypeStruct((2 * x.shape[0], LANES), x.dtype)  # [m, 128] -> [2m, 128]
    return pl.pallas_call(kernel, in_specs=[IN_HBM], out_specs=IN_HBM, out_shape=shape, interpret=interpret)(x)


def double(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """The body of both pipelines: it sees one block in VMEM and knows nothing of the copies around it."""
    o_ref[...] = 2.0 * x_ref[...]


def blocks_of(x: jax.Array) -> int:
    """How many blocks of 8 rows the input has: the extent that the grid is built from."""
    if x.shape[1:] != (LANES,) or not x.shape[0] or x.shape[0] % ROWS:
        raise ValueError(f"x must be [m, {LANES}] with m a positive multiple of {ROWS}, but it is {list(x.shape)}")
    return x.shape[0] // ROWS


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

    x = jnp.arange(4 * ROWS * LANES, dtype=jnp.float32).reshape(4 * ROWS, LANES)  # [4096] -> [32, 128]
    with chip:
        for run, expected in [(scaled_copy, reference.scaled_copy), (revisit, reference.revisit)]:
            y = np.asarray(run(x, interpret=not on_tpu))
            error = np.abs(y - expected(np.asarray(x))).max()
            where = "on a TPU" if on_tpu else "interpreted"
            print(f"{run.__name__}: {list(x.shape)} -> {list(y.shape)}, {where}, largest error {error:g}")
