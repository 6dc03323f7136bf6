"""The first kernels: elementwise, reduce, both tiled products, softmax and RMS norm, in every lane and by hand."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kernels.contract import Kernel
from kernels.elementwise import kernel as elementwise
from kernels.matmul.kernel import matmul
from kernels.reduce.kernel import sum_rows
from kernels.rms_norm.kernel import rms_norm
from kernels.softmax.kernel import softmax
from tests.evidence.helpers import printed_by_itself
from track.evidence import Evidence
from track.evidence.lanes import LANES, missing

TOPICS = ("elementwise", "reduce", "matmul", "matmul_pipeline", "softmax", "rms_norm")
KERNELS: list[Kernel] = [
    kernel for topic in TOPICS for kernel in importlib.import_module(f"kernels.{topic}.cases").KERNELS
]
ASKED = [
    (kernel.name, case.name, lane, target)
    for kernel in KERNELS
    for case in kernel.cases
    for lane in kernel.lanes
    for target in LANES[lane].targets
]
EXCUSED = [(kernel.name, lane) for kernel in KERNELS for lane in kernel.not_applicable]
TRITON = {"relu", "add", "scale", "softmax", "rms_norm"}

Judged = Callable[[str, str], Evidence]

few = settings(max_examples=8, deadline=None, derandomize=True)  # each new shape is traced anew
counts = st.integers(1, 3)


@pytest.fixture(scope="module")
def judged(everything: Evidence) -> Judged:
    """The evidence of a kernel in a lane."""

    @functools.cache
    def of(name: str, lane: str) -> Evidence:
        kept = {at: record for at, record in everything.records.items() if (at[0], at[2]) == (name, lane)}
        return replace(everything, records=kept)

    return of


@pytest.mark.parametrize(("name", "case", "lane", "target"), ASKED)
def test_every_lane_that_is_asked_takes_the_kernel(
    judged: Judged, name: str, case: str, lane: str, target: str
) -> None:
    record = judged(name, lane).records[name, case, lane, target]
    if missing(LANES[lane].packages) or (lane == "h200" and record.status == "unavailable"):
        assert record.status == "unavailable"
        return
    assert (record.status, record.error) == ("ok", "")
    if lane in {"hlo", "tpu-interpret"}:
        assert record.measures.numbers is not None
        assert record.measures.numbers.differing == 0
        assert record.measures.races == (() if lane == "tpu-interpret" else None)


@pytest.mark.parametrize(("name", "lane"), EXCUSED)
def test_a_lane_that_is_not_asked_is_excused_in_a_sentence(judged: Judged, name: str, lane: str) -> None:
    for target in LANES[lane].targets:
        record = judged(name, lane).records[name, "", lane, target]
        assert record.status == "not-applicable"
        assert record.reason.endswith(".")


def test_all_compile_for_all_tpus_and_those_without_a_running_sum_for_gpus() -> None:
    asked = {(name, lane, target) for name, _, lane, target in ASKED}
    for kernel in KERNELS:
        assert {on for name, lane, on in asked if (name, lane) == (kernel.name, "tpu-aot")} == {
            *("v4", "v5e", "v5p", "v6e", "7x")
        }
        gpus = {on for name, lane, on in asked if (name, lane) == (kernel.name, "gpu-aot")}
        assert gpus == ({"sm90", "sm100"} if kernel.name in TRITON else set())


@pytest.mark.parametrize("topic", TOPICS)
def test_a_reader_runs_the_file_itself(topic: str, tmp_path: Path) -> None:
    for line in printed_by_itself(topic, tmp_path).splitlines():
        assert "interpreted, largest error" in line
        assert float(line.split()[-1]) < 0.1  # half a step of bfloat16 between 16 and 32, which no answer exceeds


@few
@given(blocks=counts, seed=st.integers(0, 99))
def test_elementwise_kernels_are_exact_on_whole_numbers(blocks: int, seed: int) -> None:
    x, y = np.random.default_rng(seed).integers(-99, 99, (2, 256 * blocks))
    given_x, given_y = jnp.float32(x), jnp.float32(y)
    assert np.array_equal(elementwise.relu(given_x, interpret=True), np.where(x < 0, 0, 2 * x + 1))
    assert np.array_equal(elementwise.add(given_x, given_y, interpret=True), x + y)
    assert np.array_equal(elementwise.scale(given_x, given_y[:1], interpret=True), y[0] * x)


@few
@given(blocks=counts, n=st.integers(1, 300), seed=st.integers(0, 99))
def test_a_sum_of_whole_numbers_is_exact(blocks: int, n: int, seed: int) -> None:
    x = np.random.default_rng(seed).integers(-99, 99, (8 * blocks, n))
    assert np.array_equal(sum_rows(jnp.float32(x), interpret=True), x.sum(axis=0, keepdims=True))


@few
@given(tile=st.tuples(*3 * [st.integers(1, 9)]), grid=st.tuples(counts, counts, counts), seed=st.integers(0, 99))
def test_a_product_of_whole_numbers_is_exact_whatever_the_tiles(
    tile: tuple[int, int, int], grid: tuple[int, int, int], seed: int
) -> None:
    (bm, bn, bk), rng = tile, np.random.default_rng(seed)
    m, n, k = (extent * count for extent, count in zip(tile, grid, strict=True))
    x, y = rng.integers(-99, 99, (m, k)), rng.integers(-99, 99, (k, n))
    found = matmul(jnp.float32(x), jnp.float32(y), bm=bm, bn=bn, bk=bk, interpret=True)
    assert np.array_equal(found, x @ y)


@few
@given(blocks=counts, n=st.integers(1, 300), shift=st.sampled_from([0, 1000, -1000]))
def test_softmax_of_logarithms_is_a_share_wherever_they_start(blocks: int, n: int, shift: int) -> None:
    parts = 1 + np.arange(8 * blocks * n).reshape(-1, n) % 7
    found = softmax(jnp.float32(np.log(parts) + shift), interpret=True)
    assert np.allclose(found, parts / parts.sum(axis=1, keepdims=True), rtol=2e-4)  # 1000 in float32: 2^-14 a step


@few
@given(blocks=counts, half=st.integers(1, 150), size=st.sampled_from([0.5, 1.0, 1000.0]))
def test_rms_norm_of_plus_and_minus_a_number_is_plus_and_minus_the_weight(blocks: int, half: int, size: float) -> None:
    signs = np.resize([1.0, -1.0], (8 * blocks, 2 * half))
    weight = np.linspace(-2.0, 2.0, 2 * half)
    found = rms_norm(jnp.float32(size * signs), jnp.float32(weight), interpret=True)
    assert np.allclose(found, signs * weight, rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: elementwise.relu(jnp.ones(300)), "axis n is 300, .* of its block 256; nearest fit: 256 and 512"),
        (lambda: elementwise.add(jnp.ones(256), jnp.ones(512)), r"y must be float32\[256\] like x, but .*\[512\]"),
        (lambda: elementwise.scale(jnp.ones(256), jnp.ones(2)), r"factor must be float32\[1\], but .*\[2\]"),
        (lambda: sum_rows(jnp.ones((0, 128))), "axis m is 0, .* nearest fit: 8"),
        (lambda: softmax(jnp.ones((12, 128))), "axis m is 12, .* nearest fit: 8 and 16"),
        (lambda: rms_norm(jnp.ones((8, 128)), jnp.ones(64)), r"weight must be \[n\] = \[128\], .* \[64\]"),
        (lambda: matmul(jnp.ones((128, 128)), jnp.ones((64, 128))), r"y must be float32\[128, n\] .*\[64, 128\]"),
        (lambda: matmul(jnp.ones((128, 200)), jnp.ones((200, 128))), "axis k is 200, .* nearest fit: 128 and 256"),
        (lambda: matmul(jnp.ones((128, 128)), jnp.ones((128, 128)), bn=96), "axis n is 128, .* fit: 96 and 192"),
    ],
)
def test_a_shape_that_does_not_fit_is_a_value_error_that_says_what_would(call, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()
