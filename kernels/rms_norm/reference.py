"""The answer of RMS norm, by NumPy alone."""

from __future__ import annotations

import numpy as np

EPSILON = 1e-6


def rms_norm(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Each row over the root of its mean square, times the weight.

    Shapes: x[m, n] and weight[n] to [m, n].
    """
    mean_square = np.mean(x * x, axis=1, keepdims=True)  # [m, n] -> [m, 1]
    return x / np.sqrt(mean_square + EPSILON) * weight  # [m, n] / [m, 1] * [n] -> [m, n]
