"""What the row softmax is run on: a few rows for the simulated GPU, a quarter of a gigabyte for a real one."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from kernels.contract import Case, Kernel, Tolerance
from kernels.gpu_softmax import kernel, reference

NOT_XLA = "`interpret=True` knows a grid by `pl.program_id`; the named axes of `plgpu.kernel` have no meaning there."
NOT_A_TPU = "`plgpu.kernel` speaks to the warpgroups of a GPU; the same rows on a TPU are in `softmax`."
ELSEWHERE = {"hlo": NOT_XLA, "tpu-interpret": NOT_A_TPU, "tpu-aot": NOT_A_TPU}
SMALL = ELSEWHERE | {"h200": "A few rows take no measurable time: the same kernel on a large matrix is timed."}
LARGE = ELSEWHERE | {
    "gpu-interpret": "The simulated GPU takes milliseconds a row, and there are 16384: it runs the small matrix.",
    "gpu-aot": "Compiled for the small matrix: its rows are as long, there are only fewer of them.",
}


def normal(rows: int, cols: int, dtype: DTypeLike = np.float32, rounding: float = 0.0) -> Case:
    """Normal numbers, times four, which spreads the powers of a row over a dozen decades."""
    reason = (
        f"a sum of {cols} positive powers is off by at most {cols}·2^-24 of itself, a power by 40·2^-24: 2 units of its"
        " last place and what is lost of an exponent below 40; then one rounding, by at most 2^-8 where it is to"
        " bfloat16. Nothing is below 2^-126, where float32 loses bits"
    )
    return Case(
        f"{rows} × {cols} {np.dtype(dtype).name}",
        lambda rng: ((4 * rng.standard_normal((rows, cols), np.float32)).astype(dtype),),
        Tolerance(rounding + (cols + 2 * 40) * 2.0**-24, 0.0, reason),
    )


KERNELS = (
    Kernel(
        "gpu_softmax",
        kernel.gpu_softmax,
        reference.gpu_softmax,
        (normal(8, 4096), normal(8, 4096, jnp.bfloat16, rounding=2.0**-8)),
        ("gpu-interpret", "gpu-aot"),
        SMALL,
    ),
    Kernel("gpu_softmax_large", kernel.gpu_softmax, reference.gpu_softmax, (normal(16384, 4096),), ("h200",), LARGE),
)
