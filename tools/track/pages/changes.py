"""The fence that shows what changed inside a project from each release to the next."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from track.drift import history
from track.drift.changes import Changes, DoorChange, FileChange, Place, Side, SymbolChange, SymbolKind, TableChange
from track.errors import BadInput
from track.pages.context import Context, options
from track.pages.document import Fence
from track.pins.lock import Pin
from track.pins.progress import Terminal

__all__ = ["changes", "section"]

KINDS: dict[SymbolKind, str] = {"added": "+", "removed": "−", "renamed": "→", "moved": "→", "changed": "±"}
MOST_CHANGED = 8
"""Files in the table of those that changed most; the others are in the list of all."""


def changes(fence: Fence, context: Context) -> str:
    """Every step from one release to the next, the newest first: names, rules, files and definitions."""
    given = options(fence, context, {"project"})
    tree = context.library.trees.get(given["project"])
    if tree is None:
        known = ", ".join(context.library.trees)
        raise BadInput(f"no pinned project '{given['project']}'", {"page": context.place(fence), "expected": known})
    with context.naming(fence):
        steps = history.steps(context.root, tree.pin, Terminal())
    ahead = _ahead(steps, tree.pin)
    return "\n\n".join([_overview(steps), *(section(step, is_ahead=step in ahead) for step in steps)])


def _ahead(steps: Sequence[Changes], pin: Pin) -> list[Changes]:
    """The steps to releases that are newer than the pinned one."""
    versions = [step.new.version for step in steps]
    return list(steps[: versions.index(pin.release.version)] if pin.release.version in versions else ())


def _overview(steps: Sequence[Changes]) -> str:
    """A row a step, which leads to its section."""
    heads = ("step", "files", "added", "removed", "moved, renamed", "changed", "public names", "rules")
    rows = [
        [
            f'<a href="#{_anchor(step)}">{step.old.version} → {step.new.version}</a>',
            str(len(step.files)),
            *(str(step.count(kind)) for kind in ("added", "removed")),
            str(step.count("moved") + step.count("renamed")),
            str(step.count("changed")),
            _gains(step.doors),
            _gains(step.tables),
        ]
        for step in steps
    ]
    return _table(heads, rows)


def _gains(rows: Iterable[DoorChange | TableChange]) -> str:
    found = list(rows)
    added, removed = {name for row in found for name in row.added}, {name for row in found for name in row.removed}
    return f"+{len(added)} −{len(removed)}" if added or removed else "–"


def section(step: Changes, *, is_ahead: bool) -> str:
    """One step, as Markdown with a heading of its own."""
    note = ", ahead of the pin" if is_ahead else ""
    title = f"### {step.project} {step.old.version} → {step.new.version}{note} {{: #{_anchor(step)} }}"
    parts = (_commits(step), _headline(step), _doors(step), _rules(step), _moves(step), _top(step), _files(step))
    return "\n\n".join([title, *filter(None, [*parts, _facts(step)])])


def _commits(step: Changes) -> str:
    """The two commits, and everything between them, or why there are none."""
    unnamed = [side.version for side in (step.old, step.new) if side.commit is None]
    if unnamed:
        return f"The wheel of {step.project} {' and '.join(unnamed)} names no commit, so nothing links to it."
    links = [
        f"[`{side.commit[:7]}`]({step.repository}/tree/{side.commit})" for side in (step.old, step.new) if side.commit
    ]
    between = f"[all that lies between]({step.repository}/compare/{step.old.commit}...{step.new.commit})"
    return f"From commit {links[0]} to {links[1]}; {between}, outside of Pallas too."


def _headline(step: Changes) -> str:
    """How much changed, in one sentence."""
    counts = [f"{step.count(kind)} {kind}" for kind in KINDS if step.count(kind)]
    files = [f"{len(found)} {kind}" for kind in ("added", "removed", "moved", "split") if (found := step.of_kind(kind))]
    told = f", {', '.join(files)}" if files else ""
    return f"Definitions: {', '.join(counts) or 'none changed'}. Files that differ: {len(step.files)}{told}."


def _doors(step: Changes) -> str:
    if not step.doors:
        return "**Public names.** None came and none went."
    rows = [f"- `{_module(door.path)}`: {_door(door)}" for door in step.doors]
    return "**Public names.**\n\n" + "\n".join(rows)


def _door(door: DoorChange) -> str:
    parts = (("new", door.added), ("gone", door.removed), ("deprecated", door.deprecated), ("as before", door.restored))
    return "; ".join(f"{word} {_codes(names)}" for word, names in parts if names)


def _rules(step: Changes) -> str:
    """The rule tables that changed, and in one sentence those that did not."""
    changed = [table for table in step.tables if table.added or table.removed]
    same = [f"{table.table} ({table.new})" for table in step.tables if table not in changed]
    if not step.tables:
        return ""
    rows = [f"- {table.table}, {table.old} → {table.new}: {_rule_change(table)}" for table in changed]
    rows += [f"- As before: {', '.join(same)}."] if same else []
    return "**Primitives that can be lowered.**\n\n" + "\n".join(rows)


def _rule_change(table: TableChange) -> str:
    said = [f"gained {_codes(table.added)}"] if table.added else []
    said += [f"lost {_codes(table.removed)}"] if table.removed else []
    said += [f"`{name}` only where `{why}`" for name, why in table.conditions.items() if name in table.added]
    return "; ".join(said)


def _moves(step: Changes) -> str:
    """Files and definitions that are elsewhere, or have another name."""
    rows = [f"`{file.was}` is `{file.path}`." for file in step.of_kind("moved")]
    rows += [f"What `{file.path}` defined is in {_codes(file.became)}." for file in step.of_kind("split")]
    gone = [c for file in step.files for c in file.symbols if c.kind in {"moved", "renamed"}]
    rows += [_moved(step, change) for change in gone]
    return "**Moved and renamed.**\n\n" + "\n".join(f"- {row}" for row in rows) if rows else ""


def _moved(step: Changes, change: SymbolChange) -> str:
    edited = ", and changed" if change.is_edited else ""
    return f"{_linked(step, step.old, change.old)} is {_linked(step, step.new, change.new)}{edited}."


def _linked(step: Changes, side: Side, place: Place | None) -> str:
    """A definition and its file, which lead to its lines."""
    if place is None:
        return ""
    said = f"`{place.symbol}` in `{place.path}`"
    link = step.permalink(side, place)
    return f"[{said}]({link})" if link else said


def _top(step: Changes) -> str:
    files = sorted(step.files, key=lambda file: (-len(file.symbols), file.path))[:MOST_CHANGED]
    rows = [
        [f"<code>{html.escape(file.path)}</code>", *map(str, _counts(file)), f"{file.old_lines} → {file.new_lines}"]
        for file in files
        if file.symbols
    ]
    heads = ("most changed files", "+", "−", "→", "±", "lines")
    return _table(heads, rows) if rows else ""


def _counts(file: FileChange) -> tuple[int, int, int, int]:
    gone = file.count("moved") + file.count("renamed")
    return file.count("added"), file.count("removed"), gone, file.count("changed")


def _files(step: Changes) -> str:
    """Every file that differs, folded, and in it every definition."""
    rows = "".join(_file(step, file) for file in step.files)
    return _folded("Every file and definition that differs", rows) if rows else ""


def _file(step: Changes, file: FileChange) -> str:
    said = " ".join(f"{sign}{n}" for sign, n in zip("+−→±", _counts(file), strict=True) if n)
    word = "" if file.kind == "changed" else f"{file.kind}, "
    head = f"<code>{html.escape(file.path)}</code> <small>{word}{said or 'no definition differs'}</small>"
    if not file.symbols:
        return f"<p>{head}</p>"
    items = "".join(f"<li>{_symbol(step, change)}</li>" for change in sorted(file.symbols, key=_order))
    return f"<details><summary>{head}</summary><ul>{items}</ul></details>"


def _order(change: SymbolChange) -> tuple[int, int]:
    place = change.new or change.old
    return list(KINDS).index(change.kind), place.first if place else 0


def _symbol(step: Changes, change: SymbolChange) -> str:
    place = change.new or change.old
    links = _lines(step, step.old, change.old) + _lines(step, step.new, change.new)
    like = f" <small>alike: {html.escape(', '.join(change.like))}</small>" if change.like else ""
    return f"{KINDS[change.kind]} <code>{html.escape(place.symbol if place else '')}</code>{links}{like}"


def _lines(step: Changes, side: Side, place: Place | None) -> str:
    """The lines of a definition on one side, which lead to them."""
    if place is None:
        return ""
    link = step.permalink(side, place)
    text = str(place.span)
    return (
        f' <a href="{html.escape(link)}">{side.version}: {text}</a>'
        if link
        else f" <small>{side.version}: {text}</small>"
    )


def _facts(step: Changes) -> str:
    """The named numbers of this site that are others now."""
    rows = [
        [f"<code>{html.escape(fact.name)}</code>", html.escape(fact.what), _value(fact.old), _value(fact.new)]
        for fact in step.facts
    ]
    if not rows:
        return ""
    table = _table(("fact", "what it is", step.old.version, step.new.version), rows)
    return _folded("Facts of this site that differ", table)


def _value(value: int | str | None) -> str:
    return "–" if value is None else html.escape(str(value))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    table = f'<table class="chg"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="wide" tabindex="0">{table}</div>'


def _folded(summary: str, inside: str) -> str:
    """A part that is closed at first. Search leaves out what is in a section, and would not what is in nested folds."""
    fold = f'<details class="chg"><summary>{summary}</summary>{inside}</details>'
    return f"<section data-search-exclude>{fold}</section>"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _anchor(step: Changes) -> str:
    return f"{step.project}-{step.new.version}".replace(".", "-")
