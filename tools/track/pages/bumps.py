"""The pages of accepted bumps: what moving a pin changed, in the sources, in our notes, facts and verdicts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from typing import get_args

from track.anchors.match import Kind
from track.drift.report import Report, VerdictChange, read_report
from track.pages.changes import section
from track.pages.context import Context, options
from track.pages.document import Fence

__all__ = ["bumps"]

FOLDER = "reference/changes"
KINDS: tuple[Kind, ...] = get_args(Kind)


def bumps(fence: Fence, context: Context) -> str:
    """A line for every accepted bump, the newest first, with the way to its page, which is made here too."""
    options(fence, context, set())
    paths = sorted((context.root / "docs" / FOLDER).glob("*.json"), reverse=True)
    if not paths:
        return "No pin of this site has moved yet."
    rows: list[str] = []
    for path in paths:
        report = read_report(path)
        context.files[f"{FOLDER}/{path.stem}.md"] = _page(report).encode()
        rows.append(f"- [{_title(report)}](changes/{path.stem}.md): {_notes(report)}")
    return "\n".join(rows)


def _title(report: Report) -> str:
    return f"{report.project} {report.old.version} to {report.new.version}"


def _notes(report: Report) -> str:
    notes = [drift for drift in report.drifts if drift.thing == "note"]
    kinds = ", ".join(f"{count} {kind}" for kind in KINDS if (count := report.count(kind)))
    return f"{sum(not note.review for note in notes)} of {len(notes)} notes carried over ({kinds or 'no note'})."


def _page(report: Report) -> str:
    parts = [
        f"---\ndescription: What moving the pin from {_title(report)} changed.\n---",
        f"# {_title(report)}",
        "What moving the pin of this site changed, as it was when the pin moved.",
        f"Of the notes on its pages, {_notes(report)}",
        "## In the sources",
        section(report.changes, is_ahead=False),
        "## In the verdicts",
        _verdicts(report),
        *_figures(report),
    ]
    return "\n\n".join(parts) + "\n"


def _verdicts(report: Report) -> str:
    if report.verdicts is None:
        return "No kernel was run when this pin moved."
    turned = [v for v in report.verdicts if v.status[0] != v.status[1]]
    words = [v for v in report.verdicts if v.error and v not in turned]
    numbers = [v for v in report.verdicts if v.measured]
    return "\n\n".join(
        [
            f"{len(turned)} verdicts, {len(words)} error texts and the numbers of {len(numbers)} programs are others.",
            *_folded("Verdicts", (f"{_name(v)}: {v.status[0]} to {v.status[1]}" for v in turned)),
            *_folded("Error texts", map(_words, words)),
            *_folded("Numbers of compiled programs", map(_numbers, numbers)),
        ]
    )


def _figures(report: Report) -> Iterator[str]:
    rows = [f"<code>{f.fence}</code> on {html.escape(f.page)}" for f in report.figures or ()]
    if rows:
        yield "## In the figures"
        yield from _folded(f"{len(rows)} figures", rows)


def _folded(title: str, rows: Iterable[str]) -> Iterator[str]:
    items = [f"<li>{row}</li>" for row in rows]
    if items:
        yield f'<details class="chg"><summary>{title}: {len(items)}</summary><ul>{"".join(items)}</ul></details>'


def _name(change: VerdictChange) -> str:
    words = (change.kernel, change.case, change.lane, change.target)
    return f"<code>{html.escape(' '.join(word for word in words if word))}</code>"


def _words(change: VerdictChange) -> str:
    before, after = change.error or ("", "")
    said = (f"<pre><code>{html.escape(text) or '(nothing)'}</code></pre>" for text in (before, after))
    return f"{_name(change)} {' '.join(said)}"


def _numbers(change: VerdictChange) -> str:
    said = (f"{html.escape(name)} {before} to {after}" for name, (before, after) in change.measured.items())
    return f"{_name(change)}: {', '.join(said)}"
