"""Binding a page to its source: the lines that each listing shows, each note speaks of and each fold hides."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from track.anchors import anchor as anchors
from track.anchors import symbols
from track.anchors.anchor import Anchor
from track.anchors.symbols import Module, Symbol
from track.errors import BadInput, Finding, TrackError, raise_all
from track.pages import sources
from track.pages.document import BOUND, FOLDED, SOURCE, Document, Fence, Item, Target
from track.pages.locks import Lock, Locked, note_id
from track.pages.sources import Role
from track.spans import Span

__all__ = ["Bound", "Fold", "Listing", "Lost", "Note", "bind"]


@dataclasses.dataclass(frozen=True)
class Note:
    """A note, the symbol it stands in and the lines it speaks of.

    `stale` is its lock where the code is no longer what was reviewed, in a draft; `span` is then the best guess.
    """

    item: Item
    span: Span
    anchor: Anchor
    stale: Locked | None = None


@dataclasses.dataclass(frozen=True)
class Fold:
    """Lines that the page hides, and why. `line` is the page's, 0 for a docstring that an option folds."""

    span: Span
    role: str
    label: str
    line: int


@dataclasses.dataclass(frozen=True)
class Listing:
    """Lines of one file that a page shows, in pieces; folds lie inside pieces, or are the whole piece."""

    fence: Fence
    module: Module
    titles: tuple[str, ...]
    pieces: tuple[Span, ...]
    notes: tuple[Note, ...]
    folds: tuple[Fold, ...]
    roles: tuple[Role, ...] = ()
    """Where the whole file is shown, what each symbol of it is for; its folds are the symbols' bodies."""

    @property
    def name(self) -> str:
        """What the lock calls it."""
        return ", ".join(self.titles)


@dataclasses.dataclass(frozen=True)
class Lost:
    """A listing of a draft that cannot be shown, and why."""

    fence: Fence
    error: TrackError


@dataclasses.dataclass(frozen=True)
class Bound:
    """A page with every listing bound to source lines; a draft may have lost some, and says what else is wrong."""

    document: Document
    listings: tuple[Listing, ...]
    lost: tuple[Lost, ...] = ()
    problems: tuple[TrackError, ...] = ()


def bind(document: Document, module_of: Callable[[str], Module], lock: Lock, *, draft: bool = False) -> Bound:
    """Bind every listing of a page; `module_of` gives a pinned file by its path. All errors are raised together.

    In a draft they are part of the result, and notes whose code changed stand where it was or may be.
    """
    errors: list[TrackError] = []
    listings: list[Listing] = []
    lost: list[Lost] = []
    for fence in document.fences:
        if fence.kind in BOUND:
            try:
                binder = _Binder(document, fence, _one_module(document, fence, module_of), lock, draft)
                listings.append(binder.bind())
                errors.extend(binder.problems)
            except TrackError as error:
                errors.extend(getattr(error, "errors", [error]))
                lost.append(Lost(fence, error))
    errors.extend(_shown_twice(document, listings))
    errors.extend(_same_roles(document, [fold for listing in listings if not listing.roles for fold in listing.folds]))
    if not draft:
        raise_all(errors)
    return Bound(document, tuple(listings), tuple(lost), tuple(errors))


def _one_module(document: Document, fence: Fence, module_of: Callable[[str], Module]) -> Module:
    paths = {target.path for target in fence.targets}
    if len(paths) != 1:
        raise BadInput(
            "one listing shows one file",
            {"page": document.at(fence.line), "found": ", ".join(sorted(paths))},
            "write a second fence for the second file",
        )
    try:
        return module_of(paths.pop())
    except TrackError as error:
        raise type(error)(error.what, {"page": document.at(fence.line), **error.details}, error.next_step) from error


