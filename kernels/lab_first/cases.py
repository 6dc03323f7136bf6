"""What the solution of lab 1.1 is run on in every lane: the inputs that a learner's kernels are checked with."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np

from kernels.contract import Case, Inputs, Kernel, Tolerance
from kernels.lab_first import reference, solution

M, N = 32, 128
EXACT = Tolerance(0.0, 0.0, "small whole numbers: every sum and every product of them is a float32")
CHIP = "The lab asks for no time, and its arrays are too small to have one worth measuring."
GPU_INTERPRETER = "The GPU interpreter is for Mosaic GPU: it takes no call whose operands come in blocks."
IN_PARALLEL = "On a GPU the steps of a grid run at the same time, and all of them add to one block here."


def whole(*shapes: tuple[int, int]) -> Case:
    """Whole numbers from 1 to 9, as float32."""

    def make(rng: np.random.Generator) -> Inputs:
        return tuple(rng.integers(1, 10, shape).astype(np.float32) for shape in shapes)

    return Case(" and ".join(" × ".join(map(str, shape)) for shape in shapes), make, EXACT)


def of(function: Callable[..., jax.Array], answer: Callable[..., np.ndarray], case: Case, gpu: str = "") -> Kernel:
    """A kernel of the lab; `gpu` is why it is not for a GPU, if it is not."""
    lanes = ("hlo", "tpu-interpret", "tpu-aot") if gpu else ("hlo", "tpu-interpret", "tpu-aot", "gpu-aot")
    excuses = {"gpu-interpret": GPU_INTERPRETER, "h200": CHIP} | ({"gpu-aot": gpu} if gpu else {})
    return Kernel(f"lab_{function.__name__}", function, answer, (case,), lanes, excuses)


KERNELS = (
    of(solution.add, reference.add, whole((M, N), (M, N))),
    of(solution.scale, reference.scale, whole((M, N), (1, 1))),
    of(solution.reduce, reference.reduce, whole((M, N)), IN_PARALLEL),
)
