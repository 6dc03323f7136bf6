"""The blob ids of a pin, made afresh from a wheel or from git."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from track.errors import BadInput
from track.files import blob_id
from track.pins import bring, wheel
from track.pins.lock import Blob, Origin, Pin, Release

__all__ = ["at_release", "from_git", "from_wheel", "named_commit"]


def from_wheel(pin: Pin, path: Path) -> Pin:
    """The pin with the ids of the files in its wheel, and with the commit that the wheel names, if it names one.

    An id that was read in git at the same commit, and that the wheel's bytes bear out, stays git's.
    """
    named = named_commit(pin, path)
    made = msgspec.structs.replace(pin, commit=named or pin.commit, wheel_names_commit=named is not None)
    proved: Mapping[str, Blob | None] = pin.files if made.commit == pin.commit else {}
    return _with_ids(made, "wheel", wheel.read(made, path), proved)


def at_release(pin: Pin, release: Release, path: Path, commit: str | None = None) -> Pin:
    """The same project at another release, to compare with: those of the pin's files that its wheel has.

    `commit` is for a wheel that names none, as tokamax's do not; Finding if the wheel names another.
    BadInput if neither says which commit it is: then nothing says where a permalink should lead.
    """
    named = named_commit(pin, path)
    if named is None and commit is None:
        raise BadInput(f"the wheel of {release} names no commit", {"pin": pin}, "pin it in a pins file of its own")
    at = commit or named or pin.commit
    moved = msgspec.structs.replace(pin, release=release, commit=at, wheel_names_commit=named is not None)
    files = wheel.read(moved, path)
    return msgspec.structs.replace(moved, files={name: Blob("wheel", blob_id(data)) for name, data in files.items()})


def from_git(pin: Pin, mirror: str | None = None) -> Pin:
    """The pin with the ids of its files in the repository at the pinned commit."""
    with tempfile.TemporaryDirectory() as scratch:
        return _with_ids(pin, "git", bring.from_git(pin, Path(scratch), mirror), {})


def named_commit(pin: Pin, path: Path) -> str | None:
    """The commit that a wheel of the pin's project says it was made from, if it says one."""
    with zipfile.ZipFile(path) as archive:
        return wheel.named_commit(archive, pin.version_file)


def _with_ids(pin: Pin, origin: Origin, files: Mapping[str, bytes], proved: Mapping[str, Blob | None]) -> Pin:
    missing = [path for path in pin.files if path not in files]
    if missing:
        raise BadInput(
            f"the wheel of {pin.release} lacks files, or a release rewrites them: their ids can only come from git",
            {"pin": pin, "files": "\n".join(missing)},
            f"remove them from pins.toml, or run: track pin write {pin.project} --from git",
        )
    fresh = {path: Blob(origin, blob_id(files[path])) for path in pin.files}
    return msgspec.structs.replace(pin, files={path: _better(proved.get(path), blob) for path, blob in fresh.items()})


def _better(old: Blob | None, new: Blob) -> Blob:
    return old if old is not None and old.origin == "git" and old.id == new.id else new
