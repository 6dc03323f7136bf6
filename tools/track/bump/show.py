"""The one list of a report in four forms: a table for a terminal, Markdown, annotations for GitHub, and JSON."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from rich.console import Console
from rich.table import Table

from track.anchors.match import Kind
from track.drift.changes import SymbolKind
from track.drift.report import Drift, Report, report_bytes

__all__ = ["Form", "in_form", "markdown", "summary", "table"]

type Form = Literal["table", "markdown", "github", "json"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_PROBLEMS = 20


def in_form(report: Report, form: Form, *, everything: bool = False) -> str:
    """The report in one of the forms; `everything` shows in a table what needs nobody too."""
    match form:
        case "table":
            return table(report, everything=everything)
        case "markdown":
            return markdown(report)
        case "github":
            return "\n".join(_annotations(report))
        case "json":
            return report_bytes(report).decode()


def summary(report: Report) -> str:
    """One sentence: what was carried over, and what waits."""
    notes = [d for d in report.drifts if d.thing == "note"]
    wait = [d for d in report.drifts if d.review]
    kinds = ", ".join(f"{report.count(kind)} {kind}" for kind in KINDS if report.count(kind))
    return (
        f"{report.project} {report.old.version} to {report.new.version}: "
        f"{len(notes) - sum(d.review for d in notes)} of {len(notes)} notes carried over ({kinds}); "
        f"{len(wait)} notes, listings and folds wait for a person"
    )


def table(report: Report, *, everything: bool) -> str:
    """The list for a terminal: what waits for a person, or every note, listing and fold."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("what", "kind", "id", "page", "now", "quote"):
        grid.add_column(title, no_wrap=title != "quote")
    for drift in report.drifts:
        if everything or drift.review:
            quote = " ".join(drift.quote.split())[:60]
            grid.add_row(drift.thing, drift.kind, drift.id, f"{drift.page}:{drift.line}", _now(drift), quote)
    out = io.StringIO()
    Console(file=out, width=180, highlight=False, markup=False).print(grid)
    counted = [*_counts(report), summary(report)]
    return "\n".join([*(line.rstrip() for line in out.getvalue().splitlines() if grid.row_count), *counted])


def _now(drift: Drift) -> str:
    if drift.lines is None:
        return "nowhere"
    place = f"{drift.symbol or 'module'}, {drift.lines}"
    return place if drift.path == drift.old_path else f"{drift.path}, {place}"


def _counts(report: Report) -> Iterator[str]:
    changes = report.changes
    ways: tuple[SymbolKind, ...] = ("added", "removed", "renamed", "moved", "changed")
    yield "symbols: " + ", ".join(f"{changes.count(way)} {way}" for way in ways)
    yield f"facts: {len(report.facts)} changed"
    for change in changes.tables:
        if change.added or change.removed:
            yield f"rules: {change.table} {change.old} to {change.new}, +{len(change.added)} -{len(change.removed)}"
    if report.verdicts is None:
        yield "verdicts: not run"
    else:
        yield f"verdicts: {len(report.verdicts)} changed; figures: {len(report.figures or ())} changed"
    yield from (f"vanished: {path}" for path in report.missing)
    yield from report.problems[:MOST_PROBLEMS]
    if len(report.problems) > MOST_PROBLEMS:
        yield f"and {len(report.problems) - MOST_PROBLEMS} more; all of them are in the report"


def markdown(report: Report) -> str:
    """The report as a page of Markdown, every note in it, the ones that wait first."""
    old, new = report.old, report.new
    parts = [
        f"# {report.project} {old.version} to {new.version}",
        f"Commit `{old.commit}` to `{new.commit}`.",
        summary(report) + ".",
        "## What waits for a person",
        *_rows(d for d in report.drifts if d.review),
        "## What changed",
        "\n".join(f"- {line}" for line in _counts(report)),
        *_list("Facts", (f"`{f.name}`: {_value(f.old)} to {_value(f.new)}. {f.what}" for f in report.facts)),
        *_list("Rules", _rules(report)),
        *_list("Verdicts", _verdicts(report)),
        *_list("Figures", (f"`{f.fence}` at {f.page}:{f.line}" for f in report.figures or ())),
        *_list("What else of the pages does not fit", (p.replace("\n", " ") for p in report.problems)),
        "## What was carried over",
        *_rows(d for d in report.drifts if not d.review),
    ]
    return "\n\n".join(parts) + "\n"


def _rows(drifts: Iterable[Drift]) -> Iterator[str]:
    rows = [
        f"| {d.thing} | {d.kind} | {d.id} | {d.page}:{d.line} | {_now(d)} | {_code(d.quote)} | {_told(d)} |"
        for d in drifts
    ]
    head = "| what | kind | id | page | now | quote | candidates |\n|---|---|---|---|---|---|---|\n"
    yield head + "\n".join(rows) if rows else "Nothing."


def _code(text: str) -> str:
    """Text as a code span in a table."""
    shown = " ".join(text.split()).replace("|", "\\|")
    ticks = "`" * (1 + max((len(run) for run in shown.split() if set(run) == {"`"}), default=0))
    return f"{ticks} {shown} {ticks}" if "`" in shown else f"`{shown}`"


def _told(drift: Drift) -> str:
    return drift.why or "; ".join(_code(candidate) for candidate in drift.candidates[:3])


def _value(value: int | str | None) -> str:
    return "none" if value is None else f"{value}"


def _list(title: str, rows: Iterable[str]) -> Iterator[str]:
    found = [f"- {row}" for row in rows]
    if found:
        yield f"### {title}"
        yield "\n".join(found)


def _rules(report: Report) -> Iterator[str]:
    for change in report.changes.tables:
        if change.added or change.removed:
            gained, lost = (", ".join(f"`{n}`" for n in names) or "nothing" for names in (change.added, change.removed))
            yield f"{change.table}: {change.old} to {change.new}; gained {gained}; lost {lost}"


def _verdicts(report: Report) -> Iterator[str]:
    for v in report.verdicts or ():
        what = " ".join(part for part in (v.kernel, v.case, v.lane, v.target) if part)
        said = [f"{v.status[0]} to {v.status[1]}"] if v.status[0] != v.status[1] else [v.status[0]]
        said += ["the error text changed"] if v.error else []
        said += [f"{name} {_value(a)} to {_value(b)}" for name, (a, b) in v.measured.items()]
        yield f"`{what}`: {', '.join(said)}"


def _annotations(report: Report) -> Iterator[str]:
    """A line for each thing that waits, in the form that GitHub shows beside the page's line."""
    for d in report.drifts:
        if d.review:
            told = d.why or "; ".join(d.candidates[:1]) or _now(d)
            text = f"{_escaped(d.quote)}%0A{_escaped(told)}"
            title = f"{d.thing} {d.kind} {d.id}".strip()
            yield f"::warning file={d.page},line={d.line},title={title}::{text}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
