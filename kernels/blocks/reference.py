"""The answers of the block kernels, by NumPy alone."""

from __future__ import annotations

import numpy as np

ROWS = 8  # rows of a block


def same(x: np.ndarray) -> np.ndarray:
    """The input."""
    return x


def doubled(x: np.ndarray) -> np.ndarray:
    """Twice the input, however it is cut."""
    return 2.0 * x


def first_everywhere(x: np.ndarray) -> np.ndarray:
    """The first block of rows, in the place of every block."""
    return np.tile(x[:ROWS], (x.shape[0] // ROWS, 1))


def reversed_blocks(x: np.ndarray) -> np.ndarray:
    """Twice the input, the last block of rows first."""
    blocks = x.reshape(-1, ROWS, x.shape[1])  # [m, n] -> [m/8, 8, n]
    return 2.0 * blocks[::-1].reshape(x.shape)  # -> [m, n]


def neighbor_sum(x: np.ndarray) -> np.ndarray:
    """Every block of rows but the last, plus the block after it.

    Shapes: x[m, n] to [m - 8, n].
    """
    return x[:-ROWS] + x[ROWS:]


def with_one_before(x: np.ndarray) -> np.ndarray:
    """Every block of rows plus the one before it; the first is alone."""
    return x + np.concatenate([np.zeros_like(x[:ROWS]), x[:-ROWS]])


def with_one_after(x: np.ndarray) -> np.ndarray:
    """Every block of rows plus the one after it; the last is alone."""
    return x + np.concatenate([x[ROWS:], np.zeros_like(x[:ROWS])])


def plus_first_column(x: np.ndarray) -> np.ndarray:
    """Every column plus the first one."""
    return x + x[:, :1]


def off_by_some_rows(x: np.ndarray) -> np.ndarray:
    """Windows of 8 rows that begin at rows 5, 13 and so on: in a row, all but 5 rows in front and 3 at the end.

    Shapes: x[m, n] to [m - 8, n].
    """
    return x[5 : 5 + x.shape[0] - ROWS]
