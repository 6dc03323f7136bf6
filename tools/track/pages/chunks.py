"""Lines of a file as HTML: the smallest things that listings are made of.

pre                    lines in a row; no `code` in it, because the theme would give each a button and a tab stop
  u#L120               before each line; the style sheet makes its number of its id, so copying takes code alone; no
                       `a`, because the theme sets each `a` of a page up while it loads; `u data-n=L120` where another
                       listing of the page has the id
  b#Box.fill           before the line on which a symbol begins; `data-to` is its last line
details.lst-fold       lines that are folded, with the reason in the summary
div.lst-folded         around that and the reason, where the reason is more than words
"""

from __future__ import annotations

import dataclasses
import functools
import html
import re
from collections.abc import Mapping, Sequence

from track.anchors.symbols import Module, Symbol
from track.pages.highlight import highlighted, linked
from track.pages.ids import Ids, of_symbol
from track.pages.layout import Fold
from track.pages.references import Linker
from track.spans import Span

__all__ = ["Chunks"]

_WORDS = re.compile(r"<p>((?:(?!</?p>|<a ).)*)</p>", re.DOTALL)
"""A role that may stand in a summary: one paragraph, and no link, because a control holds no other."""


@dataclasses.dataclass(frozen=True)
class Chunks:
    """Draws lines of one file for a page with these ids."""

    module: Module
    ids: Ids
    link: Linker | None = None
    addressed: set[int] = dataclasses.field(default_factory=set[int])
    """The lines drawn so far that have an address; the others' is taken by another listing of the page."""

    def code(self, span: Span, css: str) -> str:
        """Lines in a row."""
        rows = [f"{self._marks(n)}<u {self._number(n)}></u>{self._line(n)}" for n in span.lines]
        return f'<pre class="{css}" data-search-exclude>' + "\n".join(rows) + "</pre>"

    def fold(self, fold: Fold, span: Span | None = None) -> str:
        """Folded lines, or a part of them; blank lines at their end do not count."""
        lines = span or fold.span
        last = next(n for n in reversed(lines.lines) if self.module.lines[n - 1].strip() or n == lines.first)
        is_docstring = not fold.line and not fold.role
        label = f"{'Docstring of ' if is_docstring else ''}<code>{html.escape(fold.label)}</code>"
        words = _WORDS.fullmatch(fold.role.strip())
        role = f' <span class="lst-role">{words[1]}</span>' if words else ""
        summary = f"<summary>{label} <small>{Span(lines.first, last)}</small>{role}</summary>"
        shown = f'<details class="lst-fold">{summary}{self.code(lines, "lst-off")}</details>'
        if words or not fold.role:
            return shown
        return f'<div class="lst-folded">{shown}<div class="lst-role">{fold.role}</div></div>'

    def _number(self, line: int) -> str:
        if not self.ids.take(f"L{line}"):
            return f"data-n=L{line}"
        self.addressed.add(line)
        return f'id="L{line}"'

    def _line(self, line: int) -> str:
        return linked(self.module, line, self.link) if self.link else highlighted(self.module)[line - 1]

    def _marks(self, line: int) -> str:
        return "".join(self._mark(symbol) for symbol in _starts(self.module).get(line, ()))

    def _mark(self, symbol: Symbol) -> str:
        name = html.escape(of_symbol(symbol))
        known = f'id="{name}"' if self.ids.take(name) else f"data-name={name}"
        return f"<b {known} data-to={symbol.span.last}></b>"


@functools.lru_cache(maxsize=128)
def _starts(module: Module) -> Mapping[int, Sequence[Symbol]]:
    """The symbols that begin on each line, outer ones first."""
    found: dict[int, list[Symbol]] = {}
    for symbol in module.symbols:
        found.setdefault(symbol.span.first, []).append(symbol)
    return found
