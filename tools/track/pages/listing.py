"""A bound listing as HTML: real lines with their real numbers, notes beside them, folds that open in place.

Markup, style sheet (`docs/assets/listing.css`) and scripts (`docs/assets/listing-*.js`) belong together:

    div.lst                one listing
      div.lst-head         symbol, file, lines, pin; the scripts put their buttons into `lst-tools`
      div.lst-body       `lst-noted` with notes; `lst-whole` for a whole file, which a browser lays out where it is seen
        div.lst-row        a note and the code from its first line to the next note's
          pre.lst-on       the lines that the note speaks of
          div.lst-notes    the note; beside the code on a wide screen, between the two on a narrow one
          div.lst-rest     the lines after them
          pre.lst-part     of a whole file, exactly `PART` lines that nothing folds, whose height the style sheet knows
          div.lst-box      of a whole file, `RUNS` runs in a row that are no parts, most of them folds

What is inside of `pre` and of folds is told in `track.pages.chunks`. All of it reads without scripts.
"""

from __future__ import annotations

import dataclasses
import html
import itertools
import posixpath
import re
from collections.abc import Iterator, Sequence

from track.pages.chunks import Chunks
from track.pages.document import FOLDED, SOURCE
from track.pages.ids import Ids
from track.pages.layout import Fold, Listing, Note
from track.pages.references import Linker
from track.pins.tree import SourceTree
from track.spans import Span

__all__ = ["PART", "RUNS", "render", "render_header"]

PART = 24
"""Lines of a piece of a whole file; docs/assets/listing.css has the same number."""
RUNS = 8
"""Folds, or short pieces between folds, that a browser lays out together; the style sheet has this number too."""


@dataclasses.dataclass(frozen=True)
class _Run:
    """Lines that are treated alike: one note's, or nobody's; shown, or folded."""

    span: Span
    noted: bool = False
    fold: Fold | None = None


@dataclasses.dataclass
class _Row:
    """A run with notes, and what follows it up to the next one."""

    notes: list[Note]
    runs: list[_Run]


def render(listing: Listing, tree: SourceTree, ids: Ids, link: Linker | None = None) -> str:
    """The listing as one block of HTML; its notes and roles are HTML already, `ids` are those of its page."""
    chunks = Chunks(listing.module, ids, link)
    listing = _closed(listing) if _is_whole(listing) else listing
    if listing.fence.kind == FOLDED:
        parts = [chunks.fold(fold) for fold in listing.folds]
    else:
        parts = [part for piece in _joined(listing) for part in _Rows(listing, chunks).of(piece)]
    opened = ['<div class="lst" data-search-exclude>', _head(listing, tree), f'<div class="{_body(listing)}">']
    return "\n".join([*opened, *parts, "</div>", "</div>"])


def render_header(listing: Listing, tree: SourceTree) -> str:
    """What the bytes of a file are, its license notice, and the keys, for the top of its page."""
    module = listing.module
    notice = html.escape("\n".join(module.lines[: module.header.last])) if module.header else "(the file has no notice)"
    where = f'<a href="{tree.permalink(module.path)}">{module.path}</a>'
    claim = f"{len(module.lines):,} lines, unmodified, {html.escape(tree.wording(module.path))}."
    stop = "symbol" if listing.fence.kind == SOURCE else "note"
    keys = (
        f'<span class="lst-keys"><kbd>n</kbd> <kbd>p</kbd> next and previous {stop}, <kbd>s</kbd> go to a symbol</span>'
    )
    return (
        f'<div class="lst-file" data-search-exclude><p>{where}: {claim} {keys}</p>'
        '<details class="lst-license"><summary>License notice</summary>'
        f"<pre><code>{notice}</code></pre></details></div>"
    )


def _body(listing: Listing) -> str:
    return " ".join(["lst-body", *["lst-noted"] * bool(listing.notes), *["lst-whole"] * _is_whole(listing)])


def _is_whole(listing: Listing) -> bool:
    return listing.fence.kind == SOURCE


def _head(listing: Listing, tree: SourceTree) -> str:
    path = listing.module.path
    folder, name = posixpath.split(path)
    shown = f'<span class="lst-dir">{folder}/</span>{name}'
    titles = ", ".join(title for title in dict.fromkeys(listing.titles) if title)
    if listing.fence.kind == FOLDED:
        return _bar("Folded", f'<a href="{tree.permalink(path)}">{shown}</a>', "")
    span = Span(min(p.first for p in listing.pieces), max(p.last for p in listing.pieces))
    link = f'<a href="{tree.permalink(path, span)}">{shown}, lines {span}</a>'
    return _bar(html.escape(titles or name), link, f"unmodified, {html.escape(tree.wording(path))}")


