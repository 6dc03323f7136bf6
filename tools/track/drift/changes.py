"""What differs between two releases, as values: names, kinds, places and counts, and nothing of the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from track.spans import Span

__all__ = [
    "Changes",
    "DoorChange",
    "FactChange",
    "FileChange",
    "FileKind",
    "Place",
    "Side",
    "SymbolChange",
    "SymbolKind",
    "TableChange",
]

type FileKind = Literal["added", "removed", "moved", "split", "changed"]
type SymbolKind = Literal["added", "removed", "renamed", "moved", "changed"]


class Side(msgspec.Struct, frozen=True):
    """One of the two releases, with its commit, if the pins or its wheel name one."""

    version: str
    commit: str | None


class Place(msgspec.Struct, frozen=True):
    """A symbol of one side: its file, its name in that file, and its first and last line."""

    path: str
    symbol: str
    first: int
    last: int

    @property
    def span(self) -> Span:
        """Its lines."""
        return Span(self.first, self.last)


class SymbolChange(msgspec.Struct, frozen=True):
    """What became of one symbol, outside of functions.

    `is_edited` tells whether one that was moved or renamed is also otherwise another. One that is removed may have
    new ones that are like it; nothing says that it became one of them.
    """

    kind: SymbolKind
    old: Place | None
    new: Place | None
    is_edited: bool = False
    like: tuple[str, ...] = ()


class FileChange(msgspec.Struct, frozen=True):
    """What became of one file, under its new path, or under its old one if it is gone, with its symbols that changed.

    `was` is the old path of one that moved. `became` are the files that the symbols of a file that is gone are in.
    """

    path: str
    kind: FileKind
    was: str
    old_lines: int
    new_lines: int
    became: Mapping[str, int]
    symbols: tuple[SymbolChange, ...]

    def count(self, kind: SymbolKind) -> int:
        """How many of its symbols changed in this way."""
        return sum(change.kind == kind for change in self.symbols)


class TableChange(msgspec.Struct, frozen=True):
    """The primitives that a rule table gained and lost.

    `conditions` are those that have a rule only where another package is new enough, on the new side.
    """

    table: str
    old: int
    new: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    conditions: Mapping[str, str]


class DoorChange(msgspec.Struct, frozen=True):
    """The public names of a module that came and went, began to warn that they are deprecated, or ceased to."""

    path: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    deprecated: tuple[str, ...]
    restored: tuple[str, ...]


class FactChange(msgspec.Struct, frozen=True):
    """A named number that is another one now, or that one side does not have, for the reason given."""

    name: str
    what: str
    old: int | str | None
    new: int | str | None
    why: str


class Changes(msgspec.Struct, frozen=True):
    """Everything that differs between two releases of a project."""

    project: str
    repository: str
    old: Side
    new: Side
    files: tuple[FileChange, ...]
    doors: tuple[DoorChange, ...]
    tables: tuple[TableChange, ...]
    facts: tuple[FactChange, ...]

    def count(self, kind: SymbolKind) -> int:
        """How many symbols changed in this way."""
        return sum(file.count(kind) for file in self.files)

    def of_kind(self, *kinds: FileKind) -> list[FileChange]:
        """The files that changed in one of these ways."""
        return [file for file in self.files if file.kind in kinds]

    def permalink(self, side: Side, place: Place) -> str | None:
        """The lines of a definition at the commit of one side; None where that has no commit."""
        if side.commit is None:
            return None
        last = f"-L{place.last}" if place.last > place.first else ""
        return f"{self.repository}/blob/{side.commit}/{place.path}#L{place.first}{last}"
