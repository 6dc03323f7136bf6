"""What a lab asks for: the blocks that each step is to see, and the numbers that come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from kernels.labkit.problem import Cause

__all__ = ["Block", "Confusion", "Inputs", "Task", "Trial"]

Inputs = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Block:
    """What a step sees of an array: a shape, and the block's place, in blocks, from the indices of the step."""

    shape: tuple[int, ...]
    at: Callable[..., tuple[int, ...]]


@dataclass(frozen=True)
class Trial:
    """One call: its inputs, its other arguments, and the grid and the blocks that it is to have, outputs last."""

    inputs: Inputs
    grid: tuple[int, ...]
    blocks: tuple[Block, ...]
    keywords: Mapping[str, int] = field(default_factory=dict[str, int])

    def __str__(self) -> str:
        shapes = " and ".join(f"{array.dtype}{list(array.shape)}" for array in self.inputs)
        given = ", ".join(f"{name}={value}" for name, value in self.keywords.items())
        return f"{shapes}, {given}" if given else shapes


@dataclass(frozen=True)
class Confusion:
    """A wrong answer that people get: its numbers, from the inputs and the other arguments, and what it comes from."""

    cause: Cause
    answer: Callable[..., np.ndarray]


@dataclass(frozen=True)
class Task:
    """A function that the learner writes around one kernel.

    `reference` answers by NumPy alone, from the inputs as float64. That is rounded to the dtype of the inputs, and an
    answer may differ from it by `relative` of it.
    `sums` are the axes of the grid along which steps add up. `wide` says that these sums have to be in float32.
    """

    function: str
    reference: Callable[..., np.ndarray]
    trials: tuple[Trial, ...]
    relative: float = 0.0
    confusions: tuple[Confusion, ...] = ()
    sums: tuple[int, ...] = ()
    wide: bool = False
