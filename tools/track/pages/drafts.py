"""What a draft shows where a page no longer fits its pin: a stamp on a note, a box in place of a listing."""

from __future__ import annotations

import html
from collections.abc import Callable

from track.errors import TrackError
from track.pages.layout import Lost

__all__ = ["box", "lost", "stamp"]


def stamp(written_for: str, kind: str, diff: str) -> str:
    """The mark on a note that nobody has read against its new code; `diff` is from the old code to that."""
    shown = f"<pre><code>{html.escape(diff)}</code></pre>" if diff else "<p>Its old code is not at hand.</p>"
    said = f"<summary>Written for {html.escape(written_for)}; its code is {html.escape(kind)} since</summary>"
    return f'<details class="stale" data-search-exclude>{said}{shown}</details>'


def box(what: str, error: TrackError) -> str:
    """A box in place of a part of the page, with the error."""
    said = f"<pre><code>{html.escape(str(error))}</code></pre>"
    return f'<div class="stale" data-search-exclude><p>{html.escape(what)}</p>{said}</div>'


def lost(listing: Lost, render: Callable[[str, int], str]) -> str:
    """A listing that has no code, with the notes that stood beside it."""
    names = ", ".join(f"{target.path} {target.symbol}".strip() for target in listing.fence.targets)
    items = (
        f"<li><code>{html.escape(item.quote)}</code> {render(item.body, item.line)}</li>"
        for item in listing.fence.items
    )
    notes = f"<ul>{''.join(items)}</ul>" if listing.fence.items else ""
    return box(f"The code of this listing is not at the new pin: {names}", listing.error) + notes
