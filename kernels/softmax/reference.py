"""The answer of softmax, by NumPy alone."""

from __future__ import annotations

import numpy as np


def softmax(x: np.ndarray) -> np.ndarray:
    """exp(x) over its sum along each row.

    Shapes: x[m, n] to [m, n].
    """
    e = np.exp(x - np.max(x, axis=1, keepdims=True))  # [m, n] - [m, 1] -> [m, n]
    return e / np.sum(e, axis=1, keepdims=True)  # [m, n] / [m, 1] -> [m, n]
