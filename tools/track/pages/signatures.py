"""A definition in a line or two: its signature as it is written, and the first sentence of what it says of itself."""

from __future__ import annotations

import ast

from track.anchors.symbols import Module, Symbol

__all__ = ["first_sentence", "signature", "summary"]

LONGEST = 240
"""Characters of a signature that are shown."""


def signature(module: Module, symbol: Symbol) -> str:
    """The code of a definition up to its body, on one line, decorators and comments left out."""
    node = symbol.node
    body: list[ast.stmt] = getattr(node, "body", [])
    last = (body[0].lineno, body[0].col_offset) if body else (node.end_lineno or node.lineno, node.end_col_offset or 0)
    code = " ".join(_code(module, (node.lineno, node.col_offset), last).split())
    code = code.removesuffix(":").replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return code if len(code) <= LONGEST else code[: LONGEST - 1] + "…"


def summary(symbol: Symbol) -> str:
    """The first sentence of a docstring; empty if there is none."""
    node = symbol.node
    documented = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    return first_sentence(ast.get_docstring(node) or "") if documented else ""


def first_sentence(docstring: str) -> str:
    """The first sentence, or the first paragraph if it has no end."""
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    end = next((n for n in range(1, len(paragraph)) if paragraph[n - 1] in ".!?" and _ends(paragraph, n)), None)
    return paragraph[:end]


def _ends(text: str, at: int) -> bool:
    """Whether a sentence ends before this place, which a short form with dots does not."""
    after = text[at + 1 : at + 2]
    return text[at] == " " and (after.isupper() or after == "`") and not text[:at].endswith(("i.e.", "e.g."))


def _code(module: Module, first: tuple[int, int], last: tuple[int, int]) -> str:
    """The text from one place to another, both in UTF-8 bytes as `ast` counts them, without comments."""
    comments = {line: start for line, start, _ in module.comments}
    lines: list[str] = []
    for number in range(first[0], last[0] + 1):
        text = module.lines[number - 1]
        end = len(text.encode()[: last[1]].decode()) if number == last[0] else comments.get(number, len(text))
        lines.append(text[first[1] if number == first[0] else 0 : end])
    return "\n".join(lines)
