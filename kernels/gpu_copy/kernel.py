"""Two copies from global memory (GMEM) to shared memory (SMEM) and back, by the TMA unit of a Hopper or Blackwell GPU.

The threads of a block only say what is to be copied, and wait for it; the unit moves the bytes.
`gpu_copy` gives each block one tile.
`gpu_stream` gives each block a column of tiles and two slots, so that a tile comes in while another goes out.

Run this file to see both at work: `python kernels/gpu_copy/kernel.py`.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLS = 64, 128  # one tile; a TMA copy is at most 256 elements long on each axis

Ref = Any  # jax gives its GPU primitives types of its own for a reference, and `jax.Ref` is none of them


def gpu_copy(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """The input, copied; block (i, j) of the grid moves tile (i, j).

    Shapes: x[m, n] to [m, n], grid (m/64, n/128); a block sees one tile[64, 128].
    Units: SMEM 8192 elements and 8 bytes of barrier.
    Errors: ValueError where m or n is no positive multiple of the tile.
    Source: jax/_src/pallas/mosaic_gpu/primitives.py, `copy_gmem_to_smem` and `copy_smem_to_gmem`.
    """
    grid = tiles_in("m", x.shape[0], ROWS), tiles_in("n", x.shape[1], COLS)

    def kernel(x_gmem: Ref, o_gmem: Ref, tile: Ref, arrived: Ref) -> None:
        rows = pl.ds(jax.lax.axis_index("i") * ROWS, ROWS)
        cols = pl.ds(jax.lax.axis_index("j") * COLS, COLS)
        plgpu.copy_gmem_to_smem(x_gmem.at[rows, cols], tile, arrived)  # asks for the copy, and goes on
        plgpu.barrier_wait(arrived)  # the unit arrives at the barrier with the last byte
        plgpu.copy_smem_to_gmem(tile, o_gmem.at[rows, cols])
        plgpu.wait_smem_to_gmem(0)  # copies out have no barrier: wait until none of them is left

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=grid,
        grid_names=("i", "j"),
        scratch_types=[plgpu.SMEM((ROWS, COLS), x.dtype), plgpu.Barrier()],
        interpret=interpret,
    )(x)


def gpu_stream(x: jax.Array, *, steps: int = 4, interpret: object = False) -> jax.Array:
    """The input, copied; block (i, j) of the grid moves `steps` tiles of tile column j, one below the other.

    Shapes: x[m, n] to [m, n], grid (m/64/steps, n/128); a block sees tiles[2, 64, 128].
    Units: SMEM 2·8192 elements and 2·8 bytes of barriers.
    Errors: ValueError where m or n is no positive multiple of the tiles of a block.
    Source: jax/_src/pallas/mosaic_gpu/pipeline.py, `emit_pipeline`, simplified: inputs and outputs share their slots.
    """
    grid = tiles_in("m", x.shape[0], steps * ROWS), tiles_in("n", x.shape[1], COLS)

    def kernel(x_gmem: Ref, o_gmem: Ref, tiles: Ref, arrived: Ref) -> None:
        first = jax.lax.axis_index("i") * steps
        cols = pl.ds(jax.lax.axis_index("j") * COLS, COLS)

        def fetch(step: int | jax.Array, slot: int | jax.Array) -> None:
            rows = pl.ds((first + step) * ROWS, ROWS)
            plgpu.copy_gmem_to_smem(x_gmem.at[rows, cols], tiles.at[slot], arrived.at[slot])

        fetch(0, 0)

        @pl.loop(0, steps)
        def _(step: jax.Array) -> None:
            slot = step % 2

            @pl.when(step + 1 < steps)
            def _() -> None:
                plgpu.wait_smem_to_gmem(0, wait_read_only=True)  # the other slot has been read, and may be filled
                fetch(step + 1, 1 - slot)

            plgpu.barrier_wait(arrived.at[slot])
            plgpu.copy_smem_to_gmem(tiles.at[slot], o_gmem.at[pl.ds((first + step) * ROWS, ROWS), cols])

        plgpu.wait_smem_to_gmem(0)

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=grid,
        grid_names=("i", "j"),
        scratch_types=[plgpu.SMEM((2, ROWS, COLS), x.dtype), plgpu.Barrier(num_barriers=2)],
        interpret=interpret,
    )(x)


def tiles_in(axis: str, size: int, tile: int) -> int:
    """How many tiles an axis has."""
    if size % tile or not size:
        fits = [fit for fit in (size - size % tile, size - size % tile + tile) if fit]
        nearest = " and ".join(map(str, fits))
        raise ValueError(f"axis {axis} is {size}, no positive multiple of its tile {tile}; nearest fit: {nearest}")
    return size // tile


if __name__ == "__main__":
    import numpy as np
    import reference  # the file beside this one

    chip = jax.devices()[0]
    has_tma = getattr(chip, "compute_capability", "") in {"9.0", "10.0"}  # Hopper, Blackwell
    where = f"on {chip.device_kind}" if has_tma else "interpreted"

    x = jnp.arange(512.0 * 256).reshape(512, 256)  # [131072] -> [512, 256]
    with jax.default_device(chip if has_tma else jax.devices("cpu")[0]):
        for run in (gpu_copy, gpu_stream):
            y = np.asarray(run(x, interpret=False if has_tma else plgpu.InterpretGPUParams(detect_races=True)))
            error = np.abs(y - reference.same(np.asarray(x))).max()
            print(f"{run.__name__}: {list(x.shape)} -> {list(y.shape)}, {where}, largest error {error:g}")
