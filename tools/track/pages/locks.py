"""The machine-written lock beside an annotated page: the anchors that its notes were reviewed against."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from track.anchors.anchor import Anchor
from track.errors import BadInput
from track.files import write_if_changed

__all__ = ["Lock", "Locked", "lock_path", "read_lock", "write_lock"]


class Locked(msgspec.Struct, frozen=True, kw_only=True):
    """One note: the listing that it stands in, the pin that it was reviewed at, and its anchor."""

    listing: str
    pin: str
    anchor: Anchor


Key = tuple[str, str, str, str | None]


class Lock:
    """The notes of one page, by listing and quote."""

    def __init__(self, notes: Iterable[Locked] = ()) -> None:
        self.notes = {key(n.listing, n.anchor): n for n in notes}

    def get(self, listing: str, path: str, first: str, last: str | None) -> Locked | None:
        """What the lock holds of a note, if it has been seen before."""
        return self.notes.get((listing, path, first, last))


def key(listing: str, anchor: Anchor) -> Key:
    """What tells the notes of a page apart."""
    return (listing, anchor.path, anchor.first, anchor.last)


def lock_path(page: Path) -> Path:
    """`pipeline.md` has `pipeline.lock.json` beside it."""
    return page.with_suffix(".lock.json")


def read_lock(page: Path) -> Lock:
    """The lock of a page; an empty one if there is no file yet."""
    path = lock_path(page)
    if not path.is_file():
        return Lock()
    try:
        return Lock(msgspec.json.decode(path.read_bytes(), type=list[Locked]))
    except msgspec.MsgspecError as error:
        raise BadInput(
            "a lock that cannot be read",
            {"file": path.name, "page": page.name, "found": error},
            "take the file back from git; it is written by `track`, never by hand",
        ) from error


def write_lock(page: Path, notes: Iterable[Locked]) -> bool:
    """Write one note a line, in page order, and return whether anything changed; no notes, no file."""
    rows = [msgspec.json.encode(note).decode() for note in notes]
    path = lock_path(page)
    if not rows:
        existed = path.exists()
        path.unlink(missing_ok=True)
        return existed
    return write_if_changed(path, "[\n" + ",\n".join(rows) + "\n]\n")
