"""Attention and its gradients by NumPy alone, with all scores of a head at once."""

from __future__ import annotations

import numpy as np


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, *, causal: bool = False) -> np.ndarray:
    """Every query's mean of the values, weighted by the softmax of its scores.

    Shapes: q[h, nq, d], k[h, nk, d], v[h, nk, d] to [h, nq, d].
    """
    return weights(q, k, causal=causal) @ v


def gradients(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, do: np.ndarray, *, causal: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of (attention · do).sum() by q, k and v.

    Shapes: q[h, nq, d], k[h, nk, d], v[h, nk, d], do[h, nq, d] to dq like q, dk like k, dv like v.
    """
    p = weights(q, k, causal=causal)  # [h, nq, nk]
    dp = do @ v.mT  # [h, nq, d] @ [h, d, nk] -> [h, nq, nk]
    ds = p * (dp - (p * dp).sum(axis=2, keepdims=True)) / np.sqrt(q.shape[2])  # the softmax's Jacobian, diag(p) - ppᵀ
    return ds @ k, ds.mT @ q, p.mT @ do


def weights(q: np.ndarray, k: np.ndarray, *, causal: bool) -> np.ndarray:
    """The softmax of each query's scores.

    Shapes: q[h, nq, d], k[h, nk, d] to [h, nq, nk].
    """
    scores = q @ k.mT / np.sqrt(q.shape[2])  # [h, nq, d] @ [h, d, nk] -> [h, nq, nk]
    if causal:
        scores = np.where(np.tri(q.shape[1], k.shape[1], dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(axis=2, keepdims=True))
    return p / p.sum(axis=2, keepdims=True)
