"""One warm runner and one collecting of the real kernels, shared by all tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.evidence.helpers import PINS, PROJECT
from track.evidence import Evidence, Record, Runner, collect


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """One server for the whole session, started by a process with a secret in its environment."""
    with pytest.MonkeyPatch.context() as patch, Runner() as warm:
        patch.setenv("TRACK_SECRET", "for nobody's eyes")
        yield warm


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project's kernels, with no evidence yet."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(PROJECT / "kernels", root / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture(scope="session")
def evidence(root: Path, runner: Runner) -> Evidence:
    """The evidence of the project's kernels, run afresh."""
    return collect(root, PINS, runner=runner)


@pytest.fixture(scope="session")
def recorded(evidence: Evidence) -> dict[str, Record]:
    """The records of lane `tpu-interpret`, by kernel."""
    return {kernel: record for (kernel, _, lane), record in evidence.records.items() if lane == "tpu-interpret"}