def _bar(title: str, link: str, claim: str) -> str:
    pin = f'<span class="lst-pin">{claim}</span>' if claim else ""
    return f'<div class="lst-head"><b>{title}</b> {link} {pin}<span class="lst-tools"></span></div>'


def _closed(listing: Listing) -> Listing:
    """A whole file, in which the blank lines after a symbol are folded with it."""
    lines = listing.module.lines
    folds: list[Fold] = []
    for fold in listing.folds:
        last = fold.span.last
        while last < len(lines) and not lines[last].strip():
            last += 1
        folds.append(dataclasses.replace(fold, span=Span(fold.span.first, last)))
    return dataclasses.replace(listing, folds=tuple(folds))


def _joined(listing: Listing) -> Iterator[Span]:
    """Pieces with only blank lines between them become one."""
    held: Span | None = None
    for piece in listing.pieces:
        between = listing.module.lines[held.last : piece.first - 1] if held and held.last < piece.first else ["break"]
        if held and not any(line.strip() for line in between):
            held = Span(held.first, piece.last)
            continue
        if held:
            yield held
        held = piece
    if held:
        yield held


@dataclasses.dataclass(frozen=True)
class _Rows:
    """Draws the pieces of a listing."""

    listing: Listing
    chunks: Chunks

    def of(self, piece: Span) -> Iterator[str]:
        """The rows of a piece."""
        rows: list[_Row] = [_Row([], [])]
        for run in _runs(self.listing, piece):
            notes = [n for n in self.listing.notes if n.span.first == run.span.first] if run.noted else []
            if notes:
                rows.append(_Row(notes, []))
            rows[-1].runs.append(run)
        return (self.row(row) for row in rows if row.runs)

    def row(self, row: _Row) -> str:
        lead, *rest = row.runs
        noted = [self.run(lead)]
        notes = [self.note(note) for note in row.notes]
        beside = ['<div class="lst-notes">', *notes, "</div>"] if notes else []
        after = list(self.runs(rest))
        tail = ['<div class="lst-rest">', *after, "</div>"] if after else []
        return "\n".join(['<div class="lst-row">', *noted, *beside, *tail, "</div>"])

    def runs(self, runs: Sequence[_Run]) -> Iterator[str]:
        """Runs as they stand; of a whole file, `RUNS` of them in a row are a box."""
        for part, together in itertools.groupby(runs, self.is_part):
            for some in itertools.batched(together, RUNS):
                drawn = [self.run(run) for run in some]
                boxed = _is_whole(self.listing) and not part and len(some) == RUNS
                yield from ['<div class="lst-box">', *drawn, "</div>"] if boxed else drawn

    def is_part(self, run: _Run) -> bool:
        """Whether the style sheet knows how high this run is."""
        return _is_whole(self.listing) and not run.fold and len(run.span.lines) == PART

    def note(self, note: Note) -> str:
        """A note; the keys move from one to the next, so neither it nor its link is a tab stop."""
        name = self.chunks.ids.numbered(_stem(note.anchor.symbol or "module"))
        first, last = note.span.first, note.span.last
        place = f"L{first}" if first in self.chunks.addressed else name
        link = f'<a class="lst-ref" href="#{place}" tabindex="-1">{note.span}</a>'
        lines = f'data-from="{first}" data-to="{last}"'
        return f'<div class="lst-note" id="{name}" role="note" tabindex="-1" {lines}>{link}{note.item.body}</div>'

    def run(self, run: _Run) -> str:
        if run.fold:
            return self.chunks.fold(run.fold, run.span)
        part = " lst-part" if self.is_part(run) else ""
        return self.chunks.code(run.span, "lst-on" if run.noted else f"lst-off{part}")


def _runs(listing: Listing, piece: Span) -> Iterator[_Run]:
    """Cut a piece where a note begins or ends, around each fold, and every `PART` open lines of a whole file."""
    folded = {n: fold for fold in listing.folds for n in fold.span.lines}
    noted = {n: note for note in listing.notes for n in note.span.lines}
    begins = {note.span.first for note in listing.notes}
    first = piece.first
    for line in piece.lines:
        after = line + 1
        full = _is_whole(listing) and line not in folded and after - first == PART
        end = line == piece.last or after in begins or full
        if end or folded.get(line) is not folded.get(after) or (line in noted) != (after in noted):
            yield _Run(Span(first, line), first in noted and first not in folded, folded.get(line))
            first = after


def _stem(symbol: str) -> str:
    """`note-scheduler-has-changed` for the notes in a symbol."""
    return "note-" + re.sub(r"[^a-z0-9]+", "-", symbol.lower()).strip("-")
