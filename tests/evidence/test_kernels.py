"""The project's own kernels: what every lane says of them, and how they are run by a reader."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence.helpers import PROJECT, plain_site
from track.evidence import Evidence


@pytest.mark.parametrize("lane", ["hlo", "tpu-interpret"])
@pytest.mark.parametrize("kernel", ["scaled_copy", "revisit"])
def test_both_kernels_agree_with_numpy_in_both_lanes(evidence: Evidence, kernel: str, lane: str) -> None:
    (record,) = [record for (name, _, by, _), record in evidence.records.items() if (name, by) == (kernel, lane)]
    assert (record.status, record.error, record.reason) == ("ok", "", "")
    assert record.measures.numbers is not None
    assert record.measures.numbers.elements == 64 * 128
    assert record.measures.numbers.largest_error == 0.0
    assert record.versions["jax"]
    assert record.key


def test_only_the_interpreter_sees_copies_and_races(evidence: Evidence) -> None:
    for (_, _, lane, _), record in evidence.records.items():
        assert (record.measures.events is not None) == (lane == "tpu-interpret")
        assert record.measures.races == (() if lane == "tpu-interpret" else None)


def test_work_is_one_multiplication_an_element_and_every_byte_that_was_copied(evidence: Evidence) -> None:
    work = {name: record.measures.work for (name, _, _, _), record in evidence.records.items() if record.measures.work}
    array = 64 * 128 * 4
    assert {name: (done.flops, done.bytes) for name, done in work.items() if done} == {
        "scaled_copy": (64 * 128, array + array),
        "revisit": (64 * 128, array // 2 + array),
    }


def test_peaks_are_one_cores(evidence: Evidence) -> None:
    assert list(evidence.chips) == ["v4", "v5e", "v5p", "v6e", "7x"]
    assert evidence.chips["v5e"].hbm_bytes_per_second == 820_000_000_000
    assert evidence.chips["v5p"].cores_per_chip == 2
    assert all(chip.bf16_flops_per_second > chip.hbm_bytes_per_second > 0 for chip in evidence.chips.values())


def test_a_reader_runs_the_file_itself(tmp_path: Path) -> None:
    # jax itself sets some of these when it is imported beside libtpu, as it is in this process.
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "TPU_", "LIBTPU_"))}
    plain["PYTHONPATH"] = str(plain_site(tmp_path))
    script = PROJECT / "kernels" / "pipeline" / "kernel.py"
    ran = subprocess.run(
        [sys.executable, "-S", "-B", script], capture_output=True, text=True, env=plain, timeout=120, check=True
    )
    assert ran.stderr == ""
    assert "revisit: [32, 128] -> [64, 128]" in ran.stdout
    assert ran.stdout.count("largest error 0\n") == 2


def test_a_shape_that_does_not_fit_is_a_value_error_that_names_it() -> None:
    code = """
import jax.numpy as jnp
from kernels.pipeline import kernel
for run in (kernel.scaled_copy, kernel.revisit):
    for shape in ((12, 128), (8, 64), (0, 128), (8,), ()):
        try:
            run(jnp.ones(shape), interpret=True)
        except ValueError as error:
            print(error)
"""
    ran = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, cwd=PROJECT, check=True)
    shapes = ["[12, 128]", "[8, 64]", "[0, 128]", "[8]", "[]"]
    said = [f"x must be [m, 128] with m a positive multiple of 8, but it is {shape}" for shape in shapes]
    assert ran.stdout.splitlines() == said * 2
