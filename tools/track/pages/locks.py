"""The machine-written lock beside an annotated page: the anchors that its notes were reviewed against."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from track.anchors.anchor import Anchor
from track.anchors.match import Kind
from track.errors import BadInput
from track.files import digest, write_if_changed

__all__ = ["Lock", "Locked", "key", "lock_path", "lock_text", "note_id", "parse_lock", "read_lock", "write_lock"]


class Locked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One note: the listing that it stands in, its anchor, and the pin whose code that is.

    `reviewed` is the earlier pin at which a person read it last, where a bump carried it over since. `pending` is the
    drift for which a person has to read it again; its anchor and pin are then still the old ones.
    """

    listing: str
    pin: str
    anchor: Anchor
    reviewed: str = ""
    pending: Kind | None = None


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


def note_id(page: str, note: Locked) -> str:
    """Eight hex digits by which the commands name a note: the same as long as its page, listing and quote are."""
    return digest(page, note.listing, note.anchor.path, note.anchor.first, note.anchor.last or "")[:8]


def lock_path(page: Path) -> Path:
    """`pipeline.md` has `pipeline.lock.json` beside it."""
    return page.with_suffix(".lock.json")


def read_lock(page: Path) -> Lock:
    """The lock of a page; an empty one if there is no file yet."""
    path = lock_path(page)
    return parse_lock(path.name, path.read_bytes()) if path.is_file() else Lock()


def parse_lock(name: str, data: bytes) -> Lock:
    """A lock from the bytes of its file; BadInput if they are none."""
    try:
        return Lock(msgspec.json.decode(data, type=list[Locked]))
    except msgspec.MsgspecError as error:
        raise BadInput(
            "a lock that cannot be read",
            {"file": name, "found": error},
            "take the file back from git; it is written by `track`, never by hand",
        ) from error


def lock_text(notes: Iterable[Locked]) -> str:
    """The text of a lock's file, one note a line, in page order; empty for no notes."""
    rows = [msgspec.json.encode(note).decode() for note in notes]
    return "[\n" + ",\n".join(rows) + "\n]\n" if rows else ""


def write_lock(page: Path, notes: Iterable[Locked]) -> bool:
    """Write a page's lock, and return whether anything changed; no notes, no file."""
    path = lock_path(page)
    text = lock_text(notes)
    if not text:
        existed = path.exists()
        path.unlink(missing_ok=True)
        return existed
    return write_if_changed(path, text)
