"""The descent of a kernel: every form that it takes on its way to the chip, a tab each, with the lines that matter lit.

The lines are named by quotes, as in a note: white space does not count, and a quote that is not there is an error.
What comes out is Markdown of `pymdownx.tabbed` and `pymdownx.superfences`.
"""

from __future__ import annotations

import bisect
import html
import itertools
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from track.errors import BadInput, TrackError, raise_all

__all__ = ["Tab", "descent", "lines_of"]

ESCAPED = str.maketrans({letter: f"&#{ord(letter)};" for letter in '\\`*_{}[]"~^'})


class Tab(Struct, frozen=True):
    """A form of a kernel: the name of its tab, its text, and quotes of the lines to be lit.

    A quote may run over several lines, and lights all of them; one that stands in several places lights each.
    `language` is a Pygments lexer. `note` is a sentence of Markdown above the text.
    """

    name: str
    text: str
    quotes: tuple[str, ...] = ()
    language: str = "text"
    note: str = ""


def descent(tabs: Sequence[Tab], at: dict[str, object]) -> str:
    """The tabs as Markdown; `at` says where they were asked for, for errors, all of which are shown together."""
    if not tabs:
        raise BadInput("a descent needs at least one form", at)
    twice = [name for name, group in itertools.groupby(sorted(tab.name for tab in tabs)) if len(list(group)) > 1]
    if twice:
        raise BadInput("two tabs of a descent have one name", {**at, "names": ", ".join(twice)})
    raise_all([error for tab in tabs for error in lost(tab, at)])
    openings = itertools.chain(["===!"], itertools.repeat("==="))  # the first begins a set of its own
    return "\n".join(line for tab, opening in zip(tabs, openings, strict=False) for line in tabbed(tab, opening))


def lost(tab: Tab, at: dict[str, object]) -> Iterator[TrackError]:
    """An error for each quote that is nowhere in its text."""
    for quote in tab.quotes:
        if not "".join(quote.split()):
            yield BadInput("a quote of a descent is empty", {**at, "tab": tab.name})
        elif not lines_of(shown(tab), quote):
            about = {**at, "tab": tab.name, "quote": quote, "found": "nothing like it in the text that is shown"}
            yield BadInput("a quote of a descent is not there", about)


def tabbed(tab: Tab, opening: str) -> Iterator[str]:
    """A tab as lines of Markdown."""
    text = shown(tab)
    lit = sorted({line for quote in tab.quotes for line in lines_of(text, quote)})
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    options = f' hl_lines="{spans(lit)}"' if lit else ""
    yield f'{opening} "{title(tab.name)}"'
    yield ""
    if tab.note:
        yield from (f"    {tab.note}", "")
    yield from (f"    {line}".rstrip() for line in (f"{fence}{tab.language}{options}", *text.split("\n"), fence))
    yield ""


def shown(tab: Tab) -> str:
    """The text as it is shown: no blank lines at its ends, which the highlighter would drop and count past."""
    return "\n".join(tab.text.expandtabs(4).splitlines()).strip("\n").rstrip()


def lines_of(text: str, quote: str) -> list[int]:
    """The lines, from 1, of every place where a quote stands, white space aside, and no name or number is cut."""
    wanted = "".join(quote.split())
    kept = [index for index, letter in enumerate(text) if not letter.isspace()]
    squeezed = "".join(text[index] for index in kept)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    found: set[int] = set()
    place = squeezed.find(wanted) if wanted else -1
    while place >= 0:
        first, last = kept[place], kept[place + len(wanted) - 1]
        if whole(text, first, last):
            found.update(range(bisect.bisect_right(starts, first), bisect.bisect_right(starts, last) + 1))
        place = squeezed.find(wanted, place + 1)
    return sorted(found)


def whole(text: str, first: int, last: int) -> bool:
    """Whether neither end of a stretch cuts a name or a number in two."""
    around = text[max(0, first - 1) : first + 1], text[last : last + 2]
    return not any(re.fullmatch(r"\w\w", pair) for pair in around)


def spans(lines: Sequence[int]) -> str:
    """Line numbers as `hl_lines` has them: neighbors as a span."""
    groups = itertools.groupby(enumerate(lines), key=lambda pair: pair[1] - pair[0])
    runs = [[line for _, line in group] for _, group in groups]
    return " ".join(f"{run[0]}-{run[-1]}" if run[1:] else f"{run[0]}" for run in runs)


def title(name: str) -> str:
    """A tab's name, shown as it is."""
    return html.escape(" ".join(name.split()), quote=False).translate(ESCAPED)
