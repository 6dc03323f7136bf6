"""What attention is run on: two heads of 128 dimensions, in float32, and in bfloat16 under the causal rule."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypedDict

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from kernels.attention import kernel, reference
from kernels.contract import Case, Inputs, Kernel, Tolerance

HEADS, D = 2, 128


class Options(TypedDict):
    """How the kernels are called."""

    causal: bool
    bq: int
    bk: int


CROSS = Options(causal=False, bq=64, bk=128)  # 256 queries and 384 keys: 4 by 3 blocks a head
CAUSAL = Options(causal=True, bq=128, bk=64)  # 256 of each: 2 by 4 blocks a head, of which 2 are skipped and 4 masked

SCORE = (
    "A sum of 128 products of normal numbers stays within 4·√128 on its way; float32 rounds it by 2^-24 of that, 128"
    " times, up or down, so by 16·128·2^-24 in all, and a score, which is 1/√128 of it, by 16·√128·2^-24. A weight is"
    " off by that share of itself, and the answers are sums, with these weights, of numbers up to 4"
)
WEIGHT = "The answer is rounded to bfloat16, by 2^-8 of itself, and so is every weight before"
F32 = Tolerance(0.0, 4 * 16 * D**0.5 * 2**-24, SCORE)
BF16 = Tolerance(2**-8, 4 * 2**-8, f"{WEIGHT}; those of a query sum to 1, and the values are numbers up to 4")
BF16_GRADIENTS = Tolerance(
    2**-8,
    8 * 2**-8,
    f"{WEIGHT}; those of a key sum to 6 at most, 1 + 1/2 + ... + 1/256 for the first of a causal head",
)


def normal(options: Options, dtype: DTypeLike, tolerance: Tolerance, *, gradients: bool) -> Case:
    """Normal numbers for q, k and v, and for the gradient by the answer where that is asked."""
    queries, keys = (256, 256) if options["causal"] else (256, 384)
    lengths = (queries, keys, keys, queries) if gradients else (queries, keys, keys)

    def make(rng: np.random.Generator) -> Inputs:
        return tuple(rng.standard_normal((HEADS, length, D)).astype(dtype) for length in lengths)

    return Case(f"{HEADS} heads, {queries} queries, {keys} keys, {np.dtype(dtype).name}", make, tolerance)


def gradients(
    q: jax.Array, k: jax.Array, v: jax.Array, do: jax.Array, *, options: Options, interpret: object
) -> jax.Array:
    """The gradients that jax finds through the kernel's own rule, one after the other: [h, nq + 2·nk, d]."""
    _, gradients_at = jax.vjp(functools.partial(kernel.attention, **options, interpret=interpret), q, k, v)
    return jnp.concatenate(gradients_at(do), axis=1)


def expected_gradients(*inputs: np.ndarray, options: Options) -> np.ndarray:
    """The same of the reference."""
    return np.concatenate(reference.gradients(*inputs, causal=options["causal"]), axis=1)


GPU = (
    "The sums so far wait in VMEM for the next step of the grid, for on a TPU core the steps take turns. On a GPU they"
    " run side by side: there one block of threads loops over all keys, with the sums in registers"
)


def tpu_kernel(name: str, function: Callable[..., jax.Array], right: Callable[..., np.ndarray], case: Case) -> Kernel:
    """A kernel for every lane of a TPU."""
    excuses: dict[str, str] = dict.fromkeys(("gpu-interpret", "gpu-aot", "h200"), GPU)
    return Kernel(name, function, right, (case,), ("hlo", "tpu-interpret", "tpu-aot"), excuses)


def forward_and_backward(
    name: str, options: Options, dtype: DTypeLike, of_answer: Tolerance, of_gradients: Tolerance
) -> tuple[Kernel, Kernel]:
    """Attention and its gradients, as two kernels."""
    return (
        tpu_kernel(
            name,
            functools.partial(kernel.attention, **options),
            functools.partial(reference.attention, causal=options["causal"]),
            normal(options, dtype, of_answer, gradients=False),
        ),
        tpu_kernel(
            f"{name}_gradients",
            functools.partial(gradients, options=options),
            functools.partial(expected_gradients, options=options),
            normal(options, dtype, of_gradients, gradients=True),
        ),
    )


KERNELS = (
    *forward_and_backward("attention", CROSS, np.float32, F32, F32),
    *forward_and_backward("causal_attention", CAUSAL, jnp.bfloat16, BF16, BF16_GRADIENTS),
)
