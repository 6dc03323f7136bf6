"""The ids of one page: each is given once, to lines, symbols and notes, and none that a heading has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from markdown.extensions.toc import slugify

from track.anchors.symbols import Symbol

__all__ = ["Ids", "of_headings", "of_symbol"]

_HEADING = re.compile(r"#{1,6}\s*(?P<text>.+?)\s*#*(?:\{[^}]*#(?P<own>[\w.-]+)[^}]*\})?\s*")


class Ids:
    """Hands out the ids of a page."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def take(self, name: str) -> bool:
        """Whether this id was free; from now on it is not."""
        free = name not in self._taken
        self._taken.add(name)
        return free

    def numbered(self, stem: str) -> str:
        """A new id: `stem-1`, then `stem-2`."""
        number = 1
        while not self.take(f"{stem}-{number}"):
            number += 1
        return f"{stem}-{number}"


def of_symbol(symbol: Symbol) -> str:
    """The id of a symbol: its qualified name, with its place where a file defines it more than once."""
    return symbol.qualname if symbol.of == 1 else f"{symbol.qualname}-{symbol.place}"


def of_headings(lines: Iterable[str]) -> Iterator[str]:
    """The ids that the site's Markdown gives to the headings of a page."""
    fence = ""
    for line in lines:
        mark = line[: len(line) - len(line.lstrip("`~"))]
        if len(mark) > 2:  # noqa: PLR2004 -- three make a fence
            fence = "" if fence and mark.startswith(fence) else fence or mark
        found = None if fence else _HEADING.fullmatch(line)
        if found:
            yield found["own"] or slugify(found["text"].replace("`", ""), "-")
