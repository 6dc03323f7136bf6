"""The bytes of a pin's files from git or from the wheel, each proved to be what is pinned."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from track.errors import BadEnvironment, TrackError, raise_all
from track.pins import wheel
from track.pins.lock import Origin, Pin
from track.pins.tree import verify

__all__ = ["check", "from_git", "from_wheel", "tagged"]


def from_git(pin: Pin, scratch: Path, mirror: str | None = None, *, present: bool = False) -> Mapping[str, bytes]:
    """The files at the pinned commit, not yet checked; `scratch` is where git may work.

    With `present`, files that the commit lacks are left out.
    """
    return _git().read(pin, scratch / "git", mirror, present=present)


def tagged(pin: Pin, names: Sequence[str], scratch: Path, mirror: str | None = None) -> str | None:
    """The commit of the first of these tags that the pin's repository has, or None."""
    return _git().tagged(pin, names, scratch / "git", mirror)


def from_wheel(pin: Pin, wheels: Path) -> Mapping[str, bytes]:
    """The files that the pinned release has, not yet checked; the wheel is looked for in `wheels` first."""
    return wheel.read(pin, wheel.fetch(pin.release, wheels))


def _git() -> ModuleType:
    if shutil.which("git") is None:
        raise BadEnvironment(
            "there is no git program on PATH", next_step="install git, or run: track sync --from wheel"
        )
    from track.pins import git  # noqa: PLC0415  GitPython cannot be imported where there is no git, and is slow

    return git


def check(pin: Pin, kind: Origin, files: Mapping[str, bytes]) -> None:
    """Every pinned file is there and has its bytes; a wheel may lack the one file that releases rewrite."""
    missing = sorted(pin.files.keys() - files.keys() - ({pin.version_file} if kind == "wheel" else set()))
    if missing:
        raise BadEnvironment(
            f"the wheel of {pin.release} lacks pinned files, which can only come from git",
            {"pin": pin, "files": "\n".join(missing)},
            "where the repository can be reached: track sync --from git",
        )
    errors: list[TrackError] = []
    for path, data in files.items():
        try:
            verify(pin, path, pin.blob(path), data, f"if pins.toml is wrong: track pin write {pin.project}")
        except TrackError as error:
            errors.append(error)
    raise_all(errors)
