"""The GPU kernels, right and wrong: what the lanes say of them, and what a reader without a GPU sees."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.evidence.helpers import PROJECT, WITH_TOOLS, of_topics
from track.evidence import Evidence, Record, lanes

pytestmark = pytest.mark.timeout(300)  # the first test waits for all four topics in all lanes

TOPICS = ("gpu_copy", "gpu_matmul", "gpu_softmax", "triton_matmul")
CPU = WITH_TOOLS | {"JAX_PLATFORMS": "cpu", "TPU_SKIP_MDS_QUERY": "1"}

VERDICTS = {  # kernel: the lane that computes its numbers, and its verdict; then the compiler's for sm90 and for sm100
    "gpu_copy": ("gpu-interpret", "ok", "ok", "ok"),
    "gpu_stream": ("gpu-interpret", "ok", "ok", "ok"),
    "gpu_matmul": ("gpu-interpret", "ok", "ok", "not-applicable"),
    "gpu_softmax": ("gpu-interpret", "ok", "ok", "ok"),
    "triton_matmul": ("hlo", "ok", "ok", "ok"),
    "barrier_never_waited": ("gpu-interpret", "wrong", "ok", "ok"),
    "store_not_committed": ("gpu-interpret", "wrong", "ok", "ok"),
    "slot_refilled": ("gpu-interpret", "wrong", "ok", "ok"),
    "left_too_early": ("gpu-interpret", "refused", "ok", "ok"),
    "box_too_long": ("gpu-interpret", "ok", "refused", "refused"),
    "wgmma_on_blackwell": ("gpu-interpret", "ok", "ok", "refused"),
    "odd_block": ("hlo", "ok", "refused", "refused"),
}
COMPILED = not lanes.missing(lanes.LANES["gpu-aot"].packages)  # they are for Linux on x86-64 alone


@pytest.fixture(scope="module")
def gpu(everything: Evidence) -> Evidence:
    """What is known of the four topics."""
    return of_topics(everything, *TOPICS)


def found(evidence: Evidence, kernel: str, lane: str, target: str) -> list[Record]:
    """The records of a kernel, one for each case."""
    return [record for (name, _, *by), record in evidence.records.items() if (name, *by) == (kernel, lane, target)]


@pytest.mark.parametrize("kernel", VERDICTS)
def test_each_lane_says_of_each_kernel_what_it_should(gpu: Evidence, kernel: str) -> None:
    lane, numbers, sm90, sm100 = VERDICTS[kernel]
    assert {record.status for record in found(gpu, kernel, lane, "any")} == {numbers}
    for target, said in (("sm90", sm90), ("sm100", sm100)):
        expected = said if COMPILED or said == "not-applicable" else "unavailable"
        assert {record.status for record in found(gpu, kernel, "gpu-aot", target)} == {expected}


def test_the_table_above_is_of_every_kernel_but_those_only_a_chip_can_run(gpu: Evidence) -> None:
    small = {name for name, listed in gpu.kernels.items() if tuple(listed.lanes) != ("h200",)}
    large = {name for name, listed in gpu.kernels.items() if tuple(listed.lanes) == ("h200",)}
    assert small == set(VERDICTS)
    assert large == {f"{name}_large" for name in VERDICTS if not gpu.kernels[name].mistake}


def test_a_verdict_that_the_kernel_expects_is_the_one_it_gets(gpu: Evidence) -> None:
    for (name, _, lane, target), record in gpu.records.items():
        if record.status not in {"not-applicable", "unavailable"}:
            assert record.status == gpu.kernels[name].expects(lane, target), record


def test_right_numbers_do_not_excuse_a_race(gpu: Evidence) -> None:
    for kernel in ("barrier_never_waited", "store_not_committed", "slot_refilled"):
        (record,) = found(gpu, kernel, "gpu-interpret", "any")
        assert record.error.startswith("RACE DETECTED")
        assert f"kernels/gpu_copy/wrong/{kernel}.py" in record.error
        assert record.measures.numbers is not None
        assert record.measures.numbers.differing == 0


@pytest.mark.parametrize(
    ("kernel", "lane", "target", "error"),
    [
        ("left_too_early", "gpu-interpret", "any", "Not all copy_smem_to_gmem read-side operations completed"),
        ("box_too_long", "gpu-aot", "sm90", "only support copying <=256 elements along each dimension"),
        (
            "wgmma_on_blackwell",
            "gpu-aot",
            "sm100",
            "'wgmma.mma_async with floating point types' not supported on .target",
        ),
        ("odd_block", "gpu-aot", "sm90", "whose size is a power of 2. Encountered an array of shape (96,)"),
    ],
)
def test_a_refusal_is_in_the_words_of_who_refuses(
    gpu: Evidence, kernel: str, lane: str, target: str, error: str
) -> None:
    (record,) = found(gpu, kernel, lane, target)
    assert error in record.error or record.status == "unavailable"


@pytest.mark.parametrize("topic", [*TOPICS, "side_by_side"])
def test_a_reader_without_a_gpu_runs_the_file_itself(topic: str) -> None:
    plain = {name: value for name, value in CPU.items() if name != "PYTHONPATH"}
    script = PROJECT / "kernels" / topic / "kernel.py"
    ran = subprocess.run(
        [sys.executable, "-B", script], capture_output=True, text=True, env=plain, timeout=120, check=True
    )
    assert ran.stderr == ""
    errors = re.findall(r"interpreted, largest (?:relative )?error (.+)", ran.stdout)
    assert [float(error) < 1e-6 for error in errors] == [True] * (2 if topic == "gpu_copy" else 1)


def said_by(code: str) -> list[str]:
    """What a child prints that has the kernels at hand."""
    child = [sys.executable, "-B", "-c", CHILD + code]
    ran = subprocess.run(child, capture_output=True, text=True, env=CPU, cwd=PROJECT, timeout=120, check=True)
    return ran.stdout.splitlines()


CHILD = """
import jax, jax.numpy as jnp, numpy as np
from jax.experimental.pallas import mosaic_gpu as plgpu
from kernels.gpu_copy.kernel import gpu_copy, gpu_stream
from kernels.gpu_matmul.kernel import gpu_matmul
from kernels.gpu_softmax.kernel import gpu_softmax
from kernels.triton_matmul.kernel import triton_matmul

