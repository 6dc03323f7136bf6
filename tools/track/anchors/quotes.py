"""Finding quoted code in a range of lines, whatever its layout.

Both sides lose their white space, and the source its comments (unless the quote itself is a comment), so a quote
survives rewrapping. It never matches in the middle of a name or number.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools

from track.anchors.symbols import Module
from track.spans import Span

__all__ = ["Squeezed", "matches", "squeeze"]


@dataclasses.dataclass(frozen=True)
class Squeezed:
    """A file without white space: its characters, and for each the offset it came from."""

    text: str
    offsets: tuple[int, ...]
    starts: tuple[int, ...]
    """Offset at which each line starts."""

    def line_of(self, index: int) -> int:
        """The line of the squeezed text's character number `index`."""
        return bisect.bisect_right(self.starts, self.offsets[index])

    def index_of_line(self, line: int) -> int:
        """The first squeezed character at or after the start of `line`."""
        start = self.starts[line - 1] if line <= len(self.starts) else self.offsets[-1] + 1
        return bisect.bisect_left(self.offsets, start)


@functools.lru_cache(maxsize=256)
def squeeze(module: Module, *, comments: bool) -> Squeezed:
    """The module without white space, with or without its comments."""
    starts: list[int] = []
    total = 0
    for line in module.text.split("\n"):
        starts.append(total)
        total += len(line) + 1
    hidden: set[int] = set()
    if not comments:
        for line, first, end in module.comments:
            hidden.update(range(starts[line - 1] + first, starts[line - 1] + end))
    kept = [i for i, c in enumerate(module.text) if not c.isspace() and i not in hidden]
    return Squeezed("".join(module.text[i] for i in kept), tuple(kept), tuple(starts))


def matches(module: Module, quote: str, within: Span) -> list[Span]:
    """The lines of every place in `within` where the quoted code stands, in order."""
    wanted = "".join(quote.split())
    if not wanted:
        return []
    source = squeeze(module, comments=wanted.startswith("#"))
    index, end = source.index_of_line(within.first), source.index_of_line(within.last + 1)
    found: list[Span] = []
    while (index := source.text.find(wanted, index, end)) >= 0:
        last = index + len(wanted) - 1
        if _whole(module.text, source, index, last):
            found.append(Span(source.line_of(index), source.line_of(last)))
        index += 1
    return found


def _whole(text: str, source: Squeezed, first: int, last: int) -> bool:
    """Whether neither end of the match cuts a name or a number in two."""
    start, stop = source.offsets[first], source.offsets[last]
    before = text[start - 1 : start]
    after = text[stop + 1 : stop + 2]
    return not (_word(before) and _word(text[start])) and not (_word(after) and _word(text[stop]))


def _word(character: str) -> bool:
    return character.isalnum() or character == "_"
