"""Source trees in `build/sources/<project>-<commit>/`: opened if they are whole, made if they are not."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import tempfile
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from track.errors import BadEnvironment, BadInput
from track.pins import bring
from track.pins.lock import Origin, Pin
from track.pins.progress import Progress, Quiet
from track.pins.tree import SourceTree

__all__ = ["Mirror", "Source", "open_tree", "sync", "tree_folder"]

type Source = Literal["auto", "git", "wheel"]
type Mirror = str | Mapping[str, str] | None

_MARKER = ".origin.json"
_PARTIAL = ".partial-"


class _Marker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Written last into a tree: whose files these are, and which way they came."""

    commit: str
    kind: Origin


@dataclass(frozen=True)
class _Order:
    """One tree that is wanted, and the ways in which it may come."""

    root: Path
    pin: Pin
    source: Source
    mirror: str | None
    progress: Progress


def sync(
    root: Path,
    pins: Mapping[str, Pin],
    source: Source = "auto",
    mirror: Mirror = None,
    progress: Progress | None = None,
) -> dict[str, SourceTree]:
    """One verified tree for each pin, by project.

    `auto` takes what is there, else git, else the wheel; `git` and `wheel` insist.
    `mirror` stands in for the repository: a folder, a `file://` address or one on this machine, for all or by project.
    Who names a mirror insists on git.

    Errors: Finding for a wrong byte, BadEnvironment if the files cannot be had, BadInput for a commit that is absent.
    """
    if mirror and source == "wheel":
        raise BadInput("a mirror is a git repository, and a wheel was asked for", next_step="leave one of the two out")
    trees: dict[str, SourceTree] = {}
    for project, pin in pins.items():
        place = mirror.get(project) if isinstance(mirror, Mapping) else mirror
        trees[project] = _tree(_Order(root, pin, "git" if place else source, place, progress or Quiet()))
    return trees


def tree_folder(root: Path, pin: Pin) -> Path:
    """Where the pin's files lie."""
    return root / "build" / "sources" / f"{pin.project}-{pin.commit}"


def open_tree(root: Path, pin: Pin) -> SourceTree | None:
    """The pin's tree if it is there and has every file; Finding if a byte of it is wrong."""
    folder = tree_folder(root, pin)
    try:
        marker = msgspec.json.decode((folder / _MARKER).read_bytes(), type=_Marker)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    tree = SourceTree(pin, marker.kind, folder)
    if marker.commit != pin.commit or not all((folder / path).is_file() for path in tree.paths):
        return None
    tree.check()
    return tree


def _tree(order: _Order) -> SourceTree:
    tree = _opened(order)
    if tree is not None:
        return tree
    folder = tree_folder(order.root, order.pin)
    with order.progress.busy(f"{order.pin}: bringing its sources"), _turn(folder.parent) as sources:
        # Another process may have made it while we waited for our turn.
        return _opened(order) or _made(order, sources, folder)


def _opened(order: _Order) -> SourceTree | None:
    tree = open_tree(order.root, order.pin)
    return tree if tree is not None and order.source in ("auto", tree.kind) else None


@contextlib.contextmanager
def _turn(sources: Path) -> Generator[Path]:
    """Wait until no other process makes a tree, then clear away what a killed one left behind."""
    sources.mkdir(parents=True, exist_ok=True)
    with (sources / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in sources.glob(f"{_PARTIAL}*"):
            shutil.rmtree(left)
        yield sources


def _made(order: _Order, sources: Path, folder: Path) -> SourceTree:
    pin = order.pin
    with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=sources) as partial:
        kind, files = _brought(order, Path(partial))
        bring.check(pin, kind, files)
        _install(_Marker(pin.commit, kind), files, Path(partial), folder)
    order.progress.say(f"{pin}: {len(files)} files from {'git' if kind == 'git' else f'the wheel of {pin.release}'}")
    return SourceTree(pin, kind, folder)


def _brought(order: _Order, scratch: Path) -> tuple[Origin, Mapping[str, bytes]]:
    pin = order.pin
    if order.source != "wheel":
        try:
            return "git", bring.from_git(pin, scratch, order.mirror)
        except BadEnvironment as error:
            if order.source == "git":
                raise
            order.progress.say(f"{pin}: {error.what}; taking the wheel of {pin.release}")
    return "wheel", bring.from_wheel(pin, order.root / "build" / "wheels")


def _install(marker: _Marker, files: Mapping[str, bytes], scratch: Path, folder: Path) -> None:
    """Write the tree beside its place, its marker last, and move it there whole."""
    made = scratch / "tree"
    for path, data in files.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_bytes(data)
    (made / _MARKER).write_bytes(msgspec.json.encode(marker) + b"\n")
    if folder.exists():
        folder.rename(scratch / "old")
    made.rename(folder)
