"""The track as a path: what is written and how long it takes, what is planned, and what stands beside the path."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from track.pages.context import Context, options
from track.pages.document import Fence
from track.pages.minutes import NOTE_SECONDS, WORDS, minutes, spoken
from track.pages.places import page_address
from track.pages.plan import Phase, Planned

__all__ = ["times", "track"]

_READ = frozenset({"article", "annotated", "lab", "layer"})
"""The kinds that are read from the top; the others are for looking things up, and have no time."""


type _Times = dict[str, int | None]
"""Minutes of every planned page: 0 for looking up, None where it is not written yet."""


def times(context: Context) -> _Times:
    """How long each planned page takes, which the front page is made from besides its own text."""
    docs = context.root / "docs"
    return {page.path: _time(docs, page) for phase in context.plan for page in phase.pages}


def track(fence: Fence, context: Context) -> str:
    """The phases in their order; pages that are written are links, the others are marked as planned."""
    options(fence, context, set())
    found = times(context)
    on, beside = ([phase for phase in context.plan if phase.beside is side] for side in (False, True))
    return "\n".join([_total(found), _list(on, found, "track"), _list(beside, found, "track beside")])


def _time(docs: Path, page: Planned) -> int | None:
    if not (docs / page.path).is_file():
        return None
    return minutes(docs, page.path) if page.kind in _READ else 0


def _total(times: _Times) -> str:
    written = [time for time in times.values() if time is not None]
    return (
        f'<p class="total"><b>{len(written)}</b> of {len(times)} pages are written, '
        f"<b>{spoken(sum(written))}</b> of reading. "
        f"<small>Counted at {WORDS} words a minute and {NOTE_SECONDS} seconds a note; pages for looking things up "
        "have no time.</small></p>"
    )


def _list(phases: Sequence[Phase], times: _Times, css: str) -> str:
    if not phases:
        return ""
    return "\n".join([f'<ol class="{css}">', *(_phase(phase, times) for phase in phases), "</ol>"])


def _phase(phase: Phase, times: _Times) -> str:
    written = [time for page in phase.pages if (time := times[page.path]) is not None]
    time = f", {spoken(sum(written))}" if any(written) else ""
    state = "whole" if len(written) == len(phase.pages) else "begun" if written else "ahead"
    rows = "".join(_row(page, times[page.path]) for page in phase.pages)
    return (
        f'<li class="{state}"><div class="phase"><h3>{html.escape(phase.title)}</h3>'
        f'<p class="promise">{html.escape(phase.promise)}</p>'
        f'<p class="done">{len(written)} of {len(phase.pages)} written{time}</p></div><ul>{rows}</ul></li>'
    )


def _row(page: Planned, time: int | None) -> str:
    title = html.escape(page.title)
    if time is None:
        return f'<li><span class="planned">{title}</span> <small>{page.kind}, planned</small></li>'
    link = f'<a href="{page_address(page.path)}">{title}</a>'
    return f"<li>{link} <small>{page.kind}{f', {spoken(time)}' if time else ''}</small></li>"
