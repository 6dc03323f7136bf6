"""Which release a bump means: by version, by commit, or the newest there is."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from packaging.version import InvalidVersion, Version

from track.errors import BadEnvironment, BadInput, Finding
from track.files import write_if_changed
from track.pins import history, ids, index, wheel
from track.pins.lock import Pin, Release
from track.pins.progress import Progress

__all__ = ["COMMIT", "NEWEST", "Search", "commit_in", "folder_of", "release_of", "told_of_a_full_disk"]

NEWEST = "newest"
COMMIT = re.compile(r"[0-9a-f]{40}")
_ALMOST_A_COMMIT = re.compile(r"[0-9a-fA-F]{7,}")  # no version has so many digits and no dot


@contextlib.contextmanager
def told_of_a_full_disk(pin: Pin) -> Generator[None]:
    """BadEnvironment in place of what the system says when there is no space left."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise BadEnvironment(
            "there is no space left on the disk",
            {"pin": pin, "folder": "build/"},
            "free some space, then run the same command again",
        ) from None


@dataclass(frozen=True)
class Search:
    """The pin that is to move, and where to look."""

    root: Path
    pin: Pin
    mirror: str | None
    progress: Progress

    @property
    def wheels(self) -> Path:
        """Where wheels are kept."""
        return self.root / "build" / "wheels"


def folder_of(root: Path, release: Release) -> Path:
    """Where a bump to the release keeps what it makes."""
    return root / "build" / "bump" / release.stem


def commit_in(wanted: str) -> str | None:
    """The commit that is asked for, or None where a version is; BadInput for what only looks like a commit."""
    if COMMIT.fullmatch(wanted):
        return wanted
    if _ALMOST_A_COMMIT.fullmatch(wanted):
        found = f"{wanted!r}, {len(wanted)} characters"
        raise BadInput("a commit is named in full", {"expected": "40 lowercase hex digits", "found": found})
    return None


def release_of(search: Search, wanted: str, commit: str | None, release: str | None) -> Release | None:
    """The release that runs; None where the newest is the pin's. Errors: as of `candidate.find`."""
    pin = search.pin
    if commit is None and release is not None:
        raise BadInput("a release is named beside a commit only", {"found": f"{wanted} and release {release}"})
    if wanted == NEWEST:
        return _newer(search)
    if commit is None:
        return _of_version(search, _later(pin, wanted))
    if commit == pin.commit:
        raise BadInput(f"{pin} is pinned already", {"commit": commit})
    return _of_version(search, _later(pin, release)) if release else _made_from(search, commit)


def _later(pin: Pin, wanted: str) -> Version:
    """The version, which must be one and newer than the pin's."""
    try:
        version = Version(wanted if wanted[:1].isdigit() else "")
    except InvalidVersion:
        expected = f"a version such as {pin.release.version}, {NEWEST!r}, or a full commit id"
        raise BadInput("this is no version", {"expected": expected, "found": repr(wanted)}) from None
    pinned = Version(pin.release.version)
    if version == pinned:
        raise BadInput(f"{pin.release} is pinned already", {"pin": pin})
    if version < pinned:
        raise BadInput(
            f"{pin.release.distribution} {version} is older than the pin, and a bump goes forward only",
            {"pin": pin, "expected": f"newer than {pinned}", "found": version},
            "to go back, check out pins.toml and docs/ of an earlier commit, "
            f"or change pins.toml and run: track pin write {pin.project}",
        )
    return version


def _newer(search: Search) -> Release | None:
    release = index.download(search.pin.release.distribution, None, search.wheels, search.progress)
    return None if Version(release.version) <= Version(search.pin.release.version) else _remembered(search, release)


def _known(search: Search) -> list[Release]:
    """The releases of requirements/history.txt, which are known by hash."""
    every = history.read(search.root / "requirements" / "history.txt")
    return [release for release in every if release.distribution == search.pin.release.distribution]


def _of_version(search: Search, version: Version) -> Release:
    """The release by the hash that the history or an earlier call knows, else as the index has it."""
    distribution = search.pin.release.distribution
    known = next((one for one in _known(search) if Version(one.version) == version), None)
    release = known or _kept(_note(search, Release(distribution, str(version), "")))
    if release is None:
        release = index.download(distribution, str(version), search.wheels, search.progress)
    return _remembered(search, release)


def _kept(note: Path) -> Release | None:
    try:
        return msgspec.json.decode(note.read_bytes(), type=Release)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _remembered(search: Search, release: Release) -> Release:
    """Keep the hash of a wheel that came from the index, so that a resumed bump needs no network."""
    write_if_changed(_note(search, release), msgspec.json.encode(release))
    return release


def _note(search: Search, release: Release) -> Path:
    return folder_of(search.root, release) / "release.json"


def _made_from(search: Search, commit: str) -> Release:
    """The release whose wheel names the commit; Finding where none of those at hand does."""
    named: dict[str, str] = {}
    for release in _at_hand(search):
        path = wheel.fetch(release, search.wheels, search.progress)
        named[str(release)] = ids.named_commit(search.pin, path) or "none"
        if named[str(release)] == commit:
            _later(search.pin, release.version)
            return release
    raise Finding(
        "no release at hand says that it was made from this commit",
        {"expected": commit, "found": "\n".join(f"{one}: {named[one]}" for one in named)},
        f"name the version that was: track bump {search.pin.project} {commit} --release VERSION",
    )


def _at_hand(search: Search) -> Iterator[Release]:
    yield from _known(search)
    yield _remembered(search, index.download(search.pin.release.distribution, None, search.wheels, search.progress))
