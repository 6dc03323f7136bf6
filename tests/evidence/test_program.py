"""Counting floating-point operations from a trace, or saying why they cannot be counted."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from track.evidence.program import Uncountable, flops_in

X = jnp.ones((8, 128))


def flops(function, *arguments) -> int:
    """The count of a traced function."""
    return flops_in(jax.make_jaxpr(function)(*arguments).jaxpr)


COUNTED = {
    "scale": (lambda x: 2.0 * x, 8 * 128),
    "multiply and add": (lambda x: x + x * x, 2 * 8 * 128),
    "move": (lambda x: x.T.reshape(-1)[:5], 0),
    "integers": (lambda x: x.astype(jnp.int32) * 3, 0),
    "sum": (lambda x: x.sum(), 8 * 128),
    "matmul": (lambda x: x @ x.T, 2 * 8 * 8 * 128),
    "loop": (lambda x: lax.fori_loop(0, 5, lambda _, carry: carry * 2.0, x), 5 * 8 * 128),
    "inner jit": (jax.jit(jnp.exp), 8 * 128),
    "equal branches": (lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x), 8 * 128),
}


@pytest.mark.parametrize(("function", "expected"), list(COUNTED.values()), ids=list(COUNTED))
def test_operations_are_counted_by_their_results(function, expected: int) -> None:
    assert flops(function, X) == expected


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: lax.cond(x[0, 0] > 0, jnp.sin, lambda y: y, x), "how often the cond"),
        (lambda x: lax.while_loop(lambda y: y[0, 0] < 9, lambda y: y * 2.0, x), "how often the while"),
        (jnp.linalg.qr, "no count is known for"),
    ],
)
def test_what_the_trace_does_not_say_is_not_guessed(function, why: str) -> None:
    with pytest.raises(Uncountable, match=why):
        flops(function, X)
