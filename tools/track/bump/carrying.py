"""A page on its way to another pin: its listings renamed, its notes carried, and what became of each."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from track.anchors import anchor as anchors
from track.anchors.carry import Carried, Carrier
from track.anchors.forest import Forest, Key
from track.anchors.library import Library
from track.anchors.match import Kind, Matches, match
from track.drift.report import Drift, Thing
from track.pages.document import FOLDED, SOURCE, Fence, Item, Target
from track.pages.layout import Bound, Fold, Listing, Note, bind
from track.pages.locks import Lock, Locked, note_id
from track.pages.weave import locked, read_page
from track.spans import Span

__all__ = ["Move", "Page", "carry_page"]

WORST_FIRST: tuple[Kind, ...] = ("lost", "ambiguous", "renamed", "moved", "unchanged")
"""What can become of a symbol that a page names, from what leaves the most to a person to what leaves nothing."""


@dataclasses.dataclass(frozen=True)
class Move:
    """One project on its way from one pin to another. `library` and `target` have the sources of all projects."""

    project: str
    library: Library
    target: Library
    old: Forest
    new: Forest
    matches: Matches
    carrier: Carrier

    @classmethod
    def between(cls, project: str, library: Library, target: Library, old: Forest, new: Forest) -> Move:
        """Match the symbols of the two pins."""
        matches = match(old, new)
        return cls(project, library, target, old, new, matches, Carrier(old, new, matches))

    @property
    def commit(self) -> str:
        """The commit that the project moves to."""
        return self.target.trees[self.project].pin.commit

    def concerns(self, path: str) -> bool:
        """Whether a file is one of the project's."""
        return self.library.tree(path).project == self.project


@dataclasses.dataclass(frozen=True)
class Page:
    """A page as it should be at the new pin, with its lock, and what became of its parts."""

    text: str
    lock: tuple[Locked, ...]
    drifts: tuple[Drift, ...]


def carry_page(name: str, text: str, lock: Lock, move: Move) -> Page:
    """Carry a page, such as `docs/tpu/pipeline.md`, with its lock."""
    bound = bind(read_page(name, text), move.library.module, lock, draft=True)
    return _Carry(bound, lock, move, text.split("\n")).page()


