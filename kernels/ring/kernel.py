"""An all-gather around a ring of devices, by remote DMA.

Each device starts with one block of the array and ends with all of it. At every step it passes on the block that came
last, at first its own, to its right neighbor, straight from its own HBM into the neighbor's. With n devices that takes
n - 1 steps, and every link of the ring is busy in all of them.

Run this file to see it at work: `python kernels/ring/kernel.py`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import Mesh, NamedSharding, PartitionSpec

LANES = 128

IN_HBM = pl.BlockSpec(memory_space=pl.ANY)  # the operand stays where it is; the kernel copies its blocks


def all_gather(x: jax.Array, *, mesh: Mesh, interpret: object = False) -> jax.Array:
    """Every device's copy of x, of which each has one block of rows to begin with; copy i is on device i.

    Shapes: x[m, 128] to [n, m, 128] for the n devices of mesh axis "x", no grid;
        a device sees x[m/n, 128] and o[n, m/n, 128].
    Units: each device sends, and receives, 128·itemsize·m·(n - 1)/n bytes, in n - 1 copies.
    Errors: ValueError where m is no positive multiple of n, a row is not 128 wide or there are fewer than two devices.
    Source: jax/_src/pallas/mosaic/primitives.py, `make_async_remote_copy`.
    """
    n = mesh.shape["x"]
    if n == 1:
        raise ValueError("a ring takes at least 2 devices, but axis x of the mesh has 1")
    if x.shape[1:] != (LANES,) or not x.shape[0] or x.shape[0] % n:
        raise ValueError(f"x must be [m, {LANES}] with m a positive multiple of {n}, but it is {list(x.shape)}")

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref, copied: jax.Ref, sent: jax.Ref, received: jax.Ref) -> None:
        me = lax.axis_index("x")
        left, right = lax.rem(me + n - 1, n), lax.rem(me + 1, n)

        # Nobody may write to a neighbor that has not begun: its memory may still be in use for something else.
        ready = pltpu.get_barrier_semaphore()
        for neighbor in (left, right):
            pl.semaphore_signal(ready, device_id={"x": neighbor})
        pl.semaphore_wait(ready, 2)  # both have signaled; the semaphore is 0 again

        own = pltpu.make_async_copy(x_ref, o_ref.at[me], copied)
        own.start()
        own.wait()
        for step in range(n - 1):
            block = lax.rem(me + n - step, n)  # my own, then my left neighbor's, then that of its left neighbor, ...
            hop = pltpu.make_async_remote_copy(
                o_ref.at[block],  # here
                o_ref.at[block],  # there, on device `right`
                sent.at[step],  # counts here, as the block is read
                received.at[step],  # counts there, as it arrives; one for each step, for I may be a step ahead
                device_id={"x": right},
            )
            hop.start()
            hop.wait()  # until my block has left, and until the one from my left neighbor is here

    def per_device(x: jax.Array) -> jax.Array:
        o = pl.pallas_call(
            kernel,
            in_specs=[IN_HBM],
            out_specs=IN_HBM,
            out_shape=jax.ShapeDtypeStruct((n, *x.shape), x.dtype),  # [m/n, 128] -> [n, m/n, 128]
            scratch_shapes=[pltpu.SemaphoreType.DMA, *[pltpu.SemaphoreType.DMA((n - 1,))] * 2],
            compiler_params=pltpu.CompilerParams(collective_id=0),  # which barrier semaphore: the same on all devices
            interpret=interpret,
        )(x)
        return o.reshape(1, -1, LANES)  # [n, m/n, 128] -> [1, m, 128], this device's copy

    split = PartitionSpec("x")
    placed = jax.device_put(x, NamedSharding(mesh, split))  # [m, 128], a block of [m/n, 128] on each device
    return jax.shard_map(per_device, mesh=mesh, in_specs=split, out_specs=split, check_vma=False)(placed)


if __name__ == "__main__":
    import numpy as np
    import reference  # the file beside this one

    jax.config.update("jax_num_cpu_devices", 4)  # before the first question about devices; a TPU has its own number
    on_tpu = jax.default_backend() == "tpu" and jax.device_count() > 1
    devices = jax.devices() if on_tpu else jax.devices("cpu")
    mesh = Mesh(np.array(devices), ("x",))

    x = jnp.arange(len(devices) * 8 * LANES, dtype=jnp.float32).reshape(-1, LANES)  # [n * 1024] -> [n * 8, 128]
    o = np.asarray(all_gather(x, mesh=mesh, interpret=False if on_tpu else pltpu.InterpretParams()))
    error = np.abs(o - reference.all_gather(np.asarray(x), devices=len(devices))).max()
    where = f"on {len(devices)} TPU devices" if on_tpu else f"on {len(devices)} simulated devices"
    print(f"all_gather: {list(x.shape)} -> {list(o.shape)}, {where}, largest error {error:g}")
