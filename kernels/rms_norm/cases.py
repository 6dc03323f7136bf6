"""What RMS norm is run on: eight grid steps, and a row length that is a power of two, so that Triton takes it too."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from kernels.contract import Case, Inputs, Kernel, Tolerance
from kernels.rms_norm import kernel, reference

M, N = 8 * kernel.ROWS, 256

NOT_APPLICABLE = {
    "gpu-interpret": "The GPU interpreter is for Mosaic GPU, where operands stay whole in global memory and a kernel"
    " makes its own copies: it takes no call whose operands come in blocks. Such a call goes to a GPU through Triton,"
    " and for Triton Pallas has no interpreter.",
}


def normal(dtype: DTypeLike) -> Case:
    """Normal numbers, and weights about as far from 0."""

    def make(rng: np.random.Generator) -> Inputs:
        return rng.standard_normal((M, N)).astype(dtype), rng.standard_normal(N).astype(dtype)

    return Case(f"{M} x {N} {np.dtype(dtype).name}", make, rounded(dtype))


def rounded(dtype: DTypeLike) -> Tolerance:
    """Relative alone: squares are positive, so no sum cancels."""
    half, out = 2**-24, 0.0 if dtype is np.float32 else float(jnp.finfo(dtype).eps) / 2
    reason = (
        f"in units of 2^-24, the sum of {N} squares is off by {N}, which the root halves; squaring, the mean, epsilon,"
        " the root and two products add some 8; then the answer is rounded"
    )
    return Tolerance((N / 2 + 8) * half + out, 0.0, reason)


KERNELS = (
    Kernel(
        "rms_norm",
        kernel.rms_norm,
        reference.rms_norm,
        (normal(np.float32), normal(jnp.bfloat16)),
        ("hlo", "tpu-interpret", "tpu-aot", "gpu-aot", "h200"),
        NOT_APPLICABLE,
    ),
)
