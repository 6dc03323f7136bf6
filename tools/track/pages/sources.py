"""The symbols of a whole file, each with its role: what it is for, in one line.

A role comes from upstream's docstring where there is one, from a decorator that registers the function as a rule, or
from the page. A symbol that has none of them is an error, and so is a role that nobody asks for.
"""

from __future__ import annotations

import dataclasses
import html
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from track.anchors.scopes import is_overload
from track.anchors.symbols import Module, Symbol
from track.errors import BadInput, TrackError
from track.pages.document import Document, Fence, Item
from track.pages.ids import of_symbol
from track.pages.registered import role_by_decorator
from track.pages.signatures import summary
from track.spans import Span

__all__ = ["OUTLINE", "ROWS", "Role", "bodies", "outline", "plain", "roles", "spoken"]

OUTLINE = "outline"
"""The id of an outline on its page."""
ROWS = 10
"""Rows of a list of the outline; docs/assets/source.css has the same number."""


@dataclasses.dataclass(frozen=True)
class Role:
    """What a symbol is for: Markdown from a page, else plain text with code spans."""

    symbol: Symbol
    text: str
    origin: Literal["docstring", "decorator", "page"]
    line: int = 0
    """Line of the page that says it, 0 if none does."""


def roles(document: Document, fence: Fence, module: Module) -> tuple[tuple[Role, ...], list[TrackError]]:
    """The role of every symbol of a file that needs one, in file order, and what is wrong with those of the page."""
    asking = tuple(spoken(module))
    known = {role.symbol.selector: role for symbol in asking if (role := _known(symbol, module.path))}
    written = {item.quote: item for item in fence.items}
    errors = [*_unasked(document, module, written, known, asking), *_twice(document, fence)]
    missing = [s for s in asking if s.selector not in known and s.qualname not in written]
    if missing:
        errors.append(_missing(document, fence, module, missing))
    return tuple(known.get(s.selector) or _written(s, written.get(s.qualname)) for s in asking), errors


def spoken(module: Module) -> Iterator[Symbol]:
    """The symbols that a page speaks of: classes and functions, less those inside a function, overloads and dunders."""
    functions = {symbol.qualname for symbol in module.symbols if symbol.kind == "function"}
    for symbol in module.symbols:
        dunder = symbol.name.startswith("__") and symbol.name.endswith("__")
        skipped = symbol.kind == "name" or dunder or is_overload(symbol.node)
        if not skipped and not functions.intersection(_above(symbol.qualname)):
            yield symbol


def bodies(found: Sequence[Role], module: Module) -> Iterator[tuple[Span, Role]]:
    """The lines that a page folds, with their role: symbols that stand in no other, with the comments before them."""
    end = module.header.last if module.header else 0
    for role in found:
        if role.symbol.lead > end:
            yield role.symbol.owned, role
            end = role.symbol.span.last


def outline(found: Sequence[Role], text: Callable[[Role], str]) -> str:
    """The symbols in file order as HTML, methods below their class; `text` makes HTML of a role.

    Its links are no tab stops, because the folds below it are in the same order. Of its lists, each but the last has
    `ROWS` rows, and a browser lays one out where it is seen.
    """
    rows = [
        f'<li class="src-in-{role.symbol.qualname.count(".")}"><small>{role.symbol.owned}</small>'
        f'<a href="#{of_symbol(role.symbol)}" tabindex="-1">{html.escape(role.symbol.name)}</a> {text(role)}</li>'
        for role in found
    ]
    head = f'<nav class="src-outline" id="{OUTLINE}" aria-label="Symbols of the file" tabindex="0" data-search-exclude>'
    return "\n".join([head, *("\n".join(["<ul>", *some, "</ul>"]) for some in itertools.batched(rows, ROWS)), "</nav>"])


def plain(text: str) -> str:
    """Upstream's words as HTML: nothing is Markdown in them but code between backticks."""
    code = re.sub(r":\w+:`~?(?P<name>[^`<]+?)`", r"`\g<name>`", text).replace("``", "`")
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(code, quote=False))


def _above(qualname: str) -> Iterator[str]:
    parts = qualname.split(".")
    return (".".join(parts[:n]) for n in range(1, len(parts)))


def _known(symbol: Symbol, path: str) -> Role | None:
    """The role that the file itself gives a symbol."""
    if said := summary(symbol):
        return Role(symbol, said, "docstring")
    made = role_by_decorator(symbol, path)
    return Role(symbol, made, "decorator") if made else None


def _written(symbol: Symbol, item: Item | None) -> Role:
    return Role(symbol, item.body, "page", item.line) if item else Role(symbol, "", "page")


def _missing(document: Document, fence: Fence, module: Module, symbols: Sequence[Symbol]) -> TrackError:
    return BadInput(
        f"{len(symbols)} symbol{'s' * (len(symbols) != 1)} without a role",
        {
            "page": document.at(fence.line),
            "code": module.path,
            "found": "\n".join(f"{s.qualname}, line {s.span}" for s in symbols),
        },
        "give each an item under the fence: its name between backticks, then what it is for",
    )


def _unasked(
    document: Document,
    module: Module,
    written: Mapping[str, Item],
    known: Mapping[str, Role],
    asking: Sequence[Symbol],
) -> Iterator[TrackError]:
    """Roles of symbols that are not there, that have one, or that need none."""
    names = {symbol.qualname for symbol in asking}
    for name, item in written.items():
        place = {"page": document.at(item.line), "code": module.path}
        if name not in names:
            there = name in {symbol.qualname for symbol in module.symbols}
            found = "a symbol that needs no role" if there else "no such symbol"
            yield BadInput(f"a role for `{name}`, which asks for none", {**place, "found": found}, "take the item out")
        elif name in known:
            found = f"its {known[name].origin} says: {known[name].text}"
            yield BadInput(f"a second role for `{name}`", {**place, "found": found}, "take the item out")


def _twice(document: Document, fence: Fence) -> Iterator[TrackError]:
    """Items that speak of one symbol, or say the same of two."""
    seen: dict[str, str] = {}
    for item in fence.items:
        for key in (item.quote, " ".join(item.body.split()).casefold()):
            if key in seen:
                details = {"page": document.at(item.line), "found": f"`{seen[key]}` and `{item.quote}`: {item.body}"}
                yield BadInput("two items with one symbol or one role", details, "say of each symbol what it is for")
            seen[key] = item.quote
