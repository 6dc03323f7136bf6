"""Which pin a bump means: from a version, `newest` or a commit to a pin whose bytes were looked at."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping
from importlib.metadata import PathDistribution
from pathlib import Path, PurePosixPath

import msgspec

from track.bump.wanted import COMMIT, Search, commit_in, release_of, told_of_a_full_disk
from track.errors import BadEnvironment, BadInput, Finding
from track.files import blob_id
from track.pins import bring, ids, wheel
from track.pins.lock import Blob, Pin, Release
from track.pins.progress import Progress, Quiet

__all__ = ["Candidate", "asks_of", "find", "scope"]

_TAGS = ("{project}-v{version}", "v{version}", "{version}")


class Candidate(msgspec.Struct, frozen=True):
    """A pin that a bump could move to, and what lies around it.

    `pin` has the ids of all files of the old pin that are there; `missing` are those that are not.
    `files` is `scope` of its wheel, and `asks` are the packages that the release's metadata asks for.
    """

    pin: Pin
    missing: tuple[str, ...]
    files: Mapping[str, bytes]
    asks: tuple[str, ...]


def find(
    root: Path,
    pin: Pin,
    wanted: str,
    release: str | None = None,
    mirror: str | None = None,
    *,
    progress: Progress | None = None,
) -> Candidate | None:
    """The candidate that `wanted` means, a version, `newest` or a full commit; None if the pin is the newest already.

    A commit needs a release that was made from it, since what is read must be what runs: `release` names its version;
    without that, the newest one and those of requirements/history.txt are asked for their commits.
    Git, or a `mirror` of it, proves the files; where it cannot be reached they claim to be the release's, and no more.

    Errors: BadInput for a version or commit that cannot be meant; Finding where wheel and commit do not go together;
    BadEnvironment where there is no network or no space. Nothing half made is left behind that a later call trusts.
    """
    search = Search(root, pin, mirror, progress or Quiet())
    with told_of_a_full_disk(pin):
        commit = commit_in(wanted)
        found = release_of(search, wanted, commit, release)
        return None if found is None else _candidate(search, found, commit)


def scope(pin: Pin, path: Path, before: Path | None = None) -> dict[str, bytes]:
    """Every Python file of the wheel at `path` in the folders that hold a pinned one, pinned or not.

    Given the wheel from `before`, also those of folders below that are new since: a file may be split into a folder.
    """
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".py")]
        pinned = {PurePosixPath(name).parent for name in pin.files if name.endswith(".py")}
        new = _folders(names) - _folders_of(before) if before else set[PurePosixPath]()
        wanted = pinned | {folder for folder in new if pinned & {*folder.parents}}
        return {name: archive.read(name) for name in sorted(names) if PurePosixPath(name).parent in wanted}


def _folders_of(path: Path) -> set[PurePosixPath]:
    with zipfile.ZipFile(path) as archive:
        return _folders(archive.namelist())


def _folders(names: list[str]) -> set[PurePosixPath]:
    return {PurePosixPath(name).parent for name in names}


def _candidate(search: Search, release: Release, asked: str | None) -> Candidate:
    path = wheel.fetch(release, search.wheels, search.progress)
    before = wheel.fetch(search.pin.release, search.wheels, search.progress)
    commit = _commit(search, release, path, asked)
    pin = ids.at_release(search.pin, release, path, commit)
    committed = _committed(search, pin)
    pin = _unproved(search.pin, pin, before) if committed is None else _proved(pin, committed)
    missing = tuple(name for name in search.pin.files if name not in pin.files)
    return Candidate(pin, missing, scope(search.pin, path, before), asks_of(release, path))


def _commit(search: Search, release: Release, path: Path, asked: str | None) -> str:
    """The commit that the wheel names, else the one that was asked for, else the one that the release's tag is on."""
    named = ids.named_commit(search.pin, path)
    if named and not COMMIT.fullmatch(named):
        raise Finding(f"the wheel of {release} names something that is no commit", {"found": repr(named)})
    if named and asked and named != asked:
        raise Finding(
            f"the wheel of {release} was made from another commit",
            {"expected": asked, "found": named},
            f"track bump {search.pin.project} {named}",
        )
    return named or asked or _tagged(search, release)


def _tagged(search: Search, release: Release) -> str:
    names = [tag.format(project=search.pin.project, version=release.version) for tag in _TAGS]
    next_step = f"say which commit it is: track bump {search.pin.project} COMMIT --release {release.version}"
    about = {"repository": search.mirror or search.pin.repository, "tags": ", ".join(names)}
    try:
        with tempfile.TemporaryDirectory() as scratch, search.progress.busy(f"asking for the tag of {release}"):
            commit = bring.tagged(search.pin, names, Path(scratch), search.mirror)
    except BadEnvironment as error:
        what = f"the wheel of {release} names no commit, and the repository cannot be asked for its tag"
        said = error.details.get("git said", error.what)
        raise BadEnvironment(what, {**about, "git said": said}, next_step) from None
    if commit is None:
        raise BadInput(f"the wheel of {release} names no commit, and the repository has no tag of it", about, next_step)
    return commit


def _committed(search: Search, pin: Pin) -> Mapping[str, bytes] | None:
    """The old pin's files as the new commit has them, or None where git cannot be reached and nobody insists on it."""
    whole = msgspec.structs.replace(pin, files=search.pin.files)
    try:
        with tempfile.TemporaryDirectory() as scratch, search.progress.busy(f"{pin}: bringing its files from git"):
            return bring.from_git(whole, Path(scratch), search.mirror, present=True)
    except BadEnvironment as error:
        if search.mirror:
            raise
        search.progress.say(f"{pin}: {error.what}; the ids are those of the wheel of {pin.release}")
        return None


def _proved(pin: Pin, committed: Mapping[str, bytes]) -> Pin:
    """The pin with the ids that git has; Finding if the wheel has a file that is not the commit's."""
    proved = {path: Blob("git", blob_id(data)) for path, data in committed.items()}
    wrong = [
        f"{path}: commit {proved[path].id if path in proved else 'has none'}, wheel {pin.blob(path).id}"
        for path in pin.files
        if path not in proved or proved[path].id != pin.blob(path).id
    ]
    if wrong:
        raise Finding(
            f"the wheel of {pin.release} was not made from commit {pin.short}: files differ",
            {"commit": pin.commit, "blob ids": "\n".join(wrong)},
            "name the commit that it was made from",
        )
    return msgspec.structs.replace(pin, files=proved)


def _unproved(old: Pin, pin: Pin, before: Path) -> Pin:
    """The pin as it is; BadEnvironment if the old one has files that its wheel lacks: git alone could tell of them."""
    gone = [path for path in old.files if path not in pin.files]
    only_git = [path for path in gone if path not in wheel.read(old, before)]
    if only_git:
        raise BadEnvironment(
            "the pin has files that can only come from git, which cannot be reached",
            {"pin": old, "files": "\n".join(only_git)},
            "run again where the repository can be reached, or remove them from pins.toml",
        )
    return pin


def asks_of(release: Release, path: Path) -> tuple[str, ...]:
    """The requirements in the metadata of a release's wheel, as they are written there."""
    with zipfile.ZipFile(path) as archive:
        return tuple(PathDistribution(zipfile.Path(archive, f"{release.stem}.dist-info/")).requires or ())
