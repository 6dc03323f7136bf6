"""What a companion kernel is: the kernel, the reference it is compared with, and the inputs it runs on.

Every topic folder has a `cases.py` with one tuple, `KERNELS`.
The tool runs each of those kernels on each of its cases in every lane that the kernel asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import jax
import numpy as np

__all__ = ["Case", "Kernel", "Tolerance"]

Inputs = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Tolerance:
    """How far an element may be from its reference: `|found - expected| <= absolute + relative * |expected|`."""

    relative: float
    absolute: float
    reason: str


@dataclass(frozen=True)
class Case:
    """One set of inputs.

    `make` draws the inputs from a generator that is seeded with `seed`, so every run sees the same numbers.
    """

    name: str
    make: Callable[[np.random.Generator], Inputs]
    tolerance: Tolerance
    seed: int = 0

    def inputs(self) -> Inputs:
        """The arrays, the same at every call."""
        return self.make(np.random.default_rng(self.seed))


@dataclass(frozen=True)
class Kernel:
    """One kernel and everything that is needed to judge it.

    `function` takes the inputs of a case and the keyword `interpret`, which it hands on unchanged to the call that it
    makes.
    A kernel for several `devices` takes the keyword `mesh` too, a mesh of that many on the axis "x".
    `reference` takes the same inputs, as float64 where they are floats, and computes the answer with NumPy alone.
    `lanes` names the ways in which the kernel is run; `not_applicable` gives the reason for each lane that is not, or
    for one target of a lane, as "gpu-aot:sm100".
    A wrong kernel says in a sentence what its `mistake` is, and `expected` has the verdict that each lane, or one
    target of it, gives on that; every verdict that is not named there is to be `ok`.
    """

    name: str
    function: Callable[..., jax.Array]
    reference: Callable[..., np.ndarray]
    cases: tuple[Case, ...]
    lanes: tuple[str, ...]
    not_applicable: Mapping[str, str] = field(default_factory=dict[str, str])
    devices: int = 1
    mistake: str = ""
    expected: Mapping[str, str] = field(default_factory=dict[str, str])