@dataclasses.dataclass(frozen=True)
class _Binder:
    """Binds one fence."""

    document: Document
    fence: Fence
    module: Module
    lock: Lock
    draft: bool
    problems: list[TrackError] = dataclasses.field(default_factory=list[TrackError])
    """What a draft leaves out."""

    def bind(self) -> Listing:
        if self.fence.kind == SOURCE:
            return self.whole()
        if self.fence.kind == FOLDED:
            folds = self.each(self.folded)
            return self.listing((), tuple(f.span for f in folds), (), folds)
        titles = tuple(target.symbol for target in self.fence.targets)
        pieces = tuple(self.piece(target) for target in self.fence.targets)
        notes = self.each(lambda item: self.note(item, ", ".join(titles), pieces), kind="note")
        folds = self.each(lambda item: Fold(self.quoted(item, pieces), item.body, item.quote, item.line), kind="fold")
        folds = [*folds, *self.docstrings(pieces, folds)]
        self.raise_all(list(self.hidden(notes, folds)))
        return self.listing(titles, pieces, notes, folds)

    def whole(self) -> Listing:
        """The whole file, each symbol folded."""
        if any(target.symbol for target in self.fence.targets):
            details = {"page": self.document.at(self.fence.line), "expected": self.module.path}
            raise BadInput("a source that names a symbol", details, "a source shows a whole file: name that alone")
        found, errors = sources.roles(self.document, self.fence, self.module)
        self.raise_all(errors)
        bodies = sources.bodies(found, self.module)
        folds = [Fold(span, role.text, role.symbol.qualname, role.line) for span, role in bodies]
        whole = self.listing(("",), (Span(1, len(self.module.lines)),), (), folds)
        return dataclasses.replace(whole, roles=found)

    def listing(
        self, titles: Sequence[str], pieces: Sequence[Span], notes: Sequence[Note], folds: Sequence[Fold]
    ) -> Listing:
        notes_, folds_ = sorted(notes, key=lambda n: n.span), sorted(folds, key=lambda f: f.span)
        return Listing(self.fence, self.module, tuple(titles), tuple(pieces), tuple(notes_), tuple(folds_))

    def each[T](self, make: Callable[[Item], T], kind: str | None = None) -> list[T]:
        """Make something of every item of a kind; raise all that went wrong together."""
        errors: list[TrackError] = []
        made: list[T] = []
        for item in self.fence.items:
            if kind in {None, item.kind}:
                try:
                    made.append(make(item))
                except TrackError as error:
                    errors.append(error)
        self.raise_all(errors)
        return made

    def raise_all(self, errors: Sequence[TrackError]) -> None:
        """Raise the errors, or keep them, in a draft."""
        if not self.draft:
            raise_all(errors)
        self.problems.extend(errors)

    def symbol(self, selector: str, line: int | None = None) -> Symbol:
        try:
            return symbols.find(self.module, selector)
        except BadInput as error:
            place = self.document.at(line or self.fence.line)
            raise BadInput(error.what, {"page": place, **error.details}, error.next_step) from error

    def piece(self, target: Target) -> Span:
        """The lines of a symbol, of everything from one symbol to another, or of the whole file."""
        if not target.symbol:
            return Span(1, len(self.module.lines))
        first, _, last = (part.strip() for part in target.symbol.partition("…"))
        symbol = self.symbol(first)
        if last:
            return self.stretch(symbol, self.symbol(last))
        if self.fence.options.get("only") == "head":
            return Span(symbol.lead, _head_end(self.module, symbol))
        return symbol.owned

    def stretch(self, first: Symbol, last: Symbol) -> Span:
        """From the first line of one symbol to the last line of a later one."""
        if first.owned.first > last.owned.first:
            details = {"page": self.document.at(self.fence.line), "found": f"{first.selector} … {last.selector}"}
            raise BadInput(f"{last.selector} stands before {first.selector}", details, "name them in the file's order")
        return Span(first.owned.first, last.owned.last)

    def note(self, item: Item, listing: str, pieces: Sequence[Span]) -> Note:
        known = self.lock.get(listing, self.module.path, item.first, item.last)
        if known is None:
            span = self.quoted(item, pieces)
            return Note(item, span, anchors.anchor(self.module, span, item.first, item.last))
        now = anchors.resolve(known.anchor, self.module)
        shown = now.span is not None and any(piece.contains(now.span) for piece in pieces)
        if now.kind == "unchanged" and now.span is not None and shown and not known.pending:
            return Note(item, now.span, known.anchor)
        if self.draft:
            head = Span(pieces[0].first, pieces[0].first)
            return Note(item, now.span if now.span is not None and shown else head, known.anchor, known)
        if now.kind == "unchanged" and not shown:
            details = {"page": self.document.at(item.line), "code": f"{self.module.path}, lines {now.span}"}
            raise BadInput("a note on code that its listing does not show", {**details, "quote": item.quote})
        raise self.drifted(item, known, now)

    def quoted(self, item: Item, pieces: Sequence[Span]) -> Span:
        """The one place in the pieces that the item's quote names."""
        found = [span for piece in pieces for span in anchors.quoted(self.module, piece, item.first, item.last)]
        if len(found) == 1:
            return found[0]
        details = {"page": self.document.at(item.line), "code": self.module.path, "quote": item.quote}
        if found:
            places = "\n".join(f"line {span}: {self.module.lines[span.first - 1].strip()}" for span in found)
            raise BadInput(
                "a quote that matches more than once", {**details, "found": places}, "quote more of the code"
            )
        near = [line for piece in pieces for line in anchors.nearest(self.module, item.first, piece)][:3]
        closest = "\n".join(near) or "nothing alike"
        raise Finding("a quote that is not in its code", {**details, "closest": closest}, "quote the code as it is")

    def drifted(self, item: Item, known: Locked, now: anchors.Resolution) -> Finding:
        place = f"line {now.span}, in {now.symbol or 'the module'}" if now.span else "nothing alike"
        page = self.document.path
        way_on = f": track drift show {note_id(page, known)}" if known.pending else f", then: track lock {page}"
        return Finding(
            f"a note no longer matches its code: {known.pending or now.kind}",
            {
                "page": self.document.at(item.line),
                "code": f"{self.module.path}, in {known.anchor.symbol or 'the module'}",
                "pin": f"written for commit {known.pin[:7]}",
                "quote": item.quote,
                "found": "\n".join(now.candidates) or place,
            },
            f"read it against the code{way_on}",
        )

    def hidden(self, notes: Sequence[Note], folds: Sequence[Fold]) -> Iterator[TrackError]:
        """Notes that would stand inside a fold, where no reader sees them."""
        for note in (note for note in notes if not note.stale):
            fold = next((f for f in folds if note.span.first in f.span.lines), None)
            if fold:
                place = {"page": self.document.at(note.item.line), "code": f"{self.module.path}, lines {note.span}"}
                found = f"`{fold.label}`, lines {fold.span}, which are folded"
                step = "take out the note or the fold"
                yield BadInput("a note on folded lines", {**place, "quote": note.item.quote, "found": found}, step)

    def docstrings(self, pieces: Sequence[Span], folds: Sequence[Fold]) -> Iterator[Fold]:
        if self.fence.options.get("fold") != "docstrings":
            return
        for symbol in self.module.symbols:
            doc = symbol.docstring
            inside = any(fold.span.overlaps(doc) for fold in folds) if doc else False
            if doc and doc.length > 1 and not inside and any(piece.contains(doc) for piece in pieces):
                yield Fold(doc, "", symbol.selector, 0)

    def folded(self, item: Item) -> Fold:
        """A fold of a whole symbol, or of the module-level code that a quote names."""
        name = item.first.split(" (")[0].replace(".", "")
        if not item.last and name.isidentifier():
            return Fold(self.symbol(item.first, item.line).owned, item.body, item.quote, item.line)
        span = self.quoted(item, [Span(1, len(self.module.lines))])
        return Fold(Span(self.module.lead_of(span.first), span.last), item.body, item.quote, item.line)


