"""The answers of the three elementwise kernels, by NumPy alone."""

from __future__ import annotations

import numpy as np


def relu(x: np.ndarray) -> np.ndarray:
    """2x + 1 where that is positive, else 0.

    Shapes: x[n] to [n].
    """
    return np.maximum(2.0 * x + 1.0, 0.0)


def add(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The sum, element by element.

    Shapes: x[n] and y[n] to [n].
    """
    return x + y


def scale(x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Every element times the one factor.

    Shapes: x[n] and factor[1] to [n].
    """
    return factor * x
