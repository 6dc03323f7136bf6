"""The sources of one release, from its wheel: those of Pallas, or of the folders that the site reads."""

from __future__ import annotations

import dataclasses
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from track.anchors import symbols
from track.anchors.symbols import Module
from track.errors import BadInput
from track.pins import history, wheel
from track.pins.lock import Pin, Release
from track.pins.progress import Progress

__all__ = ["Edition", "in_scope", "known", "open_edition"]

INSIDE: Mapping[str, tuple[str, ...]] = {
    "jax": ("jax/_src/pallas/", "jax/experimental/pallas/", "jax/experimental/mosaic/"),
}
"""Where a project keeps Pallas, if that is a part of it; the rest of jax would drown it."""


@dataclasses.dataclass(frozen=True, eq=False)
class Edition:
    """The files of one release that are compared. Each is parsed once, when it is asked for.

    `commit` is the pinned one for the pinned release, and for others the one that the wheel names, if it names one.
    """

    project: str
    version: str
    commit: str | None
    texts: Mapping[str, str]
    _modules: dict[str, Module] = dataclasses.field(default_factory=dict[str, Module], repr=False)

    def module(self, path: str) -> Module:
        """The parsed file; BadInput if the release has none, or none that is Python."""
        if path not in self._modules:
            if path not in self.texts:
                raise BadInput(f"{self.project} {self.version} has no file {path}")
            self._modules[path] = symbols.parse(path, self.texts[path])
        return self._modules[path]


def in_scope(pin: Pin, path: str) -> bool:
    """Whether a file of a wheel is one to compare: pinned, or where Pallas is, or beside a pinned one; no test."""
    if not path.endswith(".py") or path.endswith(("_test.py", "/conftest.py")) or path == pin.version_file:
        return False
    if pin.project in INSIDE:
        return path in pin.files or path.startswith(INSIDE[pin.project])
    return PurePosixPath(path).parent in {PurePosixPath(pinned).parent for pinned in pin.files if "/" in pinned}


def open_edition(root: Path, pin: Pin, release: Release, progress: Progress | None = None) -> Edition:
    """Read a release's wheel, which is brought by its hash if it is not in build/wheels."""
    path = wheel.fetch(release, root / "build" / "wheels", progress)
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if in_scope(pin, name))
        texts = {name: archive.read(name).decode("utf-8") for name in names}
        named = wheel.named_commit(archive, pin.version_file)
    commit = pin.commit if release.version == pin.release.version else named
    return Edition(pin.project, release.version, commit, texts)


def known(root: Path, pin: Pin) -> dict[str, Release]:
    """The releases of a project in requirements/history.txt by version, oldest first."""
    releases = history.read(root / "requirements" / "history.txt")
    return {release.version: release for release in releases if release.distribution == pin.release.distribution}
