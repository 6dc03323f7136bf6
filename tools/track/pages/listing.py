"""A bound listing as HTML: real lines with their real numbers, notes beside them, folds that open in place.

Markup and style sheet (`docs/assets/track.css`) belong together:

    div.lst                one listing
      div.lst-head         file, symbol, lines, pin
      div.lst-row          a note and the code from its first line to the next note's
        pre.lst-on         the lines that the note speaks of
        div.lst-notes      the note; beside the code on a wide screen, between the two on a narrow one
        pre                the lines after them
      details.lst-fold     lines that are folded, with the reason

Every line is an `<a id="L120">` whose number comes from the style sheet, so copying takes code alone.
"""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Iterator

from track.pages.highlight import highlighted
from track.pages.layout import Fold, Listing, Note
from track.pins.tree import SourceTree
from track.spans import Span

__all__ = ["render", "render_header"]


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


def render(listing: Listing, tree: SourceTree, slugs: dict[str, int]) -> str:
    """The listing as one block of HTML; its notes and roles are HTML already, `slugs` counts the note ids in use."""
    if listing.fence.kind == "folded":
        parts = [_fold(listing, fold) for fold in listing.folds]
    else:
        parts = [part for piece in _joined(listing) for part in _piece(listing, piece, slugs)]
    return "\n".join(['<div class="lst">', _head(listing, tree), *parts, "</div>"])


def render_header(listing: Listing, tree: SourceTree) -> str:
    """The license notice of a file and what its bytes are, for the top of its page."""
    module = listing.module
    notice = html.escape("\n".join(module.lines[: module.header.last])) if module.header else "(the file has no notice)"
    where = f'<a href="{tree.permalink(module.path)}">{module.path}</a>'
    claim = f"{len(module.lines):,} lines, unmodified, {html.escape(tree.wording(module.path))}"
    return (
        '<details class="lst-license" data-search-exclude>'
        f"<summary>{where}: {claim}. License notice</summary><pre><code>{notice}</code></pre></details>"
    )


def _head(listing: Listing, tree: SourceTree) -> str:
    path, span = listing.module.path, Span(min(p.first for p in listing.pieces), max(p.last for p in listing.pieces))
    titles = [t for t in dict.fromkeys(listing.titles) if t]
    names = " ".join(f"<b>{html.escape(title)}</b>" for title in titles)
    if listing.fence.kind == "folded":
        return f'<div class="lst-head"><b>Folded</b> <a href="{tree.permalink(path)}">{path}</a></div>'
    return (
        f'<div class="lst-head">{names} <a href="{tree.permalink(path, span)}">{path}, lines {span}</a> '
        f'<span class="lst-pin">unmodified, {html.escape(tree.wording(path))}</span></div>'
    )


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


def _piece(listing: Listing, piece: Span, slugs: dict[str, int]) -> Iterator[str]:
    rows: list[_Row] = [_Row([], [])]
    for run in _runs(listing, piece):
        notes = [n for n in listing.notes if n.span.first == run.span.first] if run.noted else []
        if notes:
            rows.append(_Row(notes, []))
        rows[-1].runs.append(run)
    for row in rows:
        if row.runs:
            yield _row(listing, row, slugs)


def _runs(listing: Listing, piece: Span) -> Iterator[_Run]:
    """Cut a piece wherever a note begins or ends and around every fold."""
    folded = {n: fold for fold in listing.folds for n in fold.span.lines}
    noted = {n: note for note in listing.notes for n in note.span.lines}
    begins = {note.span.first for note in listing.notes}
    first = piece.first
    for line in piece.lines:
        after = line + 1
        end = line == piece.last or after in begins
        if end or folded.get(line) is not folded.get(after) or (line in noted) != (after in noted):
            yield _Run(Span(first, line), first in noted and first not in folded, folded.get(line))
            first = after


def _row(listing: Listing, row: _Row, slugs: dict[str, int]) -> str:
    lead, *rest = row.runs
    noted = [_run(listing, lead)]
    notes = [_note(note, slugs) for note in row.notes]
    beside = ['<div class="lst-notes">', *notes, "</div>"] if notes else []
    after = [_run(listing, run) for run in rest]
    tail = ['<div class="lst-rest">', *after, "</div>"] if after else []
    return "\n".join(['<div class="lst-row">', *noted, *beside, *tail, "</div>"])


def _run(listing: Listing, run: _Run) -> str:
    if run.fold:
        return _fold(listing, run.fold, run.span)
    return _code(listing, run.span, "lst-on" if run.noted else "lst-off")


def _code(listing: Listing, span: Span, css: str) -> str:
    source = highlighted(listing.module)
    rows = [
        f'<a id="L{n}" href="#L{n}" tabindex="-1" aria-hidden="true" data-n="{n}"></a>{source[n - 1]}'
        for n in span.lines
    ]
    return f'<pre class="{css}" data-search-exclude><code>' + "\n".join(rows) + "</code></pre>"


def _fold(listing: Listing, fold: Fold, span: Span | None = None) -> str:
    lines = span or fold.span
    label = (
        f"<code>{html.escape(fold.label)}</code>"
        if fold.line
        else f"Docstring of <code>{html.escape(fold.label)}</code>"
    )
    count = f"{lines.length} line{'s' * (lines.length != 1)}"
    role = f'<div class="lst-role">{fold.role}</div>' if fold.role else ""
    return (
        f'<div class="lst-folded"><details class="lst-fold"><summary>{label} <small>{count}</small></summary>'
        f"{_code(listing, lines, 'lst-off')}</details>{role}</div>"
    )


def _note(note: Note, slugs: dict[str, int]) -> str:
    name = _slug(note.anchor.symbol or "module", slugs)
    link = f'<a class="lst-ref" href="#L{note.span.first}">{note.span}</a>'
    return f'<div class="lst-note" id="{name}" role="note">{link}{note.item.body}</div>'


def _slug(symbol: str, slugs: dict[str, int]) -> str:
    """`note-scheduler-has-changed-2` for the second note in a symbol."""
    stem = "note-" + re.sub(r"[^a-z0-9]+", "-", symbol.lower()).strip("-")
    slugs[stem] = slugs.get(stem, 0) + 1
    return f"{stem}-{slugs[stem]}"
