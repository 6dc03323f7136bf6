"""Fingerprints: short hashes of what code means, blind to comments, blank lines and layout.

The walk is our own. `ast.dump` and `ast.unparse` print differently from one Python to the next, so their text would
make every fingerprint drift with the interpreter. Empty fields are left out, because newer Pythons add such fields.
"""

from __future__ import annotations

import ast
import bisect
import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping

from track.anchors.symbols import Module, Symbol
from track.spans import Span

__all__ = ["Statement", "bodies", "of_node", "of_symbol", "statements", "statements_of"]

_BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_LAYOUT = frozenset({"ctx", "type_comment", "kind"})
"""Fields that repeat what the position of a node says already, or that layout alone decides."""


@dataclasses.dataclass(frozen=True)
class Statement:
    """A simple statement, or the header of a compound one."""

    fingerprint: str
    span: Span
    weight: int
    """Number of syntax nodes: how much there is to recognize it by."""


def of_node(node: ast.AST, skip: frozenset[str] = frozenset()) -> str:
    """16 hex digits for a node and all below it, less the fields named in `skip`."""
    return _hash(_walk(node, skip))


def of_symbol(symbol: Symbol) -> str:
    """A fingerprint of a definition that is blind to its own name and its docstring."""
    skip = frozenset({"name", "targets", "target"})
    body: list[ast.stmt] = getattr(symbol.node, "body", [])
    kept = body[1:] if symbol.docstring else body
    parts = [of_node(symbol.node, skip | _BODIES), *(of_node(statement) for statement in kept)]
    return _hash(parts)


def statements(node: ast.AST) -> Iterator[Statement]:
    """Every statement under `node` and `node` itself, compound ones as their header, in file order."""
    if isinstance(node, ast.stmt):
        yield _statement(node)
    for field in ("body", "handlers", "cases", "orelse", "finalbody"):
        for child in getattr(node, field, []):
            if isinstance(child, ast.stmt):
                yield from statements(child)
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                yield _header(child)
                for inner in child.body:
                    yield from statements(inner)


@functools.lru_cache(maxsize=512)
def _whole(module: Module) -> tuple[Statement, ...]:
    return tuple(statements(module.tree))


def statements_of(module: Module, symbol: Symbol | None) -> tuple[Statement, ...]:
    """The statements of a symbol of the file, or of the whole file; each file is walked once."""
    inside = _whole(module)
    if symbol is None:
        return inside
    first = bisect.bisect_left(inside, symbol.span.first, key=lambda s: s.span.first)
    stop = bisect.bisect_right(inside, symbol.span.last, key=lambda s: s.span.first)
    return inside[first:stop]


@functools.lru_cache(maxsize=512)
def bodies(module: Module) -> Mapping[str, str]:
    """The fingerprint of every symbol of a file, by selector."""
    return {symbol.selector: of_symbol(symbol) for symbol in module.symbols}


def _statement(node: ast.stmt) -> Statement:
    if isinstance(node, ast.Match) or isinstance(getattr(node, "body", None), list):
        return _header(node)
    return _told(node, Span(node.lineno, node.end_lineno or node.lineno))


def _header(node: ast.stmt | ast.ExceptHandler | ast.match_case) -> Statement:
    first = _first_line(node)
    inner: list[ast.stmt | ast.match_case] = getattr(node, "cases", None) or getattr(node, "body", [])
    last = max(first, _first_line(inner[0]) - 1)
    return _told(node, Span(first, last), _BODIES)


def _told(node: ast.AST, span: Span, skip: frozenset[str] = frozenset()) -> Statement:
    parts = tuple(_walk(node, skip))
    return Statement(_hash(parts), span, sum(1 for part in parts if part.startswith("(")))


def _first_line(node: ast.stmt | ast.ExceptHandler | ast.match_case) -> int:
    """Where a node begins, its decorators included; a case has no position but its pattern's."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    positioned = node.pattern if isinstance(node, ast.match_case) else node
    return min([positioned.lineno, *(d.lineno for d in decorators)])


def _hash(parts: Iterable[str]) -> str:
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]


def _walk(value: object, skip: frozenset[str]) -> Iterator[str]:
    match value:
        case ast.JoinedStr():
            # Some releases of Python 3.12 leave an empty piece behind a format specification.
            pieces = [piece for piece in value.values if not (isinstance(piece, ast.Constant) and piece.value == "")]
            yield from ("(JoinedStr", *_walk(pieces, skip), ")")
        case ast.AST():
            yield "(" + type(value).__name__
            for name in value._fields:
                child = getattr(value, name, None)
                if name not in skip and name not in _LAYOUT and child is not None and child != []:
                    yield f" {name}="
                    yield from _walk(child, frozenset())
            yield ")"
        case list():
            yield "["
            for item in value:  # pyright: ignore[reportUnknownVariableType] -- fields of ast nodes are untyped
                yield from _walk(item, frozenset())  # pyright: ignore[reportUnknownArgumentType] -- as above
            yield "]"
        case _:
            yield f"{type(value).__name__}:{value!r}"
