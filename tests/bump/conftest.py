"""A checkout that pins a small project, and the package index that offers its releases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bump.tiny import COMMIT, FILES, Index, make_wheel, pin_of
from track.pins.lock import Pin


@dataclass(frozen=True)
class Tiny:
    """A checkout whose pin is tiny 1.0, whose wheel is there, and the index that offers it and more."""

    root: Path
    pin: Pin
    index: Index

    @property
    def wheels(self) -> Path:
        return self.root / "build" / "wheels"

    def names(self) -> list[str]:
        """Everything in build/wheels."""
        return sorted(path.name for path in self.wheels.iterdir())


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tiny]:
    index = Index(tmp_path / "index")
    offered = make_wheel(index.folder, "1.0", FILES, COMMIT)
    root = tmp_path / "root"
    (root / "requirements").mkdir(parents=True)
    (root / "requirements" / "history.txt").write_text("# none\n")
    (root / "build" / "wheels").mkdir(parents=True)
    (root / "build" / "wheels" / offered.name).write_bytes(offered.read_bytes())
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    monkeypatch.setenv("PIP_INDEX_URL", index.start())
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nothing listens there: no git host can be reached
    yield Tiny(root, pin_of(offered, COMMIT), index)
    index.stop()
