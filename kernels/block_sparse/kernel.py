"""A matrix product in which the grid walks over the nonzero blocks of x, and over no others.

Which blocks these are is data, so the index maps have to read it.
`pltpu.PrefetchScalarGridSpec` brings the index arrays to scalar memory (SMEM) before the first grid step,
and hands them to every index map, after the grid indices, and to the body, before the blocks.

Run this file to see it at work: `python kernels/block_sparse/kernel.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def pack(x: np.ndarray, bm: int, bk: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the nonzero blocks of x are, and the blocks themselves, one row of blocks after the other.

    A row of blocks that is all zero keeps its first: an output block that no step visits would never be written.

    Shapes: x[m, k] to rows[t], cols[t], blocks[t, bm, bk].
    Errors: ValueError where m or k is no positive multiple of its block.
    """
    high, wide = blocks_in("m", x.shape[0], bm), blocks_in("k", x.shape[1], bk)
    tiles = x.reshape(high, bm, wide, bk).swapaxes(1, 2)  # [m, k] -> [m/bm, k/bk, bm, bk]
    kept = (tiles != 0).any(axis=(2, 3))  # [m/bm, k/bk]
    kept[:, 0] |= ~kept.any(axis=1)
    rows, cols = np.nonzero(kept)  # in row-major order, so the blocks of a row stand together
    return rows.astype(np.int32), cols.astype(np.int32), tiles[rows, cols]


def block_sparse_matmul(
    rows: jax.Array,
    cols: jax.Array,
    blocks: jax.Array,
    y: jax.Array,
    *,
    m: int,
    bn: int = 128,
    interpret: object = False,
) -> jax.Array:
    """The product x @ y in float32; block t of x stands in block row rows[t] and block column cols[t].

    `rows` ascends and names every block row at least once. `pack` makes it so; here it is data, which no trace sees.

    Shapes: rows[t], cols[t], blocks[t, bm, bk], y[k, n] to [m, n], grid (n/bn, t), last axis sequential;
        a step sees one block of x, y[bk, bn] and o[bm, bn].
    Units: SMEM 8·t bytes; VMEM 2·(bm·bk + bk·bn) elements of input and 2·4·bm·bn bytes of output.
    Errors: ValueError where m, k or n is no positive multiple of its block.
    Source: jax/_src/pallas/mosaic/core.py, `PrefetchScalarGridSpec`.
    """
    (count, bm, bk), (k, n) = blocks.shape, y.shape
    blocks_in("m", m, bm)
    blocks_in("k", k, bk)
    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=2,  # the first two operands: rows and cols
        grid=(blocks_in("n", n, bn), count),
        in_specs=[
            pl.BlockSpec((None, bm, bk), lambda j, t, rows, cols: (t, 0, 0)),  # the blocks, in the order of the list
            pl.BlockSpec((bk, bn), lambda j, t, rows, cols: (cols[t], j)),  # the rows of y that block t multiplies
        ],
        out_specs=pl.BlockSpec((bm, bn), lambda j, t, rows, cols: (rows[t], j)),  # stays in VMEM while rows[t] does
    )
    return pl.pallas_call(
        multiply_and_add,
        grid_spec=spec,
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
        interpret=interpret,
    )(rows, cols, blocks, y)


def multiply_and_add(rows_ref: jax.Ref, cols_ref: jax.Ref, x_ref: jax.Ref, y_ref: jax.Ref, o_ref: jax.Ref) -> None:
    """One grid step: one block of x times one of y, added to the output block of its row."""
    del cols_ref  # only the index maps read it
    t = pl.program_id(1)

    @pl.when((t == 0) | (rows_ref[t] != rows_ref[jnp.maximum(t, 1) - 1]))  # the first block of its row
    def _() -> None:
        o_ref[...] = jnp.zeros(o_ref.shape, o_ref.dtype)

    o_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)  # [bm, bk] @ [bk, bn]


def blocks_in(axis: str, size: int, block: int) -> int:
    """How many blocks an axis has."""
    if size % block or not size:
        fits = [fit for fit in (size - size % block, size - size % block + block) if fit]
        nearest = " and ".join(map(str, fits))
        raise ValueError(f"axis {axis} is {size}, no positive multiple of its block {block}; nearest fit: {nearest}")
    return size // block


if __name__ == "__main__":
    import reference  # the file beside this one

    on_tpu = jax.default_backend() == "tpu"
    rng = np.random.default_rng(0)
    x = rng.integers(-4, 5, (4, 64, 4, 128)) * np.eye(4)[:, None, :, None]  # [4, 64, 4, 128], nonzero on a diagonal
    x = x.reshape(256, 512).astype(np.float32)  # -> [256, 512]
    y = rng.integers(-4, 5, (512, 256)).astype(np.float32)  # small whole numbers: every product and sum is exact
    rows, cols, blocks = pack(x, 64, 128)
    o = np.asarray(block_sparse_matmul(*map(jnp.asarray, (rows, cols, blocks, y)), m=256, interpret=not on_tpu))
    error = np.abs(o - reference.block_sparse_matmul(rows, cols, blocks, y, m=256)).max()
    where = "on a TPU" if on_tpu else "interpreted"
    print(f"block_sparse_matmul: {len(blocks)} of 16 blocks, {list(o.shape)}, {where}, largest error {error:g}")
