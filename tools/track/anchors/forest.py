"""All modules of one project at one pin, and what is looked up across them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping

from track.anchors import fingerprints
from track.anchors.fingerprints import Statement
from track.anchors.symbols import Module, Symbol

__all__ = ["Forest", "Key", "key"]

type Key = tuple[str, str]
"""A symbol's path and selector."""


def key(module: Module, symbol: Symbol | None) -> Key:
    """Path and selector; the selector of module-level code is empty."""
    return (module.path, symbol.selector if symbol else "")


@dataclasses.dataclass(frozen=True, eq=False)
class Forest:
    """The parsed files by path. What is computed of them is computed once."""

    modules: Mapping[str, Module]

    @functools.cached_property
    def symbols(self) -> Mapping[Key, Symbol]:
        """Every symbol of every file, in file order."""
        return {(path, s.selector): s for path, module in self.modules.items() for s in module.symbols}

    @functools.cached_property
    def bodies(self) -> Mapping[Key, str]:
        """The fingerprint of each symbol, blind to its name and docstring."""
        return {(path, name): body for path, m in self.modules.items() for name, body in fingerprints.bodies(m).items()}

    @functools.cached_property
    def weights(self) -> Mapping[Key, int]:
        """The number of syntax nodes in each symbol."""
        return {k: sum(s.weight for s in self.statements(k)) for k in self.symbols}

    def statements(self, where: Key) -> tuple[Statement, ...]:
        """The statements of a symbol, its own header among them, or of a whole file."""
        path, selector = where
        return fingerprints.statements_of(self.modules[path], self.symbols[where] if selector else None)

    @functools.cached_property
    def runs(self) -> Mapping[str, tuple[tuple[str, int], ...]]:
        """Where each statement fingerprint occurs: path, and place among the statements of that file."""
        found: dict[str, list[tuple[str, int]]] = {}
        for path in self.modules:
            for place, statement in enumerate(self.statements((path, ""))):
                found.setdefault(statement.fingerprint, []).append((path, place))
        return {fingerprint: tuple(places) for fingerprint, places in found.items()}

    def occurrences(self, prints: tuple[str, ...]) -> Iterator[tuple[str, int]]:
        """Every path and place at which just these statements follow each other."""
        for path, place in self.runs.get(prints[0], ()) if prints else ():
            inside = self.statements((path, ""))
            if tuple(s.fingerprint for s in inside[place : place + len(prints)]) == prints:
                yield path, place
