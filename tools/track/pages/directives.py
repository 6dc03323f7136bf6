"""What a page can ask for besides listings: the fences that weaving replaces by something computed."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from pathlib import Path

from track.errors import BadInput
from track.pages import compiled, figures, labs, runs, sweep
from track.pages.context import Context, options
from track.pages.document import Fence
from track.pages.plan import Phase, Planned

__all__ = ["DIRECTIVES"]


def track(fence: Fence, context: Context) -> str:
    """The phases as a path: pages that are written are links, the others are marked as planned."""
    options(fence, context, set())
    docs = context.root / "docs"
    return "\n".join(['<ol class="track">', *(_phase(phase, docs) for phase in context.plan), "</ol>"])


def _phase(phase: Phase, docs: Path) -> str:
    done = sum((docs / page.path).is_file() for page in phase.pages)
    rows = "".join(f"<li>{_planned(page, written=(docs / page.path).is_file())}</li>" for page in phase.pages)
    return (
        f'<li><h3>{html.escape(phase.title)}</h3><p class="promise">{html.escape(phase.promise)}</p>'
        f'<p class="done">{done} of {len(phase.pages)} written</p><ul>{rows}</ul></li>'
    )


def _planned(page: Planned, *, written: bool) -> str:
    title = html.escape(page.title)
    if not written:
        return f'<span class="planned">{title}</span> <small>{page.kind}, planned</small>'
    return f'<a href="{page.path.removesuffix(".md")}.html">{title}</a> <small>{page.kind}</small>'


def pins(fence: Fence, context: Context) -> str:
    """A table of the pins: project, release, commit, and what is claimed of the bytes."""
    options(fence, context, set())
    rows = ["| project | release | commit | files | what the bytes are |", "|---|---|---|--:|---|"]
    for tree in context.library.trees.values():
        pin = tree.pin
        link = f"[`{pin.commit}`]({pin.repository}/tree/{pin.commit})"
        claims = sorted({tree.wording(path) for path in tree.paths})
        rows.append(f"| {pin.project} | {pin.release.version} | {link} | {len(pin.files)} | {'; '.join(claims)} |")
    return "\n".join(rows)


def upstream(fence: Fence, context: Context) -> str:
    """A whole text file of a pin, such as its LICENSE."""
    given = options(fence, context, {"project", "file"})
    tree = context.library.trees.get(given["project"])
    if tree is None:
        known = ", ".join(context.library.trees)
        raise BadInput(f"no pinned project '{given['project']}'", {"page": context.place(fence), "expected": known})
    with context.naming(fence):
        link = tree.permalink(given["file"])
        text = html.escape(tree.text(given["file"]))
    claim = html.escape(tree.wording(given["file"]))
    title = f'<a href="{link}">{given["project"]}/{given["file"]}</a>, unmodified, {claim}'
    return f'<div class="upstream"><p>{title}</p><pre data-search-exclude tabindex="0"><code>{text}</code></pre></div>'


DIRECTIVES: Mapping[str, Callable[[Fence, Context], str]] = {
    **compiled.FENCES,
    **labs.FENCES,
    **runs.FENCES,
    "kernel": figures.kernel,
    "pins": pins,
    "records": figures.records,
    "roofline": figures.roofline,
    "sweep": sweep.sweep,
    "timeline": figures.timeline,
    "track": track,
    "truth-table": figures.truth_table,
    "upstream": upstream,
}
