"""An anchor: what is remembered of the code that a note was reviewed against, and finding that code again.

`resolve` walks a ladder and stops at the first rung with exactly one answer. Two answers are ambiguous, never a guess,
and a rung that could have answered before the code changed (a twin elsewhere) proves nothing, so it is not asked.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from track.anchors import fingerprints, quotes
from track.anchors.fingerprints import Statement
from track.anchors.symbols import Module, Symbol
from track.spans import Span

__all__ = ["Anchor", "Resolution", "anchor", "resolve"]

Kind = Literal["unchanged", "moved", "edited", "renamed", "ambiguous", "lost"]

ALIKE = 0.6
"""Similarity, from 0 to 1, from which a line is offered as a candidate; it never decides anything."""

ENOUGH = 12
"""Syntax nodes that a statement needs before its text alone, in another symbol, is taken for the same statement."""


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """The fingerprints of quoted code in its symbol, with how many twins each had in the file at review."""

    path: str
    symbol: str
    first: str
    last: str | None = None
    statements: tuple[str, ...]
    weight: int
    body: str
    statement_twins: int
    body_twins: int
    name_twins: int


class Resolution(msgspec.Struct, frozen=True):
    """Where an anchor's code is now. `span` is None where it is ambiguous or lost; `candidates` are places to look."""

    kind: Kind
    symbol: str
    span: Span | None
    candidates: tuple[str, ...] = ()


def anchor(module: Module, span: Span, first: str, last: str | None = None) -> Anchor:
    """Remember the code at `span`, which the quote was found to name."""
    home = innermost(module, span)
    inside = fingerprints.statements_of(module, home)
    touched = tuple(s for s in inside if s.span.overlaps(span))
    prints = tuple(s.fingerprint for s in touched)
    bodies = fingerprints.bodies(module)
    body = bodies[home.selector] if home else ""
    others = [s for s in module.symbols if home and s is not home]
    return Anchor(
        path=module.path,
        symbol=home.selector if home else "",
        first=first,
        last=last,
        statements=prints,
        weight=sum(s.weight for s in touched),
        body=body,
        statement_twins=len(_sequences(fingerprints.statements_of(module, None), prints)) - 1 if prints else 0,
        body_twins=sum(1 for s in others if s.kind != "name" and bodies[s.selector] == body),
        name_twins=sum(1 for s in others if home and s.name == home.name),
    )


def resolve(note: Anchor, module: Module) -> Resolution:
    """Find the anchor's code in the file as it is now."""
    home = next((s for s in module.symbols if s.selector == note.symbol), None)
    if home or not note.symbol:
        return _in_symbol(note, module, home) or _elsewhere(note, module, home) or _lost(note, module, home)
    rungs = (_same_name_and_body(note, module), _same_name(note, module), _same_body(note, module))
    return next((r for r in rungs if r), None) or _elsewhere(note, module, None) or _lost(note, module, None)


def innermost(module: Module, span: Span) -> Symbol | None:
    """The smallest class or function that holds every line of `span`; None at module level."""
    holders = [s for s in module.symbols if s.owned.contains(span)]
    return min(holders, key=lambda s: (s.owned.length, -s.qualname.count(".")), default=None)


def quoted(module: Module, within: Span, first: str, last: str | None) -> list[Span]:
    """Every place in `within` that the quote names: its lines, or from the first code to the next match of the last."""
    found: list[Span] = []
    for start in quotes.matches(module, first, within):
        ends = [start] if last is None else quotes.matches(module, last, Span(start.first, within.last))
        found.extend(Span(start.first, max(start.last, end.last)) for end in ends[:1])
    return found


def _sequences(inside: Sequence[Statement], wanted: Sequence[str]) -> list[Span]:
    """Every run of statements with just these fingerprints."""
    starts = [i for i, s in enumerate(inside) if wanted and s.fingerprint == wanted[0]]
    runs = [inside[i : i + len(wanted)] for i in starts]
    same = [run for run in runs if [s.fingerprint for s in run] == list(wanted)]
    return [Span(run[0].span.first, max(s.span.last for s in run)) for run in same]


def _in_symbol(note: Anchor, module: Module, home: Symbol | None, kind: Kind = "unchanged") -> Resolution | None:
    where = home.owned if home else Span(1, len(module.lines))
    name = home.selector if home else ""
    inside = fingerprints.statements_of(module, home)
    by_quote = quoted(module, where, note.first, note.last)
    by_print = _sequences(inside, note.statements)
    if len(by_quote) == 1:
        same = tuple(s.fingerprint for s in inside if s.span.overlaps(by_quote[0])) == note.statements
        return Resolution(kind if same else _edited(kind), name, by_quote[0])
    if len(by_print) == 1:
        return Resolution(kind, name, by_print[0])
    several = by_quote or by_print
    return Resolution("ambiguous", name, None, _shown(module, several)) if several else None


def _edited(kind: Kind) -> Kind:
    return "edited" if kind in {"unchanged", "moved"} else kind


def _only(note: Anchor, module: Module, found: Sequence[Symbol], kind: Kind) -> Resolution | None:
    if len(found) > 1:
        return Resolution("ambiguous", "", None, tuple(f"{s.selector}, line {s.span.first}" for s in found))
    return _in_symbol(note, module, found[0], kind) if found else None


def _same_name_and_body(note: Anchor, module: Module) -> Resolution | None:
    found = [s for s in _with_body(note, module) if s.name == _name(note)]
    return _only(note, module, found, "moved")


def _same_name(note: Anchor, module: Module) -> Resolution | None:
    found = [s for s in module.symbols if s.name == _name(note)] if not note.name_twins else []
    return _only(note, module, found, "moved")


def _same_body(note: Anchor, module: Module) -> Resolution | None:
    return _only(note, module, list(_with_body(note, module)), "renamed")


def _with_body(note: Anchor, module: Module) -> Iterator[Symbol]:
    if note.body_twins:
        return
    bodies = fingerprints.bodies(module)
    yield from (s for s in module.symbols if s.kind != "name" and bodies[s.selector] == note.body)


def _elsewhere(note: Anchor, module: Module, home: Symbol | None) -> Resolution | None:
    if note.statement_twins or note.weight < ENOUGH:
        return None
    found = _sequences(fingerprints.statements_of(module, None), note.statements)
    found = [span for span in found if not (home and home.span.contains(span))]
    if len(found) > 1:
        return Resolution("ambiguous", "", None, _shown(module, found))
    if not found:
        return None
    now = innermost(module, found[0])
    return Resolution("moved", now.selector if now else "", found[0])


def _lost(note: Anchor, module: Module, home: Symbol | None) -> Resolution:
    where = home.owned if home else Span(1, len(module.lines))
    return Resolution("lost", "", None, tuple(nearest(module, note.first, where)))


def nearest(module: Module, quote: str, where: Span) -> list[str]:
    """The three lines of `where` most like the quote, as `line N (similarity): code`."""
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2("".join(quote.split()))
    scored: list[tuple[float, int]] = []
    for line in where.lines:
        matcher.set_seq1("".join(module.lines[line - 1].split()))
        if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE:
            scored.append((matcher.ratio(), line))
    best = sorted(((s, n) for s, n in scored if s >= ALIKE), reverse=True)[:3]
    return [f"line {n} ({s:.2f}): {module.lines[n - 1].strip()}" for s, n in best]


def _name(note: Anchor) -> str:
    return note.symbol.split(" ")[0].rpartition(".")[2]


def _shown(module: Module, spans: Sequence[Span]) -> tuple[str, ...]:
    return tuple(f"line {span}: {module.lines[span.first - 1].strip()}" for span in spans)