@dataclasses.dataclass
class _Carry:
    bound: Bound
    lock: Lock
    move: Move
    lines: list[str]
    rows: list[Locked] = dataclasses.field(default_factory=list[Locked])
    drifts: list[Drift] = dataclasses.field(default_factory=list[Drift])

    def page(self) -> Page:
        before = {
            (listing.name, row.anchor.path, row.anchor.first, row.anchor.last): row
            for listing in self.bound.listings
            for row in locked(Bound(self.bound.document, (listing,)), self.lock, self.move.library)
        }
        for listing in self.bound.listings:
            if self.move.concerns(listing.module.path):
                self.listing(listing, before)
            else:
                self.rows += locked(Bound(self.bound.document, (listing,)), self.lock, self.move.library)
        return Page("\n".join(self.lines), tuple(self.rows), tuple(sorted(self.drifts, key=lambda d: d.line)))

    def listing(self, listing: Listing, before: Mapping[tuple[str, str, str, str | None], Locked]) -> None:
        """Rename what the fence names, and carry its notes and folds."""
        targets = [self.target(listing, target) for target in listing.fence.targets]
        self.rename(listing.fence, targets)
        name = ", ".join(target.symbol for target in targets)
        for note in listing.notes:
            row = before[listing.name, note.anchor.path, note.anchor.first, note.anchor.last]
            self.note(listing, note, row, name, targets)
        if listing.fence.kind == SOURCE:
            for item in listing.fence.items:
                self.named(listing, item, targets[0])
            return
        for fold in listing.folds:
            if fold.line:
                self.fold(listing, fold, targets[0])

    def target(self, listing: Listing, target: Target) -> Target:
        """What a line of the fence should name; a drift for one that has no answer or another name."""
        parts = [part.strip() for part in target.symbol.split("…")] if target.symbol else []
        found = [self.symbol((target.path, part)) for part in parts] or [self.file(target.path)]
        paths = {path for _, _, path in found}
        kinds: list[Kind] = [kind for kind, _, _ in found]
        kind: Kind = min(kinds, key=WORST_FIRST.index) if len(paths) == 1 else "lost"
        if kind in {"lost", "ambiguous"}:
            now = target
        else:
            now = Target(paths.pop(), " … ".join(selector for _, selector, _ in found) if parts else "")
        if listing.fence.kind != FOLDED or not parts:
            self.drift("listing", listing.fence.line, kind, target, now)
        return now

    def symbol(self, old: Key) -> tuple[Kind, str, str]:
        """What became of a symbol that a fence names: how, and its new selector and path."""
        found = self.move.matches.by_old.get(old)
        if found is None or found.new is None:
            return (found.kind if found else "lost", old[1], old[0])
        kind: Kind = "unchanged" if found.kind == "edited" else found.kind
        return (kind, found.new[1], found.new[0])

    def file(self, path: str) -> tuple[Kind, str, str]:
        """What became of a whole file."""
        return ("unchanged" if path in self.move.new.modules else "lost", "", path)

    def rename(self, fence: Fence, targets: list[Target]) -> None:
        """Write the new names into the lines of the fence, where one can be what another was."""
        numbers = iter(range(fence.line, fence.end - 1))
        for old, new in zip(fence.targets, targets, strict=True):
            number = next(n for n in numbers if self.lines[n].split() == f"{old.path} {old.symbol}".split())
            if old != new:
                self.lines[number] = f"{new.path}  {new.symbol}".strip()

    def note(self, listing: Listing, note: Note, row: Locked, name: str, targets: list[Target]) -> None:
        path = targets[0].path
        if note.stale or row.pin != self.move.library.trees[self.move.project].pin.commit:
            self.rows.append(msgspec.structs.replace(row, listing=name, pending=row.pending or "edited"))
            why = f"nobody has read it since the bump from {row.pin[:7]}"
            found = Carried(row.pending or "edited", note.anchor.path, note.anchor.symbol, None)
            self.report(note, listing, found, why, self.rows[-1])
            return
        now = self.move.carrier.carry(row.anchor)
        why = "" if now.span is None or self.shows(targets, now) else "its listing does not show the place"
        if now.span is not None and now.kind in {"unchanged", "moved"} and not why:
            module = self.move.new.modules[now.path]
            fresh = anchors.anchor(module, now.span, row.anchor.first, row.anchor.last)
            reviewed = row.reviewed or row.pin
            self.rows.append(Locked(listing=name, pin=self.move.commit, anchor=fresh, reviewed=reviewed))
        else:
            kept = msgspec.structs.replace(row.anchor, path=path)
            pending: Kind = "lost" if why else now.kind
            self.rows.append(msgspec.structs.replace(row, listing=name, anchor=kept, pending=pending))
        self.report(note, listing, now, why, self.rows[-1])

    def shows(self, targets: list[Target], now: Carried) -> bool:
        """Whether one of the listing's pieces will hold the lines."""
        return now.span is not None and any(
            piece.contains(now.span) for target in targets for piece in self.pieces(target, now.path)
        )

    def pieces(self, target: Target, path: str) -> Iterator[Span]:
        if target.path != path or path not in self.move.new.modules:
            return
        parts = [part.strip() for part in target.symbol.split("…")] if target.symbol else []
        found = [self.move.new.symbols[path, part].owned for part in parts if (path, part) in self.move.new.symbols]
        if not parts:
            yield Span(1, len(self.move.new.modules[path].lines))
        elif len(found) == len(parts):
            yield from filter(None, [_from_to(found)])

    def fold(self, listing: Listing, fold: Fold, target: Target) -> None:
        """A fold of a symbol goes with that; one of quoted code with its code."""
        item = next(i for i in listing.fence.items if i.line == fold.line)
        name = item.first.split(" (")[0].replace(".", "")
        if listing.fence.kind == FOLDED and not item.last and name.isidentifier():
            self.named(listing, item, target)
            return
        code = anchors.anchor(listing.module, fold.span, item.first, item.last)
        self.report(Note(item, fold.span, code), listing, self.move.carrier.carry(code))

    def named(self, listing: Listing, item: Item, target: Target) -> None:
        """A fold or a role that names a symbol: its quote follows that, within the file that the fence will name.

        A fold names a selector. A role names a qualified name, and goes with the surest of the symbols that have it.
        """
        path = listing.module.path
        bearers = [role.symbol.selector for role in listing.roles if role.line == item.line] or [item.first]
        found = [(bearer, self.symbol((path, bearer))) for bearer in bearers]
        old, (kind, selector, new_path) = max(found, key=lambda pair: WORST_FIRST.index(pair[1][0]))
        if kind not in {"lost", "ambiguous"} and new_path == target.path:
            qualname = self.move.new.symbols[new_path, selector].qualname
            self.requote(item, qualname if listing.fence.kind == SOURCE else selector)
        self.drift("fold", item.line, kind, Target(path, old), Target(new_path, selector))

    def requote(self, item: Item, quote: str) -> None:
        if quote == item.first:
            return
        number = item.line - 1
        self.lines[number] = re.sub(r"`[^`]+`", lambda _: f"`{quote}`", self.lines[number], count=1)

    def drift(self, thing: Thing, line: int, kind: Kind, old: Target, now: Target) -> None:
        """Note what became of a listing's target or of a folded symbol."""
        first, _, last = (part.strip() for part in old.symbol.partition("…"))
        symbols = self.move.old.symbols
        spans = [symbols[old.path, s].owned for s in (first, last) if (old.path, s) in symbols]
        new = list(self.pieces(now, now.path)) if kind not in {"lost", "ambiguous"} else []
        found = self.move.matches.by_old.get((old.path, first))
        self.drifts.append(
            Drift(
                thing=thing,
                kind=kind,
                id="",
                page=self.bound.document.path,
                line=line,
                path=now.path,
                symbol=now.symbol,
                quote=old.symbol,
                old_path=old.path,
                old_symbol=old.symbol,
                old_lines=_from_to(spans) or Span(1, len(self.move.old.modules[old.path].lines)),
                lines=new[0] if new else None,
                candidates=tuple(f"{p}, {s}" for p, s in found.candidates) if found and not new else (),
            )
        )

    def report(self, note: Note, listing: Listing, now: Carried, why: str = "", row: Locked | None = None) -> None:
        """Note what became of a note, or of a fold of quoted code, which has no lock."""
        home = anchors.innermost(listing.module, note.span)
        self.drifts.append(
            Drift(
                thing="note" if row else "fold",
                kind=now.kind,
                id=note_id(self.bound.document.path, row) if row else "",
                page=self.bound.document.path,
                line=note.item.line,
                path=now.path,
                symbol=now.symbol,
                quote=note.item.quote,
                old_path=listing.module.path,
                old_symbol=home.selector if home else note.anchor.symbol,
                old_lines=note.span,
                lines=now.span,
                candidates=now.candidates,
                why=why,
            )
        )


def _from_to(spans: Sequence[Span]) -> Span | None:
    """From the first line of the first to the last of the last; None of none."""
    return Span(spans[0].first, spans[-1].last) if spans else None
