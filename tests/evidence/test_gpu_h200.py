"""The lane that measures a chip, in a process where the chip and its clock are stood in for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence.helpers import PINS, PROJECT, WITH_TOOLS, write_topic
from track.evidence import Runner, collect

# The median of these is 3 microseconds.
STANDING_IN = """
import sys
from track.evidence.lanes import h200

TIMES = {times}
h200.check_machine = lambda target: None
h200.machine = lambda: "NVIDIA H200, driver 1.2, CUDA 13.0"
h200.profiler.measure = lambda run, iterations: lambda *inputs: (run(*inputs), TIMES)
sys.exit(h200.main(sys.argv[1:]))
"""
TIMES = "[0.004, 0.002, 0.003] * 7"


def measured(root: Path, *arguments: str, times: str = TIMES) -> subprocess.CompletedProcess[str]:
    """The lane's own command, in a checkout."""
    (root / "pins.toml").write_bytes((PROJECT / "pins.toml").read_bytes())
    command = [sys.executable, "-B", "-c", STANDING_IN.format(times=times), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=root, env=WITH_TOOLS, check=False, timeout=60)


def test_a_measurement_is_committed_and_read_back_with_its_machine(tmp_path: Path, runner: Runner) -> None:
    write_topic(tmp_path, "same", "return x", lane="h200")
    ran = measured(tmp_path, "same/same")
    assert (ran.returncode, ran.stdout) == (0, "same, ones: ok, 3.00 µs, 0 TFLOP/s, 5.461 GB/s\n"), ran.stderr
    record = collect(tmp_path, PINS, runner=runner, lane="h200").records["same", "ones", "h200", "H200"]
    assert record.status == "ok"
    assert record.stamp.startswith("recorded on NVIDIA H200, driver 1.2, CUDA 13.0, 20")
    timing = record.measures.timing
    assert timing is not None
    assert (timing.seconds, timing.fastest, timing.slowest) == pytest.approx((3e-6, 2e-6, 4e-6))
    assert timing.bytes == 2 * 16 * 128 * 4
    assert timing.flops == 0  # the reference returns its input


def test_wrong_numbers_are_committed_as_wrong(tmp_path: Path, runner: Runner) -> None:
    write_topic(tmp_path, "twice", "return x * 2.0", lane="h200")
    ran = measured(tmp_path, "twice/twice")
    assert ran.returncode == 1
    assert ran.stdout.startswith("twice, ones: wrong, 3.00 µs")
    record = collect(tmp_path, PINS, runner=runner, lane="h200").records["twice", "ones", "h200", "H200"]
    assert (record.status, record.error) == ("wrong", "2048 of 2048 elements differ from the reference")


def test_a_kernel_that_raises_there_is_a_verdict_too(tmp_path: Path, runner: Runner) -> None:
    write_topic(tmp_path, "raises", "raise RuntimeError('no luck')", lane="h200")
    assert measured(tmp_path, "raises/raises").returncode == 1
    record = collect(tmp_path, PINS, runner=runner, lane="h200").records["raises", "ones", "h200", "H200"]
    assert (record.status, record.error) == ("crashed", "RuntimeError: no luck")


def test_a_clock_that_says_nothing_is_no_verdict(tmp_path: Path) -> None:
    write_topic(tmp_path, "same", "return x", lane="h200")
    ran = measured(tmp_path, "same/same", times="None")
    assert "no record of 'same' is written, for the tool's own code failed" in ran.stderr
    assert not (tmp_path / "kernels" / "same" / "records").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [("nothing", "no topic is called 'nothing'"), ("same/other", "topic 'same' has no kernel 'other'")],
)
def test_names_that_are_not_there_are_bad_input(tmp_path: Path, asked: str, said: str) -> None:
    write_topic(tmp_path, "same", "return x", lane="h200")
    assert f"BadInput: {said}" in measured(tmp_path, asked).stderr.replace("error: ", "")


def test_another_machine_is_told_so(tmp_path: Path) -> None:
    write_topic(tmp_path, "same", "return x", lane="h200")
    (tmp_path / "pins.toml").write_bytes((PROJECT / "pins.toml").read_bytes())
    command = [sys.executable, "-B", "-m", "track.evidence.lanes.h200", "same/same"]
    cpu = {**WITH_TOOLS, "JAX_PLATFORMS": "cpu"}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=cpu, check=False, timeout=60)
    assert ran.returncode == 3
    assert "a chip that is not here\n  expected  an NVIDIA H200\n  found     cpu" in ran.stderr
