"""The block-sparse product by NumPy alone: make x dense again, then multiply."""

from __future__ import annotations

import numpy as np


def block_sparse_matmul(rows: np.ndarray, cols: np.ndarray, blocks: np.ndarray, y: np.ndarray, *, m: int) -> np.ndarray:
    """The product of the matrix that the blocks make up with y.

    Shapes: rows[t], cols[t], blocks[t, bm, bk], y[k, n] to [m, n].
    """
    _, bm, bk = blocks.shape
    tiles = np.zeros((m // bm, y.shape[0] // bk, bm, bk), blocks.dtype)
    tiles[rows, cols] = blocks
    x = tiles.swapaxes(1, 2).reshape(m, -1)  # [m/bm, k/bk, bm, bk] -> [m/bm, bm, k/bk, bk] -> [m, k]
    return x @ y
