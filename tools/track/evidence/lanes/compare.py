"""Comparing what a kernel computed with what NumPy says it should have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import tpu_info

from track.evidence.record import Measures, Numbers, Verdict

if TYPE_CHECKING:
    from kernels.contract import Case, Kernel, Tolerance

__all__ = ["on_cpu", "pretend_tpu", "run", "verdict_on"]

DEVICE_KIND = "TPU v5 lite"


def pretend_tpu() -> None:
    """Let the CPU answer as a TPU v5e core where the pipeline code asks which chip it is on."""
    version = tpu_info.chip_version_from_device_kind(DEVICE_KIND)
    if version is None:
        raise LookupError(f"tpu_info knows no {DEVICE_KIND!r}")
    tpu_info.registry["cpu"] = lambda: tpu_info.get_tpu_info_for_chip(version, 1)


def run(kernel: Kernel, case: Case, interpret: object) -> np.ndarray:
    """The kernel's output on the inputs of the case; with several devices, that of the mesh as a whole."""
    function = on_cpu(kernel, interpret)
    inputs = [jnp.asarray(array) for array in case.inputs()]
    return np.asarray(jax.block_until_ready(function(*inputs)))


def on_cpu(kernel: Kernel, interpret: object) -> Callable[..., jax.Array]:
    """The kernel's function, on as many devices of the CPU as it wants; to be called before any other use of jax."""
    if kernel.devices == 1:
        return functools.partial(kernel.function, interpret=interpret)
    if jax.config.jax_num_cpu_devices != kernel.devices:
        jax.config.update("jax_num_cpu_devices", kernel.devices)
    mesh = jax.sharding.Mesh(np.array(jax.devices("cpu")), ("x",))
    return functools.partial(kernel.function, mesh=mesh, interpret=interpret)


def verdict_on(kernel: Kernel, case: Case, found: np.ndarray) -> Verdict:
    """`ok` or `wrong`, with the numbers."""
    expected = np.asarray(kernel.reference(*map(widened, case.inputs())))
    if found.shape != expected.shape:
        return Verdict("wrong", f"the output is {list(found.shape)}, the reference {list(expected.shape)}")
    numbers = compare(found.astype(np.float64), expected, case.tolerance)
    if numbers.differing:
        error = f"{numbers.differing} of {numbers.elements} elements differ from the reference"
        return Verdict("wrong", error, measures=Measures(numbers))
    return Verdict("ok", measures=Measures(numbers))


def compare(found: np.ndarray, expected: np.ndarray, tolerance: Tolerance) -> Numbers:
    """How far apart the arrays are; a NaN that the reference lacks is infinitely far."""
    error = np.abs(found - expected)
    error[np.isnan(found) & np.isnan(expected) | (found == expected)] = 0.0
    error[np.isnan(error)] = np.inf
    allowed = tolerance.absolute + tolerance.relative * np.abs(expected)
    worst = float(error.max(initial=0.0))
    largest = worst if np.isfinite(worst) else None
    differing = int((~(error <= allowed)).sum())
    return Numbers(largest, differing, error.size, tolerance.relative, tolerance.absolute, tolerance.reason)


def widened(array: np.ndarray) -> np.ndarray:
    """The array as float64 if it holds floats; bfloat16 and its kin count as floats."""
    kind: Any = jnp.issubdtype(array.dtype, jnp.floating)
    return array.astype(np.float64) if kind else array
