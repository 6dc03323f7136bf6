"""A kernel is called on an array that is spread over several devices.

"Mosaic kernels cannot be automatically partitioned. Please wrap the call in a shard_map."
XLA can split its own operations over devices. A kernel is one opaque call to it: `jax.shard_map` says what each device
gets. In an interpreter the kernel is made of XLA's own operations, and is split like them.
"""

from __future__ import annotations

import jax
from jax.experimental import pallas as pl
from jax.sharding import Mesh, NamedSharding, PartitionSpec

ROWS, LANES = 8, 128


def not_partitioned(x: jax.Array, *, mesh: Mesh, interpret: object = False) -> jax.Array:
    """Twice the input, whose rows are spread over the devices.

    Shapes: x[m, 128] to [m, 128], grid (m/8,).
    """

    def kernel(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = 2.0 * x_ref[...]

    def double(x: jax.Array) -> jax.Array:
        spec = pl.BlockSpec((ROWS, LANES), lambda i: (i, 0))
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        grid = (x.shape[0] // ROWS,)
        call = pl.pallas_call(kernel, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape, interpret=interpret)
        return call(x)  # wrong: `jax.shard_map` has to split it

    rows = NamedSharding(mesh, PartitionSpec("x"))
    return jax.jit(double, in_shardings=rows, out_shardings=rows)(x)
