"""What the product with a pipeline in sight is run on: 2 x 2 tiles of the answer, two steps along k for each."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from kernels.contract import Case, Inputs, Kernel, Tolerance
from kernels.matmul_pipeline import kernel, reference

SIZE = 256  # m, n and k

SUM = Tolerance(
    2**-8,
    SIZE * SIZE * 2**-24,
    f"{SIZE} products of numbers up to 1, each exact in float32, are added in whatever order, and each addition is off"
    f" by 2^-24 of at most {SIZE}; then the answer is rounded to bfloat16, by 2^-8 of itself",
)
FOR_A_TPU = (
    "pltpu.emit_pipeline copies from HBM to VMEM, which a GPU does not have. Its namesake, plgpu.emit_pipeline, copies"
    " to shared memory with TMA; it is another function, and asks for another body."
)


def uniform(rng: np.random.Generator) -> Inputs:
    """Two matrices of numbers between -1 and 1, in bfloat16."""
    return tuple(rng.uniform(-1.0, 1.0, (2, SIZE, SIZE)).astype(jnp.bfloat16))


KERNELS = (
    Kernel(
        "matmul_pipeline",
        kernel.matmul_pipeline,
        reference.matmul_pipeline,
        (Case(f"{SIZE} x {SIZE} x {SIZE} bfloat16", uniform, SUM),),
        ("hlo", "tpu-interpret", "tpu-aot"),
        dict.fromkeys(("gpu-interpret", "gpu-aot", "h200"), FOR_A_TPU),
    ),
)
