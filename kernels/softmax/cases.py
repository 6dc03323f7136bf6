"""What softmax is run on: eight grid steps, and a row length that is a power of two, so that Triton takes it too."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from kernels.contract import Case, Kernel, Tolerance
from kernels.softmax import kernel, reference

M, N = 8 * kernel.ROWS, 256
REACH = 16  # the numbers of a row are no further apart

NOT_APPLICABLE = {
    "gpu-interpret": "The GPU interpreter is for Mosaic GPU, where operands stay whole in global memory and a kernel"
    " makes its own copies: it takes no call whose operands come in blocks. Such a call goes to a GPU through Triton,"
    " and for Triton Pallas has no interpreter.",
}


def around(center: float, dtype: DTypeLike) -> Case:
    """Numbers up to 8 on either side of the center; float32 overflows at exp(89), were it not for the subtraction."""
    name = np.dtype(dtype).name

    def make(rng: np.random.Generator) -> tuple[np.ndarray]:
        return (rng.uniform(center - REACH / 2, center + REACH / 2, (M, N)).astype(dtype),)

    return Case(f"{M} x {N} {name} around {center:g}", make, rounded(dtype))


def rounded(dtype: DTypeLike) -> Tolerance:
    """Relative alone: no quotient here has a sum in it whose terms could cancel."""
    half, out = 2**-24, 0.0 if dtype is np.float32 else float(jnp.finfo(dtype).eps) / 2
    reason = (
        f"in float32 the subtraction is off by 2^-24 of {REACH}, which exp turns into a relative error, exp itself by"
        f" some 4 such units, the sum of {N} positive numbers by {N}, the quotient by 1; then the answer is rounded"
    )
    return Tolerance((REACH + 4 + N + 1) * half + out, 0.0, reason)


KERNELS = (
    Kernel(
        "softmax",
        kernel.softmax,
        reference.softmax,
        (around(0.0, np.float32), around(1000.0, np.float32), around(0.0, jnp.bfloat16)),
        ("hlo", "tpu-interpret", "tpu-aot", "gpu-aot", "h200"),
        NOT_APPLICABLE,
    ),
)
