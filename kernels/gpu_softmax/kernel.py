"""The softmax of each row of a matrix: one row a warpgroup, read once, kept in registers, written once.

There is no copy and no barrier to be seen: to index a reference in global memory is to load it into registers, spread
over the 128 threads of the warpgroup. `max` and `sum` first reduce within a thread, then within a warp by shuffles,
then between the four warps through a little shared memory, which the compiler sets aside.

Run this file to see it at work: `python kernels/gpu_softmax/kernel.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

THREADS = 128  # of a warpgroup


def gpu_softmax(x: jax.Array, *, interpret: object = False) -> jax.Array:
    """exp(x) / sum(exp(x)) along each row, with the row's largest element taken off first so that no exp overflows.

    Shapes: x[m, n] to [m, n], grid (m,); a block sees x[n] and o[n].
    Units: n/128 float32 registers of each thread; GMEM reads and writes m·n elements each.
    Errors: ValueError where n is no positive multiple of 128, or there is no row.
    Source: jax/experimental/pallas/ops/gpu/softmax.py at the pin, from Triton to Mosaic GPU.
    """
    m, n = x.shape
    if n % THREADS or not x.size:
        raise ValueError(f"x must be [m, n] with n a positive multiple of {THREADS}, but it is {list(x.shape)}")

    def kernel(x_gmem: jax.Ref, o_gmem: jax.Ref) -> None:
        i = jax.lax.axis_index("row")
        row = x_gmem[i].astype(jnp.float32)  # [m, n] -> [n], n/128 elements a thread
        powers = jnp.exp(row - jnp.max(row))
        o_gmem[i] = (powers / jnp.sum(powers)).astype(o_gmem.dtype)

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(m,),
        grid_names=("row",),
        interpret=interpret,
    )(x)


if __name__ == "__main__":
    import numpy as np
    import reference  # the file beside this one

    chip = jax.devices()[0]
    on_gpu = getattr(chip, "compute_capability", "") in {"9.0", "10.0"}  # Hopper, Blackwell
    where = f"on {chip.device_kind}" if on_gpu else "interpreted"

    x = np.random.default_rng(0).standard_normal((16, 1024), np.float32)
    with jax.default_device(chip if on_gpu else jax.devices("cpu")[0]):
        interpret = False if on_gpu else plgpu.InterpretGPUParams(detect_races=True)
        y = np.asarray(gpu_softmax(jnp.asarray(x), interpret=interpret))
    expected = reference.gpu_softmax(x.astype(np.float64))
    error = (np.abs(y - expected) / expected).max()
    print(f"gpu_softmax: {list(x.shape)} -> {list(y.shape)}, {where}, largest relative error {error:.1g}")
