"""One warm runner and one collecting of a topic in all lanes, shared by all tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.evidence.helpers import PINS, PROJECT, copy_topic
from track.evidence import Evidence, Record, Runner, collect
from track.pins import lock


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """One server for the whole session, started by a process with a secret in its environment."""
    with pytest.MonkeyPatch.context() as patch, Runner() as warm:
        patch.setenv("TRACK_SECRET", "for nobody's eyes")
        yield warm


@pytest.fixture(scope="session")
def everything(runner: Runner) -> Evidence:
    """All that is known of the project's own kernels; what `make test` has not run by now is run."""
    commits = {name: pin.commit for name, pin in lock.read(PROJECT / "pins.toml").items()}
    return collect(PROJECT, commits, runner=runner)


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of one topic, with no evidence yet."""
    root = tmp_path_factory.mktemp("checkout")
    copy_topic(root, "pipeline")
    return root


@pytest.fixture(scope="session")
def evidence(root: Path, runner: Runner) -> Evidence:
    """The evidence of the topic, run afresh."""
    return collect(root, PINS, runner=runner)


@pytest.fixture(scope="session")
def recorded(evidence: Evidence) -> dict[str, Record]:
    """The records of lane `tpu-interpret`, by kernel."""
    return {kernel: record for (kernel, _, lane, _), record in evidence.records.items() if lane == "tpu-interpret"}