def _head_end(module: Module, symbol: Symbol) -> int:
    """Last line before the first method of a class."""
    inner = [
        s for s in module.symbols if s.kind != "name" and s.parent == symbol.qualname and symbol.span.contains(s.span)
    ]
    last = (inner[0].lead if inner else symbol.span.last + 1) - 1
    while not module.lines[last - 1].strip():
        last -= 1
    return last


def _same_roles(document: Document, folds: Sequence[Fold]) -> Iterator[TrackError]:
    seen: dict[str, Fold] = {}
    for fold in (fold for fold in folds if fold.role):
        role = " ".join(fold.role.split()).casefold()
        if role in seen:
            yield BadInput(
                "two folds with one reason",
                {"page": document.at(fold.line), "found": f"`{seen[role].label}` and `{fold.label}`: {fold.role}"},
                "say of each symbol what it is for",
            )
        seen[role] = fold


def _shown_twice(document: Document, listings: Sequence[Listing]) -> Iterator[TrackError]:
    taken: dict[tuple[str, int], Fence] = {}
    for listing in listings:
        path = listing.module.path
        twice: list[int] = []
        for line in (line for piece in listing.pieces for line in piece.lines):
            if (path, line) in taken:
                twice.append(line)
            taken.setdefault((path, line), listing.fence)
        if twice:
            first = taken[path, twice[0]]
            yield BadInput(
                "lines shown twice on one page",
                {
                    "page": document.at(listing.fence.line),
                    "code": f"{path}, lines {Span(min(twice), max(twice))}",
                    "found": f"also shown by the {first.kind} at {document.at(first.line)}",
                },
                "take the symbol out of one of them",
            )
