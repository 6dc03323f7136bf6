"""All pinned files under one roof: a path leads to its tree, its text and its parsed module."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping

from track.anchors import symbols
from track.anchors.symbols import Module
from track.errors import BadInput
from track.pins.tree import SourceTree

__all__ = ["Library"]


@dataclasses.dataclass(frozen=True)
class Library:
    """The source trees by project. Each file is read, verified and parsed once."""

    trees: Mapping[str, SourceTree]
    _modules: dict[str, Module] = dataclasses.field(default_factory=dict[str, Module], repr=False, compare=False)

    def tree(self, path: str) -> SourceTree:
        """The tree that holds `path`; BadInput if no pin names it."""
        for tree in self.trees.values():
            if path in tree.pin.files:
                return tree
        known = [p for tree in self.trees.values() for p in tree.paths]
        raise BadInput(
            f"no pinned file '{path}'",
            {"closest": "\n".join(difflib.get_close_matches(path, known, n=3, cutoff=0.5)) or "nothing alike"},
            f'name a file of pins.toml, or add the line "{path}" = "" to it, then: track pin write PROJECT',
        )

    def module(self, path: str) -> Module:
        """The parsed file; BadInput if it is not pinned or no Python."""
        if path not in self._modules:
            self._modules[path] = symbols.parse(path, self.tree(path).text(path))
        return self._modules[path]
