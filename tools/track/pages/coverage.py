"""How much of a file a page accounts for."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from track.anchors.symbols import Module
from track.pages.layout import Bound, Listing
from track.spans import Span

__all__ = ["Coverage", "measure"]


class Coverage(msgspec.Struct, frozen=True):
    """Line counts of one file on one page. Blank lines count with what stands before them."""

    page: str
    path: str
    lines: int
    noted: int
    """Shown lines that a note speaks of."""
    shown: int
    folded: int
    folded_share: float
    unaccounted: int
    unaccounted_spans: tuple[str, ...]
    notes: int
    longest_run: int
    """The most shown lines of code in a row that no note speaks of; comments and blank lines not counted."""
    longest_run_at: str


def measure(bound: Bound, module: Module) -> Coverage:
    """Count the lines of `module` as the page treats them."""
    listings = [listing for listing in bound.listings if listing.module.path == module.path]
    state = _states(listings, module)
    noted = {n for listing in listings for note in listing.notes for n in note.span.lines if state[n] == "shown"}
    folded = sum(1 for kind in state.values() if kind == "folded")
    loose = [n for n in sorted(state) if state[n] == "unaccounted"]
    run, at = _longest_run(listings, module, state, noted)
    return Coverage(
        page=bound.document.path,
        path=module.path,
        lines=len(module.lines),
        noted=len(noted),
        shown=sum(1 for kind in state.values() if kind == "shown"),
        folded=folded,
        folded_share=round(folded / len(module.lines), 3),
        unaccounted=len(loose),
        unaccounted_spans=tuple(str(span) for span in _runs(loose)),
        notes=sum(len(listing.notes) for listing in listings),
        longest_run=run,
        longest_run_at=at,
    )


def _states(listings: Sequence[Listing], module: Module) -> dict[int, str]:
    state = dict.fromkeys(range(1, len(module.lines) + 1), "unaccounted")
    if module.header and listings:
        state.update(dict.fromkeys(module.header.lines, "shown"))  # the license notice heads every page of the file
    for listing in listings:
        state.update(dict.fromkeys((n for piece in listing.pieces for n in piece.lines), "shown"))
    for listing in (listing for listing in listings if not listing.roles):  # a source page shows the whole file
        state.update(dict.fromkeys((n for fold in listing.folds for n in fold.span.lines), "folded"))
    for number in sorted(state):
        if state[number] == "unaccounted" and not module.lines[number - 1].strip() and number > 1:
            state[number] = state[number - 1]
    return state


def _longest_run(
    listings: Sequence[Listing], module: Module, state: dict[int, str], noted: set[int]
) -> tuple[int, str]:
    best, at = 0, ""
    for piece in (piece for listing in listings if not listing.roles for piece in listing.pieces):
        run: list[int] = []
        for line in piece.lines:
            if line in noted:
                run = []
            elif state[line] == "shown" and line not in module.quiet:
                run.append(line)
            if len(run) > best:
                best, at = len(run), str(Span(run[0], run[-1]))
    return best, at


def _runs(numbers: Sequence[int]) -> list[Span]:
    spans: list[Span] = []
    for number in numbers:
        if spans and spans[-1].last == number - 1:
            spans[-1] = Span(spans[-1].first, number)
        else:
            spans.append(Span(number, number))
    return spans
