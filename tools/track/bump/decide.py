"""What a person decides about a note: it is right as it stands, it speaks of other code now, or it goes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

from track.anchors.library import Library
from track.bump.workspace import Decision, Workspace
from track.errors import BadInput
from track.pages.document import Document, Fence, Item
from track.pages.layout import Bound, Note, bind
from track.pages.locks import Lock, Locked, lock_path, lock_text, note_id, parse_lock
from track.pages.weave import locked, read_page

__all__ = ["Place", "decide", "find", "pending"]

_LEAD = re.compile(r"^(?P<before>\s*[-*+]\s+)`+.+?`+(?:\s*(?:…|\.\.\.)\s*`+.+?`+)?", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Place:
    """A note where it stands: its page, the page's lock, its fence and its item."""

    page: str
    document: Document
    lock: Lock
    fence: Fence
    item: Item
    row: Locked


def find(workspace: Workspace, wanted: str) -> Place:
    """The note with this id, on the pages as the open bump leaves them; BadInput if there is none."""
    for page in _pages(workspace):
        document, lock = _opened(workspace, page)
        for row in lock.notes.values():
            if note_id(page, row) == wanted:
                return _place(page, document, lock, row)
    raise BadInput(f"no note is called '{wanted}'", {"expected": "eight hex digits"}, "track drift list --all")


def pending(workspace: Workspace) -> int:
    """How many notes wait for a person."""
    return sum(
        row.pending is not None for page in _pages(workspace) for row in _opened(workspace, page)[1].notes.values()
    )


def decide(workspace: Workspace, library: Library, decision: Decision) -> Place:
    """Carry a decision out on its page and lock; BadInput, and nothing changed, where it does not fit the code."""
    place = find(workspace, decision.note)
    lines = list(place.document.lines)
    match decision.verb:
        case "accept":
            pass
        case "drop":
            del lines[place.item.line - 1 : place.item.end - 1]
        case "retarget":
            lines = _retargeted(place, decision)
    rows = _relocked(place, "\n".join(lines), library, decision)
    workspace.write(place.page, "\n".join(lines))
    workspace.write(lock_path(Path(place.page)).as_posix(), lock_text(rows))
    workspace.decided(decision)
    return place


def _pages(workspace: Workspace) -> Sequence[str]:
    root = workspace.root
    return sorted(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))


def _opened(workspace: Workspace, page: str) -> tuple[Document, Lock]:
    text = (workspace.read(page) or b"").decode("utf-8")
    name = lock_path(Path(page)).as_posix()
    return read_page(page, text), parse_lock(name, workspace.read(name) or b"[]")


def _place(page: str, document: Document, lock: Lock, row: Locked) -> Place:
    for fence in document.fences:
        name = ", ".join(target.symbol for target in fence.targets)
        for item in fence.items:
            if (name, item.first, item.last) == (row.listing, row.anchor.first, row.anchor.last):
                return Place(page, document, lock, fence, item, row)
    raise BadInput(
        "a note that its page no longer has",
        {"page": page, "listing": row.listing, "quote": row.anchor.first},
        f"track lock {page}, once every other note of the page is reviewed",
    )


def _retargeted(place: Place, decision: Decision) -> list[str]:
    """The page's lines with the note's quote replaced, and the note under another listing if that is asked for."""
    lines = list(place.document.lines)
    first, end = place.item.line - 1, place.item.end - 1
    raw = "\n".join(lines[first:end])
    lead = _LEAD.match(raw)
    quote = _code(decision.first) + (f" … {_code(decision.last)}" if decision.last else "")
    moved = (f"{lead['before']}{quote}{raw[lead.end() :]}" if lead else raw).split("\n")
    if not decision.listing:
        return [*lines[:first], *moved, *lines[end:]]
    fence = _listing(place, decision.listing)
    at = fence.items[-1].end - 1 if fence.items else fence.end - 1
    del lines[first:end]
    at -= end - first if at > first else 0
    return [*lines[:at], *moved, *lines[at:]]


def _listing(place: Place, symbol: str) -> Fence:
    found = [f for f in place.document.fences if f.kind == "listing" and symbol in {t.symbol for t in f.targets}]
    if len(found) == 1:
        return found[0]
    known = ", ".join(t.symbol for f in place.document.fences if f.kind == "listing" for t in f.targets if t.symbol)
    raise BadInput(f"the page has no listing of '{symbol}'", {"page": place.page, "expected": known})


def _code(quote: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", quote)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {quote} {ticks}" if longest else f"`{quote}`"


def _relocked(place: Place, text: str, library: Library, decision: Decision) -> list[Locked]:
    """The page's lock after a decision: the one note as it stands now, all others as they were."""
    kept = [row for row in place.lock.notes.values() if row is not place.row]
    bound = bind(read_page(place.page, text), library.module, Lock(kept), draft=True)
    if decision.verb != "drop":
        _note(bound, place, decision)
    rows = locked(bound, Lock(kept), library)
    shown = {(r.listing, r.anchor.path, r.anchor.first, r.anchor.last) for r in rows}
    lost = [r for r in kept if (r.listing, r.anchor.path, r.anchor.first, r.anchor.last) not in shown]
    return [*rows, *lost]


def _note(bound: Bound, place: Place, decision: Decision) -> Note:
    """The note on its page as it is bound now; BadInput with the reason where it cannot be."""
    wanted = (
        (decision.first, decision.last or None) if decision.verb == "retarget" else (place.item.first, place.item.last)
    )
    for listing in bound.listings:
        for note in listing.notes:
            if (note.item.first, note.item.last) == wanted and not note.stale:
                return note
    reasons = [e for e in bound.problems if e.details.get("quote", "").startswith(wanted[0])] or list(bound.problems)
    if reasons:
        raise BadInput(reasons[0].what, reasons[0].details, f"track drift retarget {decision.note} 'QUOTE'")
    raise BadInput("the note cannot be bound to its code", {"page": place.page, "quote": wanted[0]})
