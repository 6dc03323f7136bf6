"""What the sum over a grid and the product should be, by NumPy alone."""

from __future__ import annotations

import numpy as np

BLOCK = 256


def block_sum(x: np.ndarray) -> np.ndarray:
    """The sum of all blocks.

    Shapes: x[n] to [256].
    """
    return x.reshape(-1, BLOCK).sum(0)


def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The matrix product.

    Shapes: x[m, k], y[k, n] to [m, n].
    """
    return x @ y
