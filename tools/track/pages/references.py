"""Where a file's code speaks of names: every dotted name that is read, and every name that an import brings.

Names come from the syntax tree and not from tokens: a keyword of a call, a parameter and an attribute of a call's
result look like names too, and are none that a link could be right for.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from track.anchors.symbols import Module

__all__ = ["Linker", "Reference", "references"]

type Linker = Callable[[str, int], str | None]
"""From a dotted name as it is written, such as `pallas_core.BlockSpec`, and its line, to an address or to None.

What an import brings is asked for by the name that it binds. Where a long name has no address, its beginnings are
asked for: `a.b.c`, then `a.b`, then `a`.
"""


class Reference(NamedTuple):
    """A name at columns `first` to `last` of its line, in characters, the last excluded."""

    first: int
    last: int
    name: str

    def shorter(self) -> Iterator[Reference]:
        """Itself and its beginnings, the longest first."""
        yield self
        name = self.name
        while "." in name:
            name = name.rpartition(".")[0]
            yield Reference(self.first, self.last - len(self.name) + len(name), name)


@functools.lru_cache(maxsize=128)
def references(module: Module) -> Mapping[int, tuple[Reference, ...]]:
    """The references of each line that has any, in order; none inside another."""
    found: dict[int, list[Reference]] = {}
    for node, text, name in _named(module.tree):
        line = module.lines[node.lineno - 1]
        first = len(line.encode()[: node.col_offset].decode())
        if line.startswith(text, first):  # a name that is broken over lines has no one place
            found.setdefault(node.lineno, []).append(Reference(first, first + len(text), name))
    return {line: tuple(sorted(here)) for line, here in found.items()}


def _named(node: ast.AST) -> Iterator[tuple[ast.expr | ast.alias, str, str]]:
    """Every reference at or under a node: where it stands, its text, and the name to ask for."""
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from ((alias, alias.name, alias.asname or alias.name) for alias in node.names)
        case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()) if name := _dotted(node):
            yield node, name, name
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _named(child)


def _dotted(node: ast.expr) -> str:
    """`a.b.c`, or nothing for what begins with more than a name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute) if before := _dotted(value):
            return f"{before}.{attribute}"
        case _:
            return ""
