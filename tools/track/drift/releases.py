"""Two releases of a project set against each other."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterator, Mapping

from track.anchors.forest import Forest, Key
from track.anchors.match import Match, Matches, match
from track.drift.changes import (
    Changes,
    DoorChange,
    FactChange,
    FileChange,
    FileKind,
    Place,
    Side,
    SymbolChange,
    SymbolKind,
    TableChange,
)
from track.drift.doors import is_door, public_names
from track.drift.editions import Edition
from track.facts import book, rules
from track.facts.catalog import Fact

__all__ = ["compare"]

MOST = 0.5
"""Share of the definitions of a file that must be in one new file before the file counts as moved there."""


def compare(old: Edition, new: Edition, repository: str) -> Changes:
    """Everything that differs; Finding where a rule is registered in a form that is not known."""
    return Changes(
        old.project,
        repository,
        Side(old.version, old.commit),
        Side(new.version, new.commit),
        tuple(_Files.of(old, new).changes()),
        tuple(_doors(old, new)),
        tuple(_tables(old, new)),
        tuple(_facts(old, new)),
    )


@dataclasses.dataclass(frozen=True)
class _Files:
    """The files that are not byte for byte the same, parsed and matched; what the others define is where it was."""

    old: Forest
    new: Forest
    matches: Matches

    @classmethod
    def of(cls, old: Edition, new: Edition) -> _Files:
        paths = sorted(p for p in old.texts.keys() | new.texts.keys() if old.texts.get(p) != new.texts.get(p))
        before, after = (Forest({p: e.module(p) for p in paths if p in e.texts}) for e in (old, new))
        return cls(before, after, match(before, after))

    def changes(self) -> Iterator[FileChange]:
        homes = dict(self.homes())
        came_from = {new: old for old, new in homes.items()}
        symbols = _Symbols(self.old, self.new, self.matches, homes).by_file()
        for path in sorted((self.old.modules.keys() | self.new.modules.keys()) - homes.keys()):
            was = came_from.get(path, "")
            became = {} if path in self.new.modules else self.went(path)
            yield FileChange(
                path,
                self.kind(path, was, became),
                was,
                _lines(self.old, was or path),
                _lines(self.new, path),
                became,
                tuple(symbols.get(path, ())),
            )

    def kind(self, path: str, was: str, became: Mapping[str, int]) -> FileKind:
        if was:
            return "moved"
        if path not in self.new.modules:
            return "split" if len(became) > 1 else "removed"
        return "changed" if path in self.old.modules else "added"

    def homes(self) -> Iterator[tuple[str, str]]:
        """Old files that are gone, with the new file that most of what they define is in."""
        for path in sorted(self.old.modules.keys() - self.new.modules.keys()):
            total = sum(not s.parent for s in self.old.modules[path].symbols)
            for home, count in list(self.went(path).items())[:1]:
                if home not in self.old.modules and count > MOST * total:
                    yield path, home

    def went(self, path: str) -> dict[str, int]:
        """The files that the definitions of an old file are in, the one with most of them first."""
        found = (m.new[0] for k, m in self.matches.by_old.items() if k[0] == path and m.new and not self.parent(k))
        return dict(collections.Counter(found).most_common())

    def parent(self, where: Key) -> str:
        return self.old.symbols[where].parent


@dataclasses.dataclass(frozen=True, eq=False)
class _Symbols:
    """What became of each symbol; what follows from the change of something larger is left out."""

    old: Forest
    new: Forest
    matches: Matches
    homes: Mapping[str, str]

    @functools.cached_property
    def local(self) -> tuple[frozenset[Key], frozenset[Key]]:
        """What is defined inside functions, on either side."""
        return _local(self.old), _local(self.new)

    def by_file(self) -> Mapping[str, list[SymbolChange]]:
        """The changes by the path that the file is shown under, those on a class that its members explain left out."""
        found = list(self.all())
        explained = {above for change in found for above in _above(change)}
        files: dict[str, list[SymbolChange]] = collections.defaultdict(list)
        for change in found:
            place = change.new or change.old
            if place and not (change.kind == "changed" and self.is_explained(change, explained)):
                files[self.homes.get(place.path, place.path)].append(change)
        return files

    def all(self) -> Iterator[SymbolChange]:
        for one in self.matches.by_old.values():
            if one.old not in self.local[0] and (change := self.change(one)):
                yield change
        for key in self.matches.added:
            if key not in self.local[1]:
                yield SymbolChange("added", None, _place(self.new, key))

    def change(self, one: Match) -> SymbolChange | None:
        old = _place(self.old, one.old)
        if one.new is None:
            shown = [key[1] for key in one.candidates if key not in self.local[1]]
            like = tuple(shown if one.kind == "ambiguous" else shown[:1])  # of names that are only similar, the closest
            return SymbolChange("removed", old, None, like=like)
        new = _place(self.new, one.new)
        if self.came_along(one.old, one.new):
            return None if one.same_body else SymbolChange("changed", old, new)
        kind: SymbolKind = (
            "renamed" if self.old.symbols[one.old].qualname != self.new.symbols[one.new].qualname else "moved"
        )
        return SymbolChange(kind, old, new, is_edited=not one.same_body)

    def came_along(self, old: Key, new: Key) -> bool:
        """Whether a symbol kept its name, and is where its class, or its file, is now."""
        mine, theirs = self.old.symbols[old], self.new.symbols[new]
        if mine.name != theirs.name or bool(mine.parent) != bool(theirs.parent):
            return False
        if mine.parent:
            above = self.matches.by_old.get((old[0], mine.parent))
            if above and above.new:
                return above.new == (new[0], theirs.parent)
        return mine.parent == theirs.parent and self.homes.get(old[0], old[0]) == new[0]

    def is_explained(self, change: SymbolChange, explained: set[Key]) -> bool:
        old, new = change.old, change.new
        if old is None or new is None or (new.path, new.symbol) not in explained:
            return False
        mine, theirs = self.old.statements((old.path, old.symbol)), self.new.statements((new.path, new.symbol))
        return mine[0].fingerprint == theirs[0].fingerprint


def _place(forest: Forest, where: Key) -> Place:
    path, selector = where
    span = forest.symbols[where].span
    return Place(path, selector, span.first, span.last)


def _above(change: SymbolChange) -> Iterator[Key]:
    """The classes that a change is in, on either side."""
    for place in (change.old, change.new):
        if place:
            yield from ((place.path, name) for name in _prefixes(place.symbol.partition(" ")[0]))


def _local(forest: Forest) -> frozenset[Key]:
    """The symbols that are defined in a function, whose own change says enough."""
    functions = {(k[0], s.qualname) for k, s in forest.symbols.items() if s.kind == "function"}
    return frozenset(k for k, s in forest.symbols.items() if any((k[0], a) in functions for a in _prefixes(s.qualname)))


def _prefixes(name: str) -> Iterator[str]:
    """The names of all that something is in, the nearest first."""
    while name := name.rpartition(".")[0]:
        yield name


def _lines(forest: Forest, path: str) -> int:
    return len(forest.modules[path].lines) if path in forest.modules else 0


def _doors(old: Edition, new: Edition) -> Iterator[DoorChange]:
    for path in sorted(filter(is_door, old.texts.keys() | new.texts.keys())):
        before, after = (dict(public_names(e.module(path))) if path in e.texts else {} for e in (old, new))
        change = DoorChange(
            path,
            tuple(sorted(after.keys() - before.keys())),
            tuple(sorted(before.keys() - after.keys())),
            tuple(sorted(name for name, warns in after.items() if warns and before.get(name) is False)),
            tuple(sorted(name for name, warns in after.items() if not warns and before.get(name))),
        )
        if change.added or change.removed or change.deprecated or change.restored:
            yield change


def _tables(old: Edition, new: Edition) -> Iterator[TableChange]:
    """The tables of every backend, the same ones on both sides or not."""
    if old.project != "jax":
        return
    before, after = (_checked_tables(edition) for edition in (old, new))
    conditions = rules.conditions(new.module)
    for table in dict.fromkeys([*before, *after]):
        mine, theirs = (side.get(table, frozenset[str]()) for side in (before, after))
        held = {name: why for (of, name), why in conditions.items() if of == table}
        added, removed = tuple(sorted(theirs - mine)), tuple(sorted(mine - theirs))
        yield TableChange(table, len(mine), len(theirs), added, removed, held)


@functools.lru_cache(maxsize=2)  # a release is compared with the one before it and with the one after
def _checked_tables(edition: Edition) -> Mapping[str, frozenset[str]]:
    rules.check_complete(edition.texts, edition.module)
    return rules.tables(edition.module)


def _facts(old: Edition, new: Edition) -> Iterator[FactChange]:
    before, after = _facts_of(old), _facts_of(new)
    for name, fact in after.items():
        was = before[name]
        if was.value != fact.value:
            yield FactChange(name, fact.what, was.value, fact.value, was.why or fact.why)


@functools.lru_cache(maxsize=2)  # as above
def _facts_of(edition: Edition) -> Mapping[str, Fact]:
    return book.of_modules(edition.project, edition.module)
