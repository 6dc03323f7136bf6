"""Highlighting a whole Python file once, and giving it out by the line, with links on the names that lead somewhere.

Six token classes and no more: an element for every token makes a page of source heavy, and a reader tells no more
than six colors apart.
"""

from __future__ import annotations

import functools
import html
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pygments.lexers.python import PythonLexer  # pyright: ignore[reportMissingTypeStubs] -- it has none
from pygments.token import Token

from track.anchors.symbols import Module
from track.pages.references import Linker, references

__all__ = ["highlighted", "linked"]

_CLASSES = (
    (Token.Comment, "c"),
    (Token.Literal.String, "s"),
    (Token.Literal.Number, "m"),
    (Token.Keyword, "k"),
    (Token.Operator.Word, "k"),
    (Token.Name.Decorator, "f"),
    (Token.Name.Function.Magic, "f"),
    (Token.Name.Function, "f"),
    (Token.Name.Class, "f"),
    (Token.Name.Builtin.Pseudo, ""),
    (Token.Name.Builtin, "b"),
)


class _Piece(NamedTuple):
    """Text of one class on one line."""

    css: str
    text: str


class _Link(NamedTuple):
    """Columns `first` to `last` of a line, the last excluded, and where they lead."""

    first: int
    last: int
    href: str


@functools.lru_cache(maxsize=128)
def highlighted(module: Module) -> tuple[str, ...]:
    """Each line of the file as HTML, without its end; neighbors of one class share an element."""
    return tuple("".join(_element(piece.css, piece.text) for piece in line) for line in _lines(module))


def linked(module: Module, line: int, link: Linker) -> str:
    """One line as HTML, in which the names that `link` knows are links, and no tab stops."""
    pieces, column, parts = list(_lines(module)[line - 1]), 0, list[str]()
    for found in _links(module, line, link):
        before, pieces = _split(pieces, found.first - column)
        inside, pieces = _split(pieces, found.last - found.first)
        column = found.last
        parts += [_element(*piece) for piece in before]
        parts.append(_anchor(found.href, inside))
    return "".join([*parts, *(_element(*piece) for piece in pieces)])


def _links(module: Module, line: int, link: Linker) -> Iterator[_Link]:
    """The longest beginning of each name that has an address."""
    for reference in references(module).get(line, ()):
        for shorter in reference.shorter():
            if href := link(shorter.name, line):
                yield _Link(shorter.first, shorter.last, href)
                break


def _split(pieces: Sequence[_Piece], width: int) -> tuple[list[_Piece], list[_Piece]]:
    """The first `width` characters, and the rest."""
    before: list[_Piece] = []
    after: list[_Piece] = []
    for css, text in pieces:
        if text[:width]:
            before.append(_Piece(css, text[:width]))
        if text[width:]:
            after.append(_Piece(css, text[width:]))
        width = max(0, width - len(text))
    return before, after


def _anchor(href: str, pieces: Sequence[_Piece]) -> str:
    """A link is one element, so it takes one class, the one that its text ends with."""
    text = html.escape("".join(piece.text for piece in pieces), quote=False)
    css = f" class={pieces[-1].css}" if pieces[-1].css else ""
    return f'<a href="{html.escape(href)}" tabindex=-1{css}>{text}</a>'


def _element(css: str, text: str) -> str:
    escaped = html.escape(text, quote=False)
    return f"<i class={css}>{escaped}</i>" if css and text.strip() else escaped


@functools.lru_cache(maxsize=128)
def _lines(module: Module) -> tuple[tuple[_Piece, ...], ...]:
    lines: list[list[_Piece]] = [[]]
    for css, text in _merged(module.text):
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append(_Piece(css, part))
    return tuple(tuple(line) for line in lines[: len(module.lines)])


def _merged(text: str) -> Iterator[tuple[str, str]]:
    held, pending, known = "", "", dict[Any, str]()
    for kind, part in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        if kind not in known:
            known[kind] = next((name for token, name in _CLASSES if kind in token), "")
        css = known[kind]
        if css != held and part.strip():
            yield held, pending
            held, pending = css, ""
        pending += part
    yield held, pending
