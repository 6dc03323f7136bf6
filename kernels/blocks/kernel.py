"""The same few rows, cut into blocks in every way that a `BlockSpec` knows.

`doubled_blocks` cuts whole blocks, and a last one that sticks out where the rows do not divide.
`reversed_blocks` has another order, and `each_matrix` drops an axis.
The windows of `neighbor_sum` and `shifted_rows` overlap.
`two_buffers` and `one_buffer` are one kernel whose input block has two places in VMEM, or one.

Run this file to see them at work: `python kernels/blocks/kernel.py`.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128  # one float32 tile of a TPU
OFF = 5  # rows, by which `shifted_rows` shifts
WIDE = 512  # rows and columns of the block that `two_buffers` and `one_buffer` fetch


def double(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """A step: twice its block, whatever the shape of that."""
    o_ref[...] = 2.0 * x_ref[...]


def doubled_blocks(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input; step i reads and writes block i, and the last block need not be full.

    Shapes: x[m, 128] to [m, 128], grid (ceil(m/8),); a step sees x[8, 128] and o[8, 128].
    Units: 8·128·m bytes of traffic in float32, and what the last block has beyond the array.
    Source: jax/_src/pallas/core.py, `Blocked`.
    """
    spec = pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (pl.cdiv(x.shape[0], ROWS),)
    return pl.pallas_call(double, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape, interpret=interpret)(x)


def reversed_blocks(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input with its blocks in reverse: step i writes block i and reads the i-th from the end.

    Shapes: x[m, 128] to [m, 128], grid (m/8,); a step sees x[8, 128] and o[8, 128].
    Source: jax/_src/pallas/core.py, `tracing_grid_env`, by which an index map may ask for the extent of the grid.
    """
    blocks = x.shape[0] // ROWS
    return pl.pallas_call(
        double,
        grid=(blocks,),
        in_specs=[pl.BlockSpec((ROWS, LANES), lambda i: (pl.num_programs(0) - 1 - i, 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=interpret,
    )(x)


def each_matrix(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input, matrix by matrix; the body sees no axis for the batch.

    Shapes: x[b, m, 128] to [b, m, 128], grid (b, m/8); a step sees x[8, 128] and o[8, 128].
    Source: jax/_src/pallas/core.py, `Squeezed`.
    """
    spec = pl.BlockSpec((None, ROWS, LANES), lambda b, i: (b, i, 0))  # None is `pl.squeezed`
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (x.shape[0], x.shape[1] // ROWS)
    return pl.pallas_call(double, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape, interpret=interpret)(x)


def neighbor_sum(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Every block of 8 rows plus the block after it, from windows that overlap by half.

    Shapes: x[m, 128] to [m - 8, 128], grid (m/8 - 1,); a step sees x[16, 128] and o[8, 128].
    Units: every row but 8 at each end is fetched twice.
    Source: jax/_src/pallas/core.py, `Element`.
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = x_ref[:ROWS] + x_ref[ROWS:]  # [16, 128] -> [8, 128]

    steps = x.shape[0] // ROWS - 1
    return pl.pallas_call(
        kernel,
        grid=(steps,),
        in_specs=[pl.BlockSpec((pl.Element(2 * ROWS), pl.Element(LANES)), lambda i: (i * ROWS, 0))],  # in elements
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i: (i, 0)),  # in blocks
        out_shape=jax.ShapeDtypeStruct((steps * ROWS, LANES), x.dtype),
        interpret=interpret,
    )(x)


def shifted_rows(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input without its first 5 rows and its last 3; windows start at whole tiles, and the body shifts.

    Shapes: x[m, 128] to [m - 8, 128], grid (m/8 - 1,); a step sees x[16, 128] and o[8, 128].
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = x_ref[OFF : OFF + ROWS]  # [16, 128] -> [8, 128]

    steps = x.shape[0] // ROWS - 1
    return pl.pallas_call(
        kernel,
        grid=(steps,),
        in_specs=[pl.BlockSpec((pl.Element(2 * ROWS), pl.Element(LANES)), lambda i: (i * ROWS, 0))],
        out_specs=pl.BlockSpec((ROWS, LANES), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((steps * ROWS, LANES), x.dtype),
        interpret=interpret,
    )(x)


def two_buffers(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input by large blocks, with the default of two places in VMEM for each.

    Shapes: x[m, 512] to [m, 512], grid (m/512,); a step sees x[512, 512] and o[512, 512].
    Units: VMEM 2·1 MiB for the input and 2·1 MiB for the output, in float32.
    """
    return doubled_wide(x, None, interpret)


def one_buffer(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """Twice the input by large blocks, with one place for the input's block: no copy into it runs beside the body.

    Shapes: x[m, 512] to [m, 512], grid (m/512,); a step sees x[512, 512] and o[512, 512].
    Units: VMEM 1 MiB for the input and 2·1 MiB for the output, in float32.
    Source: jax/_src/pallas/core.py, `Buffered`.
    """
    return doubled_wide(x, pl.Buffered(1), interpret)


def doubled_wide(x: jax.Array, mode: pl.Buffered | None, interpret: object) -> jax.Array:
    """Twice the input by blocks of 512 rows and columns; `mode` is the input's."""
    return pl.pallas_call(
        double,
        grid=(x.shape[0] // WIDE,),
        in_specs=[pl.BlockSpec((WIDE, WIDE), lambda i: (i, 0), pipeline_mode=mode)],
        out_specs=pl.BlockSpec((WIDE, WIDE), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=interpret,
    )(x)


if __name__ == "__main__":
    import jax.numpy as jnp
    import numpy as np
    import reference  # the file beside this one

    on_tpu = jax.default_backend() == "tpu"
    where = "on a TPU" if on_tpu else "interpreted"
    x = jnp.arange(4 * ROWS * LANES, dtype=jnp.float32).reshape(4 * ROWS, LANES)  # [4096] -> [32, 128]
    wide = jnp.ones((2 * WIDE, WIDE), jnp.float32)
    for run, expected, given in [
        (doubled_blocks, reference.doubled, x[:20]),
        (reversed_blocks, reference.reversed_blocks, x),
        (each_matrix, reference.doubled, x.reshape(2, 2 * ROWS, LANES)),  # [32, 128] -> [2, 16, 128]
        (neighbor_sum, reference.neighbor_sum, x),
        (shifted_rows, reference.off_by_some_rows, x),
        (two_buffers, reference.doubled, wide),
        (one_buffer, reference.doubled, wide),
    ]:
        y = np.asarray(run(given, interpret=not on_tpu))
        error = np.abs(y - expected(np.asarray(given))).max()
        print(f"{run.__name__}: {list(given.shape)} -> {list(y.shape)}, {where}, largest error {error:g}")
