"""Attention that holds no more of the scores than one block, and its gradients, as three kernels.

Forward, a step multiplies one block of queries with one of keys. For each query it keeps the largest score m so far,
the sum l of exp(score - m), and acc, the sum of exp(score - m) times the value. Where a larger score turns up, what was
summed before shrinks by exp(old m - new m). Of all this the gradients need one number a query: lse = m + log l.

Backward, block by block, p is computed again:

    s = q kᵀ / √d         ds = p ∘ (dp - delta), where delta = sum(p ∘ dp) = sum(do ∘ o), one number a query
    p = exp(s - lse)      dp = do vᵀ
    o = p v               dv = pᵀ do      dq = ds k / √d      dk = dsᵀ q / √d

dq is a sum over the keys, dv and dk are sums over the queries: two kernels, each with its sum on the last grid axis.

Run this file to see all three at work: `python kernels/attention/kernel.py`.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import Array, Ref, lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

SUM_ON_LAST_AXIS = pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary"))


def attention(
    q: Array, k: Array, v: Array, *, causal: bool = False, bq: int = 128, bk: int = 128, interpret: object = False
) -> Array:
    """softmax(q kᵀ / √d) v for each of h heads; with `causal`, query i sees the keys up to i and no others.

    Shapes: q[h, nq, d], k[h, nk, d], v[h, nk, d] to [h, nq, d].
    Errors: ValueError where nq or nk is no positive multiple of its block, or they differ and `causal` is set.
    Source: the formulas above; jax's own is jax/experimental/pallas/ops/tpu/flash_attention.py.
    """

    @jax.custom_vjp
    def attend(q: Array, k: Array, v: Array) -> Array:
        return forward(q, k, v, causal=causal, bq=bq, bk=bk, interpret=interpret)[0]

    def attend_and_keep(q: Array, k: Array, v: Array) -> tuple[Array, tuple[Array, ...]]:
        o, lse = forward(q, k, v, causal=causal, bq=bq, bk=bk, interpret=interpret)
        return o, (q, k, v, o, lse)

    attend.defvjp(attend_and_keep, functools.partial(backward, causal=causal, bq=bq, bk=bk, interpret=interpret))
    return attend(q, k, v)


def forward(q: Array, k: Array, v: Array, *, causal: bool, bq: int, bk: int, interpret: object) -> tuple[Array, Array]:
    """The attention, and for each query lse, the logarithm of the sum of exp(score).

    Shapes: q[h, nq, d], k[h, nk, d], v[h, nk, d] to o[h, nq, d], lse[h, nq, 1]; grid (h, nq/bq, nk/bk);
        a step sees q[bq, d], k[bk, d], v[bk, d], o[bq, d], lse[bq, 1].
    Units: scratch in VMEM 4·bq·(d + 128 + 128) bytes, for a column of numbers takes whole rows of 128 lanes; from HBM
        the queries come once, keys and values nq/bq times, and no score ever goes there.
    """
    (h, nq, d), nk = q.shape, k.shape[1]
    grid = (h, blocks_in("nq", nq, bq), blocks_in("nk", nk, bk))
    if causal and nq != nk:
        raise ValueError(f"causal attention takes as many queries as keys, but axis nq is {nq} and axis nk is {nk}")

    def key_block(i: Array, j: Array) -> Array:  # a skipped step asks for the block that is there: nothing is fetched
        return jnp.minimum(j, last_seen(i, bq, bk)) if causal else j

    queries = pl.BlockSpec((None, bq, d), lambda h, i, j: (h, i, 0))
    column = pl.BlockSpec((None, bq, 1), lambda h, i, j: (h, i, 0))
    keys = pl.BlockSpec((None, bk, d), lambda h, i, j: (h, key_block(i, j), 0))
    o, lse = pl.pallas_call(
        functools.partial(forward_kernel, causal=causal, steps=grid[2]),
        grid=grid,
        in_specs=[queries, keys, keys],
        out_specs=[queries, column],
        out_shape=[jax.ShapeDtypeStruct(q.shape, q.dtype), jax.ShapeDtypeStruct((h, nq, 1), jnp.float32)],
        scratch_shapes=[pltpu.VMEM((bq, width), jnp.float32) for width in (d, 1, 1)],
        compiler_params=SUM_ON_LAST_AXIS,
        interpret=interpret,
    )(q, k, v)
    return o, lse


def forward_kernel(
    q_ref: Ref,  # [bq, d]
    k_ref: Ref,  # [bk, d]
    v_ref: Ref,  # [bk, d]
    o_ref: Ref,  # [bq, d]
    lse_ref: Ref,  # [bq, 1]
    acc_ref: Ref,  # [bq, d]
    m_ref: Ref,  # [bq, 1]
    l_ref: Ref,  # [bq, 1]
    *,
    causal: bool,
    steps: int,
) -> None:
    """One block of queries meets one block of keys."""
    i, j = pl.program_id(1), pl.program_id(2)

    @pl.when(j == 0)
    def _() -> None:
        acc_ref[...] = jnp.zeros(acc_ref.shape, acc_ref.dtype)
        m_ref[...] = jnp.full(m_ref.shape, -jnp.inf, m_ref.dtype)
        l_ref[...] = jnp.zeros(l_ref.shape, l_ref.dtype)

    @pl.when(meet(i, j, q_ref, k_ref, causal=causal))
    def _() -> None:
        s = scores(i, j, q_ref, k_ref, causal=causal)  # [bq, bk]
        m = jnp.maximum(m_ref[...], s.max(axis=1, keepdims=True))  # [bq, 1], finite, for every query sees key 0
        p = jnp.exp(s - m)  # [bq, bk], and 0 where s is -inf
        shrink = jnp.exp(m_ref[...] - m)  # [bq, 1], and 0 at the first step
        acc_ref[...] = shrink * acc_ref[...] + product("qk,kd->qd", p.astype(v_ref.dtype), v_ref[...])
        l_ref[...] = shrink * l_ref[...] + p.sum(axis=1, keepdims=True)  # [bq, bk] -> [bq, 1]
        m_ref[...] = m

    @pl.when(j == steps - 1)
    def _() -> None:
        o_ref[...] = (acc_ref[...] / l_ref[...]).astype(o_ref.dtype)
        lse_ref[...] = m_ref[...] + jnp.log(l_ref[...])


def backward(
    saved: tuple[Array, ...], do: Array, *, causal: bool, bq: int, bk: int, interpret: object
) -> tuple[Array, Array, Array]:
    """The gradients by q, k and v, given the gradient by the attention.

    Shapes: do[h, nq, d] to dq[h, nq, d], dk[h, nk, d], dv[h, nk, d]; grids (h, nq/bq, nk/bk) for dq, and
        (h, nk/bk, nq/bq) for dk and dv.
    Units: the sums grow in float32 in their output blocks, which stay in VMEM for all of the last axis; no scratch.
    """
    q, k, v, o, lse = saved
    (h, nq, d), nk = q.shape, k.shape[1]
    delta = (do.astype(jnp.float32) * o).sum(axis=2, keepdims=True)  # [h, nq, d] -> [h, nq, 1]

    def key_block(i: Array, j: Array) -> Array:
        return jnp.minimum(j, last_seen(i, bq, bk)) if causal else j

    queries = pl.BlockSpec((None, bq, d), lambda h, i, j: (h, i, 0))
    column = pl.BlockSpec((None, bq, 1), lambda h, i, j: (h, i, 0))
    keys = pl.BlockSpec((None, bk, d), lambda h, i, j: (h, key_block(i, j), 0))
    dq = pl.pallas_call(
        functools.partial(queries_kernel, causal=causal),
        grid=(h, nq // bq, nk // bk),
        in_specs=[queries, keys, keys, queries, column, column],
        out_specs=queries,
        out_shape=jax.ShapeDtypeStruct(q.shape, jnp.float32),
        compiler_params=SUM_ON_LAST_AXIS,
        interpret=interpret,
    )(q, k, v, do, lse, delta)

    def query_block(j: Array, i: Array) -> Array:
        return jnp.maximum(i, first_seeing(j, bq, bk)) if causal else i

    queries = pl.BlockSpec((None, bq, d), lambda h, j, i: (h, query_block(j, i), 0))
    column = pl.BlockSpec((None, bq, 1), lambda h, j, i: (h, query_block(j, i), 0))
    keys = pl.BlockSpec((None, bk, d), lambda h, j, i: (h, j, 0))
    dk, dv = pl.pallas_call(
        functools.partial(keys_kernel, causal=causal),
        grid=(h, nk // bk, nq // bq),
        in_specs=[queries, keys, keys, queries, column, column],
        out_specs=[keys, keys],
        out_shape=[jax.ShapeDtypeStruct(k.shape, jnp.float32)] * 2,
        compiler_params=SUM_ON_LAST_AXIS,
        interpret=interpret,
    )(q, k, v, do, lse, delta)
    return (dq * d**-0.5).astype(q.dtype), (dk * d**-0.5).astype(k.dtype), dv.astype(v.dtype)


def queries_kernel(
    q_ref: Ref,  # [bq, d]
    k_ref: Ref,  # [bk, d]
    v_ref: Ref,  # [bk, d]
    do_ref: Ref,  # [bq, d]
    lse_ref: Ref,  # [bq, 1]
    delta_ref: Ref,  # [bq, 1]
    dq_ref: Ref,  # [bq, d]
    *,
    causal: bool,
) -> None:
    """What one block of keys adds to the gradient of one block of queries."""
    i, j = pl.program_id(1), pl.program_id(2)

    @pl.when(j == 0)
    def _() -> None:
        dq_ref[...] = jnp.zeros(dq_ref.shape, dq_ref.dtype)

    @pl.when(meet(i, j, q_ref, k_ref, causal=causal))
    def _() -> None:
        p = jnp.exp(scores(i, j, q_ref, k_ref, causal=causal) - lse_ref[...])  # [bq, bk] - [bq, 1]
        ds = p * (product("qd,kd->qk", do_ref[...], v_ref[...]) - delta_ref[...])  # [bq, bk] - [bq, 1]
        dq_ref[...] += product("qk,kd->qd", ds.astype(k_ref.dtype), k_ref[...])


def keys_kernel(
    q_ref: Ref,  # [bq, d]
    k_ref: Ref,  # [bk, d]
    v_ref: Ref,  # [bk, d]
    do_ref: Ref,  # [bq, d]
    lse_ref: Ref,  # [bq, 1]
    delta_ref: Ref,  # [bq, 1]
    dk_ref: Ref,  # [bk, d]
    dv_ref: Ref,  # [bk, d]
    *,
    causal: bool,
) -> None:
    """What one block of queries adds to the gradients of one block of keys and values."""
    j, i = pl.program_id(1), pl.program_id(2)

    @pl.when(i == 0)
    def _() -> None:
        dk_ref[...] = jnp.zeros(dk_ref.shape, dk_ref.dtype)
        dv_ref[...] = jnp.zeros(dv_ref.shape, dv_ref.dtype)

    @pl.when(meet(i, j, q_ref, k_ref, causal=causal))
    def _() -> None:
        p = jnp.exp(scores(i, j, q_ref, k_ref, causal=causal) - lse_ref[...])  # [bq, bk] - [bq, 1]
        ds = p * (product("qd,kd->qk", do_ref[...], v_ref[...]) - delta_ref[...])  # [bq, bk] - [bq, 1]
        dk_ref[...] += product("qk,qd->kd", ds.astype(q_ref.dtype), q_ref[...])
        dv_ref[...] += product("qk,qd->kd", p.astype(do_ref.dtype), do_ref[...])


def scores(i: Array, j: Array, q_ref: Ref, k_ref: Ref, *, causal: bool) -> Array:
    """Block (i, j) of q kᵀ / √d, [bq, bk] in float32, with -inf where a query must not look."""
    (bq, d), (bk, _) = q_ref.shape, k_ref.shape
    s = product("qd,kd->qk", q_ref[...], k_ref[...]) * d**-0.5
    if not causal:
        return s
    query = i * bq + lax.broadcasted_iota(jnp.int32, s.shape, 0)  # [bq, bk]
    key = j * bk + lax.broadcasted_iota(jnp.int32, s.shape, 1)  # [bq, bk]
    return jnp.where(key <= query, s, -jnp.inf)


def product(axes: str, a: Array, b: Array) -> Array:
    """A matrix product, in float32: q and k name the rows of a block, d its columns."""
    return jnp.einsum(axes, a, b, preferred_element_type=jnp.float32)


def meet(i: Array, j: Array, q_ref: Ref, k_ref: Ref, *, causal: bool) -> Array | bool:
    """Whether a query of block i sees a key of block j."""
    return j <= last_seen(i, q_ref.shape[0], k_ref.shape[0]) if causal else True


def last_seen(i: Array, bq: int, bk: int) -> Array:
    """The last block of keys that block i of the queries sees under the causal rule."""
    return ((i + 1) * bq - 1) // bk


def first_seeing(j: Array, bq: int, bk: int) -> Array:
    """The first block of queries that sees block j of the keys under the causal rule."""
    return j * bk // bq


def blocks_in(axis: str, size: int, block: int) -> int:
    """How many blocks an axis has."""
    if size % block or not size:
        fits = [fit for fit in (size - size % block, size - size % block + block) if fit]
        nearest = " and ".join(map(str, fits))
        raise ValueError(f"axis {axis} is {size}, no positive multiple of its block {block}; nearest fit: {nearest}")
    return size // block


if __name__ == "__main__":
    import numpy as np
    import reference  # the file beside this one

    on_tpu = jax.default_backend() == "tpu"
    q, k, v, do = np.random.default_rng(0).standard_normal((4, 2, 256, 128)).astype(np.float32)  # each [2, 256, 128]
    for causal in (False, True):
        attend = functools.partial(attention, causal=causal, interpret=not on_tpu)
        o, gradients_at = jax.vjp(attend, *map(jnp.asarray, (q, k, v)))
        expected = [array.astype(np.float64) for array in (q, k, v, do)]
        wanted = reference.attention(*expected[:3], causal=causal), *reference.gradients(*expected, causal=causal)
        found = o, *gradients_at(jnp.asarray(do))
        for name, ours, right in zip(("o", "dq", "dk", "dv"), found, wanted, strict=True):
            error = np.abs(np.asarray(ours) - right).max()
            where = "on a TPU" if on_tpu else "interpreted"
            print(f"attention, causal={causal}, {name}: {list(ours.shape)}, {where}, largest error {error:.0e}")
