"""Asks the jax of this process which backend of Pallas a GPU gets, for one way to call a kernel.

`releases.py` runs it with the Python of an environment that has that jax, and nothing of this project.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
import warnings

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

CHIP, CORES = "NVIDIA H100 80GB HBM3", 132


def parameters(way: str) -> dict[str, object]:
    """The options of `pallas_call` for a way: `default`, `triton` or `mosaic_gpu`."""
    if way == "triton":
        from jax.experimental.pallas import triton  # noqa: PLC0415 -- to import a backend can register it

        return {"compiler_params": triton.CompilerParams()}
    if way == "mosaic_gpu":
        from jax.experimental.pallas import mosaic_gpu  # noqa: PLC0415 -- as above

        return {"compiler_params": mosaic_gpu.CompilerParams()}
    return {}


def asked(way: str) -> dict[str, object]:
    """The custom calls that a kernel of 4 steps over 1,024 numbers became, what jax warned of, and its error."""

    def double(x_ref: jax.Ref, o_ref: jax.Ref) -> None:
        o_ref[...] = x_ref[...] * 2.0

    x = jnp.zeros((1024,), jnp.float32)
    block = pl.BlockSpec((256,), lambda i: (i,))
    call = pl.pallas_call(double, out_shape=x, grid=(4,), in_specs=[block], out_specs=block, **parameters(way))  # pyright: ignore[reportArgumentType] -- as each release has them
    mesh = jax.sharding.AbstractMesh((), (), abstract_device=jax.sharding.AbstractDevice(CHIP, CORES, "gpu"))
    calls, error = list[str](), ""
    with jax.sharding.use_abstract_mesh(mesh), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            text = jax.jit(call).trace(x).lower(lowering_platforms=("cuda",)).as_text()
            calls = sorted(set(re.findall(r"custom_call @([\w$.]+)", text)))
        except (AssertionError, NotImplementedError, ValueError) as raised:
            error = f"{type(raised).__name__}: {raised}"
    warned = [str(one.message) for one in told]
    versions = {"jax": jax.__version__, "jaxlib": importlib.metadata.version("jaxlib")}
    return {**versions, "calls": calls, "warned": warned, "error": error}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asked(sys.argv[1])))
