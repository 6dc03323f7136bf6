"""What the elementwise kernels are run on: four grid steps, in float32, and `relu` in bfloat16 as well."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from kernels.contract import Case, Kernel, Tolerance
from kernels.elementwise import kernel, reference

N = 4 * kernel.BLOCK
LANES = ("hlo", "tpu-interpret", "tpu-aot", "gpu-aot", "h200")
NOT_APPLICABLE = {
    "gpu-interpret": "The GPU interpreter is for Mosaic GPU, where operands stay whole in global memory and a kernel"
    " makes its own copies: it takes no call whose operands come in blocks. Such a call goes to a GPU through Triton,"
    " and for Triton Pallas has no interpreter.",
}


def normal(dtype: DTypeLike, *shapes: int) -> Case:
    """Normal numbers, one vector for each length."""

    def make(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        return tuple(rng.standard_normal(n).astype(dtype) for n in shapes)

    return Case(f"{shapes[0]} {np.dtype(dtype).name}", make, once(dtype))


def once(dtype: DTypeLike) -> Tolerance:
    """One rounding: doubling is exact, and so is taking the larger, which leaves one addition or one product."""
    half = float(jnp.finfo(dtype).eps) / 2
    return Tolerance(half, 0.0, f"one operation is rounded, to the nearest {np.dtype(dtype).name}: by half its epsilon")


def of(function: Callable[..., jax.Array], answer: Callable[..., np.ndarray], *cases: Case) -> Kernel:
    """The kernel, which goes by its function's name."""
    return Kernel(function.__name__, function, answer, cases, LANES, NOT_APPLICABLE)


KERNELS = (
    of(kernel.relu, reference.relu, normal(np.float32, N), normal(jnp.bfloat16, N)),
    of(kernel.add, reference.add, normal(np.float32, N, N)),
    of(kernel.scale, reference.scale, normal(np.float32, N, 1)),
)
