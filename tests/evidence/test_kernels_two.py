"""The kernels whose grids depend on data, sum over a grid axis twice over, or speak to other devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence.helpers import PROJECT, of_topics, printed_by_itself
from track.evidence import Evidence, lanes

pytestmark = pytest.mark.timeout(300)  # the first test waits for all three topics in all lanes

TOPICS = ("attention", "block_sparse", "ring")
KERNELS = [
    *("attention", "attention_gradients", "causal_attention", "causal_attention_gradients"),
    *("block_sparse_matmul", "all_gather"),
]
FOR_CPU = {**os.environ, "JAX_PLATFORMS": "cpu", "TPU_SKIP_MDS_QUERY": "1"}


@pytest.fixture(scope="module")
def found(everything: Evidence) -> Evidence:
    """What is known of the three topics."""
    return of_topics(everything, *TOPICS)


def run(code: str) -> list[str]:
    """The lines that a program prints, in a process of its own, where it also has the kernels."""
    command = [sys.executable, "-B", "-W", "error", "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=PROJECT, env=FOR_CPU
    ).stdout.splitlines()


def expected(kernel: str) -> dict[tuple[str, str], str]:
    """The verdict in each lane, for each target."""
    compiled = "unavailable" if lanes.missing(lanes.LANES["tpu-aot"].packages) else "ok"
    chips = dict.fromkeys(("v4", "v5e", "v5p", "v6e", "7x"), compiled)
    no_gpu = [("gpu-interpret", "any"), ("gpu-aot", "sm90"), ("gpu-aot", "sm100"), ("h200", "H200")]
    return {
        ("hlo", "any"): "not-applicable" if kernel == "all_gather" else "ok",
        ("tpu-interpret", "v5e"): "ok",
        **{("tpu-aot", chip): verdict for chip, verdict in chips.items()},
        **dict.fromkeys(no_gpu, "not-applicable"),
    }


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_lane_has_its_verdict_on_every_case(found: Evidence, kernel: str) -> None:
    records = [(at, record) for (name, *at), record in found.records.items() if name == kernel]
    verdicts: dict[tuple[str, str], set[str]] = {}
    for (_, lane, target), record in records:
        verdicts.setdefault((lane, target), set()).add(record.status)
    errors = [(at, record.error) for at, record in records if record.error]
    assert verdicts == {at: {status} for at, status in expected(kernel).items()}, errors
    assert all(record.reason for _, record in records if record.status == "not-applicable")


def test_nothing_races(found: Evidence) -> None:
    simulated = [record for (_, _, lane, _), record in found.records.items() if lane == "tpu-interpret"]
    assert {record.kernel for record in simulated} == set(KERNELS)
    assert {record.measures.races for record in simulated} == {()}


def test_sums_in_float32_agree_to_a_few_units_in_the_last_place(found: Evidence) -> None:
    worst = {
        record.kernel: record.measures.numbers.largest_error or 0.0
        for (_, case, lane, _), record in found.records.items()
        if lane == "tpu-interpret" and "bfloat16" not in case and record.measures.numbers
    }
    assert worst.pop("all_gather") == 0.0
    assert 0.0 < worst.pop("block_sparse_matmul") < 1e-4  # of sums that reach 100
    assert {kernel: 0.0 < error < 5e-6 for kernel, error in worst.items()} == {
        "attention": True,  # of numbers up to 4
        "attention_gradients": True,
    }


GRADIENTS = """
import jax, jax.numpy as jnp, numpy as np
from kernels.attention import cases, reference

def plain(q, k, v, causal):
    s = jnp.einsum("hqd,hkd->hqk", q, k) / q.shape[2] ** 0.5
    if causal:
        s = jnp.where(jnp.arange(q.shape[1])[:, None] >= jnp.arange(k.shape[1])[None, :], s, -jnp.inf)
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(s, axis=2), v)

for kernel in cases.KERNELS:
    if kernel.name.endswith("gradients"):
        causal = kernel.name.startswith("causal")
        narrow = [array.astype(np.float32) for array in kernel.cases[0].inputs()]
        ours = np.asarray(kernel.function(*map(jnp.asarray, narrow), interpret=True))
        jax.config.update("jax_enable_x64", True)
        wide = [jnp.asarray(array.astype(np.float64)) for array in narrow]
        total = lambda q, k, v: (plain(q, k, v, causal) * wide[3]).sum()
        right = np.concatenate(jax.grad(total, argnums=(0, 1, 2))(*wide[:3]), axis=1)
        jax.config.update("jax_enable_x64", False)
        of_numpy = np.concatenate(reference.gradients(*map(np.asarray, wide), causal=causal), axis=1)
        print(right.dtype, abs(of_numpy - right).max() < 1e-12, abs(ours - right).max() < 5e-6)
