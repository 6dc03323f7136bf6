"""Groups of rows that lie behind each other in one array, each of another length, and the sum of each.

Where a group begins and how many rows it has is data: two tables in scalar memory (SMEM), which the index map reads.
A `pl.BoundedSlice` has a start and a size at each step, so a short group moves fewer tiles than a long one.

Run this file to see it at work: `python kernels/groups/kernel.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS, LANES = 8, 128  # one float32 tile: 8 sublanes of 128 lanes
MOST = 16  # rows of a group, for which a window in VMEM has room

IN_HBM = pl.BlockSpec(memory_space=pl.ANY)  # the operand stays where it is; the pipeline moves its blocks
IN_SMEM = pl.BlockSpec(memory_space=pltpu.SMEM)


def group_sums(starts: jax.Array, sizes: jax.Array, x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The sum of each group of rows: sizes[g] of them, from row starts[g] on; step g reads the tiles of group g.

    A copy is of whole tiles of 8 rows, so a start is a multiple of 8, and the body masks what is not of its group. Both
    tables are data, which no trace sees: a start that is none, or a group of more than 16 rows, is not found here.

    Shapes: starts[g], sizes[g], x[m, 128] to [8g, 128], grid (g,); a step sees up to 16 rows of x and o[8, 128], where
        every row is the sum.
    Units: SMEM 8·g bytes; VMEM 2·(8192 + 4096) bytes in float32.
    Source: jax/_src/pallas/core.py, `BoundedSlice`.
    """
    groups = starts.shape[0]

    def kernel(starts_ref: jax.Ref, sizes_ref: jax.Ref, x_hbm: jax.Ref, o_hbm: jax.Ref) -> None:
        def add(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
            row = jax.lax.broadcasted_iota(jnp.int32, x_ref.shape, 0)
            mine = row < sizes_ref[pl.program_id(0)]
            total = jnp.where(mine, x_ref[...], 0.0).sum(0, keepdims=True)  # [16, 128] -> [1, 128]
            o_ref[...] = jnp.broadcast_to(total, o_ref.shape)

        pltpu.emit_pipeline(
            add,
            grid=(groups,),
            in_specs=[
                pl.BlockSpec(
                    (pl.BoundedSlice(MOST), LANES),
                    lambda g: (pl.ds(pl.multiple_of(starts_ref[g], ROWS), sizes_ref[g]), 0),  # from where, how many
                )
            ],
            out_specs=[pl.BlockSpec((ROWS, LANES), lambda g: (g, 0))],
        )(x_hbm, o_hbm)

    return pl.pallas_call(
        kernel,
        in_specs=[IN_SMEM, IN_SMEM, IN_HBM],
        out_specs=IN_HBM,
        out_shape=jax.ShapeDtypeStruct((groups * ROWS, LANES), x.dtype),
        interpret=interpret,
    )(starts, sizes, x)


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

    starts, sizes = jnp.array([0, 8, 16]), jnp.array([5, 8, 16])
    x = jnp.arange(32.0)[:, None] * jnp.ones((1, LANES))  # [32, 128]: row r holds r
    with chip:
        y = np.asarray(group_sums(starts, sizes, x, interpret=False if on_tpu else pltpu.InterpretParams()))
    error = np.abs(y - reference.group_sums(*map(np.asarray, (starts, sizes, x)))).max()
    where = "on a TPU" if on_tpu else "interpreted"
    print(f"group_sums: {len(sizes)} groups of {list(x.shape)} -> {list(y.shape)}, {where}, largest error {error:g}")
