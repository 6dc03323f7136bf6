"""What changed from one release to another, computed once and kept in `build/changes`."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from pathlib import Path

import msgspec

import track
from track.drift.changes import Changes
from track.drift.editions import Edition, known, open_edition
from track.drift.releases import compare
from track.errors import BadInput
from track.files import digest, write_if_changed
from track.pins.lock import Pin, Release
from track.pins.progress import Progress, Quiet

__all__ = ["changes_of", "steps"]

CODE = ("anchors", "drift", "facts")
"""The parts of the tool that decide what a comparison says."""


class _Kept(msgspec.Struct, frozen=True):
    """A comparison, and the key of what it was made from."""

    key: str
    changes: Changes


def changes_of(
    root: Path, pins: Mapping[str, Pin], project: str, old: str, new: str, *, progress: Progress | None = None
) -> Changes:
    """What changed from release `old` to release `new`; BadInput unless requirements/history.txt has both."""
    if project not in pins:
        raise BadInput(f"no pinned project '{project}'", {"expected": ", ".join(pins)})
    releases = known(root, pins[project])
    for version in (old, new):
        if version not in releases:
            raise BadInput(
                f"no release '{version}' of {project} to compare",
                {"file": "requirements/history.txt", "expected": ", ".join(releases)},
                "name one of these, or add a line to that file as its head says",
            )
    if old == new:
        raise BadInput(f"{project} {old} compared with itself", next_step="name two releases")
    return _Comparer(root, pins[project], progress or Quiet()).between(releases[old], releases[new])


def steps(root: Path, pin: Pin, progress: Progress | None = None) -> tuple[Changes, ...]:
    """What changed from each release in requirements/history.txt to the next, the newest step first."""
    comparer = _Comparer(root, pin, progress or Quiet())
    pairs = itertools.pairwise(known(root, pin).values())
    return tuple(reversed([comparer.between(old, new) for old, new in pairs]))


@dataclasses.dataclass(frozen=True)
class _Comparer:
    root: Path
    pin: Pin
    progress: Progress
    editions: dict[str, Edition] = dataclasses.field(default_factory=dict[str, Edition])

    def between(self, old: Release, new: Release) -> Changes:
        """From the file that an earlier comparison left, if nothing that it was made from has changed."""
        store = self.root / "build" / "changes" / f"{self.pin.project}-{old.version}-{new.version}.json"
        key = digest(old.sha256, new.sha256, self.pin.repository, self.pin.commit, *sorted(self.pin.files), _code())
        kept = _read(store)
        if kept is None or kept.key != key:
            with self.progress.busy(f"comparing {old} with {new.version}"):
                kept = _Kept(key, compare(self.edition(old), self.edition(new), self.pin.repository))
            write_if_changed(store, msgspec.json.encode(kept, order="sorted"))
        return kept.changes

    def edition(self, release: Release) -> Edition:
        """A release, opened once however many it is compared with."""
        if release.version not in self.editions:
            self.editions[release.version] = open_edition(self.root, self.pin, release, self.progress)
        return self.editions[release.version]


def _read(store: Path) -> _Kept | None:
    """What was kept; nothing for a file that is not there, or not as we write it."""
    try:
        return msgspec.json.decode(store.read_bytes(), type=_Kept)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _code() -> str:
    """A hash of the modules whose change may change a comparison."""
    here = Path(track.__file__).parent
    files = sorted(path for part in CODE for path in (here / part).glob("*.py"))
    return digest(*(path.read_bytes() for path in files))
