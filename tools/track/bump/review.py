"""What a person needs to decide about a note: the old code, what changed, the note itself and where it may belong."""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterator, Mapping, Sequence

from track.anchors.symbols import Module
from track.drift.report import Drift, Report
from track.spans import Span

__all__ = ["diff_of", "page", "shown"]

AROUND = 3
"""Lines of context in a diff."""

STYLE = """
:root { color-scheme: light dark; --add: light-dark(#e3f4e1, #1d3a24); --cut: light-dark(#fbe4e0, #472323); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
article { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: 1rem 0 2rem; }
h2 { font-size: 1rem; margin: 0; } h2 code { font-size: 1rem; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); gap: 1rem; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
.add { background: var(--add); } .cut { background: var(--cut); }
pre span { display: block; min-height: 1.5em; }
blockquote { margin: 0; padding-left: 1rem; border-left: 4px solid #b5541c; }
"""


def diff_of(drift: Drift, old: Module | None, new: Module | None) -> str:
    """A unified diff from the old symbol to the new one, as far as it touches the old lines of the note."""
    if old is None:
        return ""
    before = _symbol_lines(old, drift.old_symbol, drift.old_lines) or drift.old_lines
    after = _symbol_lines(new, drift.symbol, drift.lines) if new else None
    left = old.lines[before.first - 1 : before.last]
    right = new.lines[after.first - 1 : after.last] if new and after else ()
    names = (f"{drift.old_path}:{before}", f"{drift.path}:{after}" if after else "nothing")
    wanted = Span(drift.old_lines.first - before.first + 1, drift.old_lines.last - before.first + 1)
    return "\n".join(_hunks(left, right, names, wanted))


def _symbol_lines(module: Module, selector: str, otherwise: Span | None) -> Span | None:
    symbol = next((s for s in module.symbols if s.selector == selector), None)
    if symbol is not None:
        return symbol.owned
    if otherwise is None:
        return None
    return Span(max(1, otherwise.first - AROUND), min(len(module.lines), otherwise.last + AROUND))


def _hunks(left: Sequence[str], right: Sequence[str], names: tuple[str, str], wanted: Span) -> Iterator[str]:
    """The hunks that touch the wanted lines, else those lines as they were, which nothing changed."""
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    found = [group for group in matcher.get_grouped_opcodes(AROUND) if _touches(group, wanted)]
    yield f"--- {names[0]}"
    yield f"+++ {names[1]}"
    for group in found:
        for tag, a, b, c, d in group:
            yield from (f" {line}" for line in left[a:b] if tag == "equal")
            yield from (f"-{line}" for line in left[a:b] if tag != "equal")
            yield from (f"+{line}" for line in right[c:d] if tag != "equal")
    if not found:
        first = max(0, wanted.first - 1 - AROUND)
        yield from (f" {line}" for line in left[first : wanted.last + AROUND])


def _touches(group: Sequence[tuple[str, int, int, int, int]], wanted: Span) -> bool:
    return group[0][1] < wanted.last + 1 and group[-1][2] >= wanted.first


def shown(drift: Drift, body: str, old: Module | None, new: Module | None) -> str:
    """A note for a terminal: where it stands, the note, the diff, the candidates and the commands."""
    parts = [
        f"{drift.thing} {drift.id}  {drift.kind}  {drift.page}:{drift.line}",
        *([f"why         {drift.why}"] if drift.why else []),
        f"quote       {drift.quote}",
        "",
        *(f"  {line}" for line in body.splitlines()),
        "",
        diff_of(drift, old, new),
        "",
        *(f"candidate   {candidate}" for candidate in drift.candidates),
        *_commands(drift),
    ]
    return "\n".join(parts)


def _commands(drift: Drift) -> Iterator[str]:
    if drift.thing != "note":
        yield f"next        edit {drift.page}:{drift.line} by hand"
        return
    yield f"it is right as it stands      track drift accept {drift.id}"
    yield f"it speaks of other code now   track drift retarget {drift.id} 'QUOTE' ['LAST QUOTE'] [--listing SYMBOL]"
    yield f"it has nothing to say now     track drift drop {drift.id}"


def page(report: Report, bodies: Mapping[str, str], old: Mapping[str, Module], new: Mapping[str, Module]) -> str:
    """The review as one HTML file that needs nothing else; `bodies` are the notes by id."""
    wait = [d for d in report.drifts if d.review]
    title = html.escape(f"{report.project} {report.old.version} to {report.new.version}")
    articles = [_article(d, bodies.get(d.id, ""), old.get(d.old_path), new.get(d.path)) for d in wait]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}: review</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body><h1>{title}</h1>'
        f"<p>{len(wait)} notes, listings and folds wait for a person.</p>{''.join(articles)}</body></html>\n"
    )


def _article(drift: Drift, body: str, old: Module | None, new: Module | None) -> str:
    diff = "".join(_line(line) for line in diff_of(drift, old, new).splitlines())
    candidates = "".join(f"<li><code>{html.escape(c)}</code></li>" for c in drift.candidates)
    commands = html.escape("\n".join(_commands(drift)))
    note = f"<blockquote>{html.escape(body)}</blockquote>" if body else ""
    quote = f"<code>{html.escape(drift.quote)}</code>"
    return (
        f'<article id="{drift.id or f"line-{drift.line}"}"><h2>{drift.thing} {drift.id}: {drift.kind}, '
        f"{html.escape(drift.page)}:{drift.line}</h2><p>{html.escape(drift.why)} {quote}</p>"
        f'<div class="sides"><div>{note}<pre>{commands}</pre>{f"<ul>{candidates}</ul>" if candidates else ""}</div>'
        f"<pre>{diff}</pre></div></article>"
    )


def _line(line: str) -> str:
    kind = {"+": ' class="add"', "-": ' class="cut"'}.get(line[:1], "")
    return f"<span{kind}>{html.escape(line)}</span>"
