"""What the matrix product is run on: four blocks of five steps where a GPU is simulated, a large product where not."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from kernels.contract import Case, Inputs, Kernel, Tolerance
from kernels.gpu_matmul import kernel, reference
from kernels.gpu_matmul.wrong.wgmma_on_blackwell import wgmma_on_blackwell

NOT_XLA = "`interpret=True` turns a kernel into plain XLA operations, and jax has no such rule for `copy_gmem_to_smem`."
NOT_A_TPU = "`wgmma` and warpgroups are a GPU's; the matrix unit of a TPU is reached with `jnp.dot`, in `matmul`."
NOT_BLACKWELL = "Blackwell has no `wgmma` but `tcgen05_mma`, with its accumulator in tensor memory: another kernel."
ELSEWHERE = {"hlo": NOT_XLA, "tpu-interpret": NOT_A_TPU, "tpu-aot": NOT_A_TPU}
SMALL = ELSEWHERE | {
    "gpu-aot:sm100": NOT_BLACKWELL,
    "h200": "A few tiles take no measurable time: the same kernel on large matrices is timed.",
}
LARGE = ELSEWHERE | {
    "gpu-interpret": "The simulated GPU takes milliseconds a step, and there are 65536: it runs the small product.",
    "gpu-aot": "Compiled for the small product: what the compiler sees differs in the extents alone.",
}
WRONG = ELSEWHERE | {"h200": "The mistake is to compile for another chip than this one."}


def normal(m: int, k: int, n: int, rounding: float = 2.0**-8) -> tuple[Case]:
    """Normal numbers in bfloat16, whose product is rounded by `rounding` once it is added up."""

    def make(rng: np.random.Generator) -> Inputs:
        shapes = (m, k), (k, n)
        return tuple(rng.standard_normal(shape, np.float32).astype(jnp.bfloat16) for shape in shapes)

    reason = (
        f"{k} additions in float32, each of which loses at most 2^-23 of a partial sum that stays below 8·√{k}, eight"
        " deviations; then one rounding, by at most 2^-8 where it is to bfloat16"
    )
    return (Case(f"{m} × {k} × {n}", make, Tolerance(rounding, k * 2.0**-23 * 8.0 * k**0.5, reason)),)


KERNELS = (
    Kernel(
        "gpu_matmul",
        kernel.gpu_matmul,
        reference.gpu_matmul,
        normal(512, 320, 256),
        ("gpu-interpret", "gpu-aot"),
        SMALL,
    ),
    Kernel(
        "gpu_matmul_large",
        kernel.gpu_matmul,
        reference.gpu_matmul,
        normal(4096, 4096, 8192),
        ("h200",),
        LARGE,
    ),
    Kernel(
        "wgmma_on_blackwell",
        wgmma_on_blackwell,
        reference.gpu_matmul,
        normal(64, 64, 128, rounding=0.0),
        ("gpu-interpret", "gpu-aot"),
        WRONG,
        mistake="The kernel uses `wgmma`, which is Hopper's alone, and is compiled for Blackwell too.",
        expected={"gpu-aot:sm100": "refused"},
    ),
)
