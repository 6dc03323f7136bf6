"""The floating-point operations of references, counted by hand and by the tool."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from track.evidence.useful_work import Uncountable, flops_of

M, K, N = 8, 16, 4
A, B = np.ones((M, K)), np.ones((K, N))


def softmax(x: np.ndarray) -> np.ndarray:
    high = x.max(axis=-1, keepdims=True)  # one for each element
    powers = np.exp(x - high)  # two for each
    return powers / powers.sum(axis=-1, keepdims=True)  # two for each


COUNTED: dict[str, tuple[Callable[..., np.ndarray], list[np.ndarray], int]] = {
    "operator": (lambda a, b: a @ b, [A, B], 2 * M * K * N),
    "matmul": (np.matmul, [A, B], 2 * M * K * N),
    "dot": (np.dot, [A, B], 2 * M * K * N),
    "method dot": (lambda a, b: a.dot(b), [A, B], 2 * M * K * N),
    "einsum": (lambda a, b: np.einsum("mk,kn->mn", a, b), [A, B], 2 * M * K * N),
    "einsum of one": (lambda a: np.einsum("mk->m", a), [A], M * K),
    "multiply-add": (lambda a: 2.0 * a + 1.0, [A], 2 * M * K),
    "maximum": (lambda a: np.maximum(a, 0.0), [A], M * K),
    "sum": (lambda a: a.sum(axis=0), [A], M * K),
    "mean": (lambda a: np.mean(a, axis=0), [A], M * K + K),
    "softmax": (softmax, [A], 5 * M * K),
    "moving and comparing": (lambda a: np.where(a > 0.5, a.T.reshape(a.shape), -a), [A], M * K),
    "integers": (lambda a: a.astype(np.int64) + 1, [A], 0),
    "accumulate": (lambda a: np.add.accumulate(a, axis=1), [A], M * K),
    "cumsum": (lambda a: a.cumsum(axis=1), [A], M * K),
}
OUT_OF_SIGHT: dict[str, Callable[..., np.ndarray]] = {
    "norm": lambda a: np.linalg.norm(a, ord=2),
    "convolve": lambda a: np.convolve(a[0], a[0]),
}


@pytest.mark.parametrize("name", COUNTED)
def test_operations_are_counted(name: str) -> None:
    reference, inputs, flops = COUNTED[name]
    assert flops_of(reference, inputs) == flops


def test_operations_in_place_count_and_take_effect() -> None:
    kept: list[np.ndarray] = []

    def reference(a: np.ndarray) -> np.ndarray:
        total = np.zeros_like(a)
        total += a
        total *= 3.0
        kept.append(np.asarray(total))
        return total

    assert flops_of(reference, [A]) == 2 * M * K
    assert (kept[0] == 3.0).all()


@pytest.mark.parametrize("name", OUT_OF_SIGHT)
def test_what_numpy_does_out_of_sight_is_an_error_and_not_zero(name: str) -> None:
    with pytest.raises(Uncountable, match="no count is known for"):
        flops_of(OUT_OF_SIGHT[name], [A])
