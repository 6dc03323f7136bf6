"""What the wrong kernels should have computed, by NumPy alone."""

from __future__ import annotations

import numpy as np

ROWS = 8


def double(x: np.ndarray) -> np.ndarray:
    """Twice the input.

    Shapes: x[m, n] to [m, n].
    """
    return 2.0 * x


def same(x: np.ndarray) -> np.ndarray:
    """The input.

    Shapes: x[m, n] to [m, n].
    """
    return x


def matmul(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The product.

    Shapes: x[m, k], y[k, n] to [m, n].
    """
    return x @ y


def plus_block_number(x: np.ndarray) -> np.ndarray:
    """Each block of 8 rows plus its number.

    Shapes: x[m, n] to [m, n].
    """
    return x + np.arange(x.shape[0])[:, None] // ROWS


def block_sum(x: np.ndarray) -> np.ndarray:
    """The sum over all blocks of 8 rows; a last block that is not full is as if filled up with zeros.

    Shapes: x[m, n] to [8, n].
    """
    return sum_of(np.pad(x, ((0, -x.shape[0] % ROWS), (0, 0))), ROWS)


def even_and_odd(x: np.ndarray) -> np.ndarray:
    """The sum of all even blocks of 8 rows, then that of all odd ones.

    Shapes: x[m, n] to [16, n].
    """
    return sum_of(x, 2 * ROWS)


def sum_of(x: np.ndarray, rows: int) -> np.ndarray:
    """The sum over all blocks of so many rows.

    Shapes: x[m, n] to [rows, n].
    """
    return x.reshape(-1, rows, x.shape[1]).sum(axis=0)  # [m, n] -> [m/rows, rows, n] -> [rows, n]


def column_sum(x: np.ndarray) -> np.ndarray:
    """The sum over all blocks of 128 columns.

    Shapes: x[m, n] to [m, 128].
    """
    return x.reshape(x.shape[0], -1, 128).sum(axis=1)  # [m, n] -> [m, n/128, 128] -> [m, 128]


def even_blocks(x: np.ndarray) -> np.ndarray:
    """The even blocks of 8 rows, and zeros in place of the odd ones.

    Shapes: x[m, n] to [m, n].
    """
    even = np.arange(x.shape[0])[:, None] // ROWS % 2 == 0  # [m, 1]
    return np.where(even, x, 0.0)


def take_blocks(table: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Block `table[i]` of 8 rows in place i.

    Shapes: table[t] and x[m, n] to [m, n].
    """
    blocks = x.reshape(-1, ROWS, x.shape[1])  # [m, n] -> [m/8, 8, n]
    return blocks[table[: len(blocks)]].reshape(x.shape)  # [m/8, 8, n] -> [m, n]


def take_rows(indices: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The rows in the order of the indices.

    Shapes: indices[m] and x[m, n] to [m, n].
    """
    return x[indices]


def take_along_rows(indices: np.ndarray, x: np.ndarray) -> np.ndarray:
    """In each column, its elements in the order of the column's indices.

    Shapes: indices[m, n] and x[m, n] to [m, n].
    """
    return np.take_along_axis(x, indices, axis=0)


def sorted_rows(x: np.ndarray) -> np.ndarray:
    """Each row, sorted.

    Shapes: x[m, n] to [m, n].
    """
    return np.sort(x, axis=1)


def total(x: np.ndarray) -> np.ndarray:
    """The sum of all elements.

    Shapes: x[m, n] to [1, 1].
    """
    return x.sum(keepdims=True)


def shifted_up(x: np.ndarray) -> np.ndarray:
    """Each row becomes the one below it; the last stays.

    Shapes: x[m, n] to [m, n].
    """
    return np.concatenate([x[1:], x[-1:]])


def plus_column_number(x: np.ndarray) -> np.ndarray:
    """The input plus the number of the column.

    Shapes: x[m, n] to [m, n].
    """
    return x + np.arange(x.shape[1])


def extents(x: np.ndarray) -> np.ndarray:
    """How many blocks of 8 rows half of the input has, on 8 rows, and how many all of it has, on the next 8.

    Shapes: x[m, 128] to [16, 128].
    """
    blocks = x.shape[0] // ROWS
    return np.repeat([[blocks // 2], [blocks]], ROWS, axis=0) * np.ones((1, x.shape[1]))


def windows(x: np.ndarray) -> np.ndarray:
    """In block i of 8 rows, the 128 columns from 3i on, four times.

    Shapes: x[8, n] to [32, 128].
    """
    return np.concatenate([x[:, 3 * i : 3 * i + 128] for i in range(4)])
