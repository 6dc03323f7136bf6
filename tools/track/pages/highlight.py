"""Highlighting a whole Python file once, and giving it out by the line.

Six token classes and no more: an element for every token makes a page of source heavy, and a reader tells no more
than six colors apart.
"""

from __future__ import annotations

import functools
import html
from collections.abc import Iterator

from pygments.lexers.python import PythonLexer  # pyright: ignore[reportMissingTypeStubs] -- it has none
from pygments.token import Token

from track.anchors.symbols import Module

__all__ = ["highlighted"]

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


@functools.lru_cache(maxsize=128)
def highlighted(module: Module) -> tuple[str, ...]:
    """Each line of the file as HTML, without its end; neighbors of one class share an element."""
    lines = [""]
    for css, text in _merged(module.text):
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append("")
            lines[-1] += _element(css, part)
    return tuple(lines[: len(module.lines)])


def _element(css: str, text: str) -> str:
    escaped = html.escape(text, quote=False)
    return f"<i class={css}>{escaped}</i>" if css and text.strip() else escaped


def _merged(text: str) -> Iterator[tuple[str, str]]:
    held, pending = "", ""
    for kind, part in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        css = next((name for token, name in _CLASSES if kind in token), "")
        if css != held and part.strip():
            yield held, pending
            held, pending = css, ""
        pending += part
    yield held, pending
