"""What changed between two releases, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from track.drift.changes import Changes, FileChange, Place, Side, SymbolChange

__all__ = ["summary"]

SIGNS = {"added": "+", "removed": "-", "renamed": ">", "moved": ">", "changed": "~"}


def summary(changes: Changes) -> str:
    """Public names, rules, facts, and every file with its definitions; permalinks are in the JSON and on the page."""
    return "\n".join(_lines(changes))


def _lines(changes: Changes) -> Iterator[str]:
    yield f"{changes.project} {_side(changes.old)} -> {_side(changes.new)}"
    for door in changes.doors:
        for word in ("added", "removed", "deprecated", "restored"):
            if names := getattr(door, word):
                yield f"  {door.path}  {word}: {', '.join(names)}"
    for table in changes.tables:
        told = [f"+{name}" for name in table.added] + [f"-{name}" for name in table.removed]
        yield "  ".join([f"  {table.table}", f"{table.old} -> {table.new}", *told])
    for fact in changes.facts:
        yield f"  {fact.name}  {_value(fact.old)} -> {_value(fact.new)}"
    for file in changes.files:
        yield from _file(file)
    counts = ", ".join(f"{changes.count(kind)} {kind}" for kind in ("added", "removed", "renamed", "moved", "changed"))
    yield f"{len(changes.files)} files differ; definitions: {counts}"


def _side(side: Side) -> str:
    return f"{side.version} ({side.commit[:7] if side.commit else 'its wheel names no commit'})"


def _file(file: FileChange) -> Iterator[str]:
    was = f", was {file.was}" if file.was else ""
    became = f", now in {', '.join(file.became)}" if file.became else ""
    yield f"  {file.path}  {file.kind}{was}{became}, {file.old_lines} -> {file.new_lines} lines"
    for change in file.symbols:
        yield f"    {SIGNS[change.kind]} {_symbol(change)}"


def _symbol(change: SymbolChange) -> str:
    places = [_place(place) for place in (change.old, change.new) if place]
    shown = places[-1] if change.kind == "changed" else " -> ".join(places)
    return shown + (f"  (alike: {', '.join(change.like)})" if change.like else "")


def _place(place: Place) -> str:
    return f"{place.symbol}  {place.path}:{place.first}"


def _value(value: int | str | None) -> str:
    return "none" if value is None else str(value)