def error_of(run, *shapes, **options):
    try:
        return run(*(jnp.ones(shape, jnp.bfloat16) for shape in shapes), **options)
    except ValueError as error:
        return error
"""


def test_a_shape_that_does_not_fit_is_a_value_error_that_names_it() -> None:
    assert said_by("""
print(error_of(gpu_copy, (64, 100)))
print(error_of(gpu_stream, (320, 128)))
print(error_of(gpu_matmul, (256, 96), (96, 128)))
print(error_of(triton_matmul, (0, 64), (64, 128)))
print(error_of(gpu_softmax, (4, 100)))
""") == [
        "axis n is 100, no positive multiple of its tile 128; nearest fit: 128",
        "axis m is 320, no positive multiple of its tile 256; nearest fit: 256 and 512",
        "axis k is 96, no positive multiple of its block 64; nearest fit: 64 and 128",
        "axis m is 0, no positive multiple of its block 128; nearest fit: 128",
        "x must be [m, n] with n a positive multiple of 128, but it is [4, 100]",
    ]


def test_other_blocks_and_slots_give_the_same_product() -> None:
    assert (
        said_by("""
rng = np.random.default_rng(1)
x, y = (rng.integers(-2, 3, shape).astype(np.float16) for shape in [(256, 256), (256, 256)])
for options in ({"bm": 128, "bn": 256, "slots": 2}, {"bm": 128, "slots": 4}, {"bk": 128, "slots": 1}):
    o = gpu_matmul(jnp.asarray(x), jnp.asarray(y), **options, interpret=plgpu.InterpretGPUParams(detect_races=True))
    print((np.asarray(o) == x.astype(int) @ y.astype(int)).all())
""")
        == ["True"] * 3
    )


def test_shared_memory_is_what_the_docstring_says() -> None:
    (error,) = said_by("""
hopper = jax.sharding.AbstractDevice(device_kind="NVIDIA H200", num_cores=132, platform="gpu")
with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), (), abstract_device=hopper)):
    compiled = jax.jit(lambda x, y: gpu_matmul(x, y, slots=4)).trace(*[jnp.ones((256, 256), jnp.bfloat16)] * 2)
    print(error_of(lambda: compiled.lower(lowering_platforms=("cuda",))))
""")
    bm, bn, bk, slots = 256, 128, 64, 4
    asked = 2 * slots * (bm * bk + bk * bn) + 2 * bm * bn + 16 * slots
    assert error == f"Mosaic GPU kernel exceeds available shared memory: smem_bytes={asked} > max_smem_bytes=232448"
