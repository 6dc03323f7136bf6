"""Symbols of two pins set against each other: which new symbol is which old one.

A rung answers only where one old and one new symbol fit each other and no other. Nothing is matched by similarity; it
gives candidates.
"""

from __future__ import annotations

import collections
import dataclasses
import difflib
import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Literal

from track.anchors.forest import Forest, Key
from track.anchors.symbols import Symbol

__all__ = ["Kind", "Match", "Matches", "match"]

Kind = Literal["unchanged", "moved", "edited", "renamed", "ambiguous", "lost"]

ENOUGH = 12
"""Syntax nodes that a definition needs before its body alone, under another name, is taken for the same definition."""

ALIKE = 0.6
"""Similarity of two names, from 0 to 1, from which one is offered as a candidate for the other."""


@dataclasses.dataclass(frozen=True)
class Match:
    """What became of one old symbol. `new` is None where it is ambiguous or lost; `candidates` are places to look."""

    old: Key
    kind: Kind
    new: Key | None
    same_body: bool = False
    candidates: tuple[Key, ...] = ()


@dataclasses.dataclass(frozen=True)
class Matches:
    """Every old symbol with what became of it, and the new symbols that no old one became."""

    by_old: Mapping[Key, Match]
    added: tuple[Key, ...]


def match(old: Forest, new: Forest) -> Matches:
    """Match the symbols of two pins of one project."""
    work = _Work(old, new)
    work.in_place()
    work.elsewhere()
    return work.result()


@dataclasses.dataclass
class _Work:
    """Pairs found so far, and the symbols that have no partner yet."""

    old: Forest
    new: Forest
    pairs: dict[Key, Key] = dataclasses.field(default_factory=dict[Key, Key])
    taken: set[Key] = dataclasses.field(default_factory=set[Key])

    def pair(self, old: Key, new: Key) -> None:
        self.pairs[old] = new
        self.taken.add(new)

    def in_place(self) -> None:
        """Symbols that kept their file and qualified name; of several with one name, those that fit by body."""
        mine, theirs = _by_qualname(self.old), _by_qualname(self.new)
        for where, olds in mine.items():
            news = theirs.get(where, [])
            for what in (_body, _header, _same):
                left = [k for k in olds if k not in self.pairs]
                free = [k for k in news if k not in self.taken]
                for a, b in _one_to_one(
                    left, free, functools.partial(what, self.old), functools.partial(what, self.new)
                ):
                    self.pair(a, b)

    def elsewhere(self) -> None:
        """Symbols that are in another file or under another name; a pair of classes brings its members along."""
        while True:
            before = len(self.pairs)
            self.by(lambda f, k: (self.parent(f, k), _name(f, k)), self.has_paired_parent)
            self.by(lambda f, k: (_qualname(f, k), f.bodies[k]))
            self.by(lambda f, k: (_name(f, k), f.bodies[k]), self.is_heavy)
            self.by(_qualname, self.is_top)
            self.by(lambda f, k: (f.symbols[k].kind, f.bodies[k]), self.is_heavy)
            if len(self.pairs) == before:
                return

    def by(self, what: Callable[[Forest, Key], Hashable], wanted: Callable[[Forest, Key], bool] | None = None) -> None:
        """Pair what is left over on both sides, is wanted, and agrees in `what` with one partner alone."""
        olds = [k for k in self.old.symbols if k not in self.pairs and (wanted is None or wanted(self.old, k))]
        news = [k for k in self.new.symbols if k not in self.taken and (wanted is None or wanted(self.new, k))]
        for a, b in _one_to_one(olds, news, lambda k: what(self.old, k), lambda k: what(self.new, k)):
            self.pair(a, b)

    def parent(self, forest: Forest, where: Key) -> Key | None:
        """The parent, an old one as the new one that it became."""
        above = _parent(forest, where)
        return self.pairs.get(above) if above and forest is self.old else above

    def has_paired_parent(self, forest: Forest, where: Key) -> bool:
        above = _parent(forest, where)
        return above is not None and (above in self.pairs if forest is self.old else above in self.taken)

    def is_heavy(self, forest: Forest, where: Key) -> bool:
        return forest.weights[where] >= ENOUGH

    def is_top(self, forest: Forest, where: Key) -> bool:
        return not forest.symbols[where].parent

    def result(self) -> Matches:
        added = tuple(k for k in self.new.symbols if k not in self.taken)
        return Matches({k: self.became(k, added) for k in self.old.symbols}, added)

    def became(self, old: Key, added: tuple[Key, ...]) -> Match:
        new = self.pairs.get(old)
        if new is None:
            twins = [k for k in added if _qualname(self.new, k) == _qualname(self.old, old)]
            twins += [k for k in added if k not in twins and self.is_twin(old, k)]
            kind: Kind = "ambiguous" if len(twins) > 1 else "lost"
            return Match(old, kind, None, candidates=tuple(twins) or tuple(_alike(self, old, added)))
        same = self.old.bodies[old] == self.new.bodies[new]
        return Match(old, _kind(self, old, new, same=same), new, same)

    def is_twin(self, old: Key, new: Key) -> bool:
        return self.is_heavy(self.old, old) and self.old.bodies[old] == self.new.bodies[new]


def _kind(work: _Work, old: Key, new: Key, *, same: bool) -> Kind:
    if _qualname(work.old, old) != _qualname(work.new, new):
        return "renamed"
    if old[0] != new[0]:
        return "moved"
    return "unchanged" if same else "edited"


def _one_to_one(
    olds: Iterable[Key], news: Iterable[Key], of_old: Callable[[Key], Hashable], of_new: Callable[[Key], Hashable]
) -> Iterator[tuple[Key, Key]]:
    """The pairs that agree, where each is the only one of its side that does."""
    mine, theirs = _grouped(olds, of_old), _grouped(news, of_new)
    for what, group in mine.items():
        if len(group) == 1 and len(theirs.get(what, ())) == 1:
            yield group[0], theirs[what][0]


def _grouped(keys: Iterable[Key], of: Callable[[Key], Hashable]) -> dict[Hashable, list[Key]]:
    groups: dict[Hashable, list[Key]] = collections.defaultdict(list)
    for k in keys:
        groups[of(k)].append(k)
    return groups


def _by_qualname(forest: Forest) -> dict[Hashable, list[Key]]:
    return _grouped(forest.symbols, lambda k: (k[0], forest.symbols[k].qualname))


def _qualname(forest: Forest, where: Key) -> str:
    return forest.symbols[where].qualname


def _body(forest: Forest, where: Key) -> str:
    return forest.bodies[where]


def _header(forest: Forest, where: Key) -> str:
    """Decorators and signature, or the whole of a statement that defines a name."""
    return forest.statements(where)[0].fingerprint


def _same(*_: object) -> None:
    """What all symbols with one name have in common: it fits where one is left on either side."""


def _name(forest: Forest, where: Key) -> str:
    return forest.symbols[where].name


def _parent(forest: Forest, where: Key) -> Key | None:
    symbol: Symbol = forest.symbols[where]
    above = [k for k in ((where[0], symbol.parent),) if symbol.parent and k in forest.symbols]
    return above[0] if above else None


def _alike(work: _Work, old: Key, added: tuple[Key, ...]) -> list[Key]:
    """Up to three new symbols whose name is most like the old one's."""
    names: dict[str, Key] = {}
    for k in added:
        names.setdefault(_name(work.new, k), k)
    return [names[n] for n in difflib.get_close_matches(_name(work.old, old), names, n=3, cutoff=ALIKE)]
