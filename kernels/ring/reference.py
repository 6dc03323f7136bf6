"""The answer of the ring all-gather by NumPy alone."""

from __future__ import annotations

import numpy as np


def all_gather(x: np.ndarray, *, devices: int) -> np.ndarray:
    """Every device's copy of the whole array.

    Shapes: x[m, 128] to [devices, m, 128].
    """
    return np.stack([x] * devices)
