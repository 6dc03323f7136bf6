"""What the kernels are run on: enough steps for what runs side by side to get in each other's way."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from kernels.contract import Case, Kernel, Tolerance
from kernels.side_by_side import kernel, reference
from kernels.side_by_side.wrong.product_not_awaited import product_not_awaited
from kernels.side_by_side.wrong.sum_over_steps import sum_over_steps

STEPS = 64
EXACT = Tolerance(0.0, 0.0, "small whole numbers: every sum of them is a float32")
NO_INTERPRETER = (
    "The GPU interpreter takes no call whose operands come in blocks. Such a call goes to a GPU through Triton, and for"
    " Triton Pallas has no interpreter."
)
NOT_A_TPU = "`wgmma` is a GPU's; the matrix unit of a TPU is reached with `jnp.dot`, in `matmul`."
LANES = ("gpu-interpret", "gpu-aot", "h200")  # of the product
ELSEWHERE = {
    "hlo": "`interpret=True` turns a kernel into plain XLA operations, and jax has no such rule for"
    " `copy_gmem_to_smem`.",
    "tpu-interpret": NOT_A_TPU,
    "tpu-aot": NOT_A_TPU,
    "gpu-aot:sm100": "Blackwell has no `wgmma` but `tcgen05_mma`, which is waited for in another way.",
}


def whole(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Whole numbers from 1 to 8, so that each part that is missing shows."""
    return (rng.integers(1, 9, STEPS * reference.BLOCK).astype(np.float32),)


def matrices(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Whole numbers from -2 to 2, each of them a bfloat16: 4 blocks of 32 steps."""
    return tuple(rng.integers(-2, 3, shape).astype(jnp.bfloat16) for shape in [(128, 4096), (4096, 512)])


PRODUCT = (Case("128 × 4096 × 512", matrices, EXACT),)

KERNELS = (
    Kernel(
        "sum_over_steps",
        sum_over_steps,
        reference.block_sum,
        (Case(f"{STEPS} steps", whole, EXACT),),
        ("hlo", "tpu-interpret", "tpu-aot", "gpu-aot", "h200"),
        {"gpu-interpret": NO_INTERPRETER},
        mistake="A sum is added up over the steps of a grid, and on a GPU the steps run side by side.",
        expected={"h200": "wrong"},
    ),
    Kernel(
        "product_awaited",
        kernel.product_awaited,
        reference.product,
        PRODUCT,
        LANES,
        ELSEWHERE,
    ),
    Kernel(
        "product_not_awaited",
        product_not_awaited,
        reference.product,
        PRODUCT,
        LANES,
        ELSEWHERE,
        mistake="Slots are filled again while the tensor cores still read them.",
        expected={"h200": "wrong"},
    ),
)
