"""What the Triton matrix product is run on: four blocks of five steps, and a large product for a real GPU."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from kernels.contract import Case, Inputs, Kernel, Tolerance
from kernels.triton_matmul import kernel, reference
from kernels.triton_matmul.wrong.odd_block import odd_block

LANES = ("hlo", "gpu-aot")
UNIT = {np.dtype(np.float16): 2.0**-11, np.dtype(jnp.bfloat16): 2.0**-8}  # the most that rounding to it loses

NOT_A_TPU = "Triton compiles for GPUs alone, and `pltriton.CompilerParams` asks for it; for a TPU there is `matmul`."
ELSEWHERE = {
    "tpu-interpret": NOT_A_TPU,
    "tpu-aot": NOT_A_TPU,
    "gpu-interpret": "The simulated GPU is one for Mosaic GPU: it refuses a block that is not its whole array.",
}
SMALL = ELSEWHERE | {"h200": "A few blocks take no measurable time: the same kernel on large matrices is timed."}
LARGE = ELSEWHERE | {
    "hlo": "The numbers are checked on the small product: what is run differs in the extents alone.",
    "gpu-aot": "Compiled for the small product: what the compiler sees differs in the extents alone.",
}
WRONG = ELSEWHERE | {"h200": "The compiler refuses the kernel, so that there is nothing to run."}


def normal(m: int, k: int, n: int, dtype: DTypeLike) -> Case:
    """Normal numbers in a 16-bit type."""

    def make(rng: np.random.Generator) -> Inputs:
        return tuple(rng.standard_normal(shape, np.float32).astype(dtype) for shape in ((m, k), (k, n)))

    reason = (
        f"{k} additions in float32, each of which loses at most 2^-23 of a partial sum that stays below 8·√{k}, eight"
        " deviations; then one rounding, by at most 2^-11 to float16 or 2^-8 to bfloat16"
    )
    tolerance = Tolerance(UNIT[np.dtype(dtype)], k * 2.0**-23 * 8.0 * k**0.5, reason)
    return Case(f"{m} × {k} × {n} {np.dtype(dtype).name}", make, tolerance)


KERNELS = (
    Kernel(
        "triton_matmul",
        kernel.triton_matmul,
        reference.triton_matmul,
        (normal(256, 320, 256, np.float16), normal(256, 320, 256, jnp.bfloat16)),
        LANES,
        SMALL,
    ),
    Kernel(
        "triton_matmul_large",
        kernel.triton_matmul,
        reference.triton_matmul,
        (normal(4096, 4096, 8192, jnp.bfloat16),),
        ("h200",),
        LARGE,
    ),
    Kernel(
        "odd_block",
        odd_block,
        reference.double,
        (
            Case(
                "384 numbers",
                lambda rng: (rng.standard_normal(384, np.float32),),
                Tolerance(0.0, 0.0, "doubling a float32 only adds one to its exponent: nothing is rounded"),
            ),
        ),
        LANES,
        WRONG,
        mistake="A block has 96 elements, which is no power of two.",
        expected={"gpu-aot": "refused"},
    ),
)
