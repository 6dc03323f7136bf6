"""What a page can ask for besides listings: the fences that weaving replaces by something computed."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping

import yaml

from track.errors import BadInput
from track.pages import bumps, changes, compiled, figures, labs, releases, runs, sweep
from track.pages.api import api
from track.pages.context import Context, options
from track.pages.document import Fence
from track.pages.line_descent import LINE_DESCENT
from track.pages.path import track

__all__ = ["DIRECTIVES"]


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


def citation(fence: Fence, context: Context) -> str:
    """How to cite the site, as CITATION.cff says it, with the commits that it reads."""
    options(fence, context, set())
    path = context.root / "CITATION.cff"
    if not path.is_file():
        raise BadInput("there is no citation to show", {"page": context.place(fence), "file": path.name})
    said = yaml.safe_load(path.read_text("utf-8"))
    authors = ", ".join(author["name"] for author in said["authors"])
    pinned = ", ".join(f"{tree.pin.project} at {tree.pin.commit[:7]}" for tree in context.library.trees.values())
    text = f"{authors}. {said['title']}, version {said['version']}, reading {pinned}."
    return f'<p class="citation">{html.escape(text)}</p>'


DIRECTIVES: Mapping[str, Callable[[Fence, Context], str]] = {
    **compiled.FENCES,
    **labs.FENCES,
    **runs.FENCES,
    "api": api,
    "bumps": bumps.bumps,
    "changes": changes.changes,
    "citation": citation,
    "kernel": figures.kernel,
    "line-descent": LINE_DESCENT,
    "pins": pins,
    "records": figures.records,
    "releases": releases.table,
    "roofline": figures.roofline,
    "sweep": sweep.sweep,
    "timeline": figures.timeline,
    "track": track,
    "truth-table": figures.truth_table,
    "upstream": upstream,
}