"""


def test_the_gradients_are_those_that_jax_finds_for_a_plain_float64_softmax() -> None:
    assert run(GRADIENTS) == ["float64 True True"] * 2


UNSEEN = """
import jax.numpy as jnp, numpy as np
from kernels.attention import kernel as attention
from kernels.block_sparse import kernel as sparse

rng = np.random.default_rng(1)
q, k, v = rng.standard_normal((3, 1, 256, 128)).astype(np.float32)
answer = [attention.attention(q, k, v, causal=True, bk=64, interpret=True)]
k[:, 128:], v[:, 128:] = np.nan, np.nan
answer.append(attention.attention(q, k, v, causal=True, bk=64, interpret=True))
print((answer[0] == answer[1])[:, :128].all(), jnp.isnan(answer[1])[:, 128:].all())

x = np.kron([[0, 0, 2], [0, 0, 0], [3, 0, 4]], np.ones((8, 128))).astype(np.float32)
y = rng.integers(-9, 9, (384, 128)).astype(np.float32)
right = x @ y
y[128:256] = np.nan
rows, cols, blocks = sparse.pack(x, 8, 128)
found = sparse.block_sparse_matmul(*map(jnp.asarray, (rows, cols, blocks, y)), m=24, interpret=True)
print(rows.tolist(), cols.tolist(), (found == right).all())
"""


def test_a_block_that_counts_for_nothing_is_not_read() -> None:
    assert run(UNSEEN) == ["True True", "[0, 1, 2, 2] [2, 0, 0, 2] True"]


@pytest.mark.parametrize(
    ("topic", "printed"),
    [
        ("attention", ["attention, causal=False, o: [2, 256, 128]", "attention, causal=True, dv: [2, 256, 128]"]),
        ("block_sparse", ["block_sparse_matmul: 4 of 16 blocks, [256, 256], interpreted, largest error 0\n"]),
        ("ring", ["all_gather: [32, 128] -> [4, 32, 128], on 4 simulated devices, largest error 0\n"]),
    ],
)
def test_a_reader_runs_the_file_itself(topic: str, printed: list[str], tmp_path: Path) -> None:
    said = printed_by_itself(topic, tmp_path)
    assert all(line in said for line in printed)


ERRORS = """
import jax, jax.numpy as jnp, numpy as np
from kernels.attention.kernel import attention
from kernels.block_sparse.kernel import block_sparse_matmul, pack
from kernels.ring.kernel import all_gather

def array(*shape): return jnp.ones(shape, jnp.float32)

one = np.array([0], np.int32)
ring = jax.sharding.AbstractMesh((4,), ("x",))
for call in (
    lambda: attention(array(1, 100, 128), array(1, 128, 128), array(1, 128, 128), interpret=True),
    lambda: attention(array(1, 128, 128), array(1, 200, 128), array(1, 200, 128), interpret=True),
    lambda: attention(array(1, 128, 128), array(1, 256, 128), array(1, 256, 128), causal=True, interpret=True),
    lambda: pack(np.ones((12, 128)), 8, 128),
    lambda: block_sparse_matmul(one, one, array(1, 8, 128), array(128, 192), m=8, interpret=True),
    lambda: block_sparse_matmul(one, one, array(1, 8, 128), array(0, 128), m=8, interpret=True),
    lambda: all_gather(array(30, 128), mesh=ring),
    lambda: all_gather(array(8, 64), mesh=ring),
    lambda: all_gather(array(8, 128), mesh=jax.sharding.AbstractMesh((1,), ("x",))),
):
    try:
        call()
    except ValueError as error:
        print(error)
"""


def test_a_shape_that_does_not_fit_is_a_value_error_that_names_the_axis_and_what_would_fit() -> None:
    assert run(ERRORS) == [
        "axis nq is 100, no positive multiple of its block 128; nearest fit: 128",
        "axis nk is 200, no positive multiple of its block 128; nearest fit: 128 and 256",
        "causal attention takes as many queries as keys, but axis nq is 128 and axis nk is 256",
        "axis m is 12, no positive multiple of its block 8; nearest fit: 8 and 16",
        "axis n is 192, no positive multiple of its block 128; nearest fit: 128 and 256",
        "axis k is 0, no positive multiple of its block 128; nearest fit: 128",
        "x must be [m, 128] with m a positive multiple of 4, but it is [30, 128]",
        "x must be [m, 128] with m a positive multiple of 4, but it is [8, 64]",
        "a ring takes at least 2 devices, but axis x of the mesh has 1",
    ]
