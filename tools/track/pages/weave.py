"""Weaving: a page as a person wrote it becomes a page that MkDocs and Zensical build."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

from track.anchors.library import Library
from track.anchors.symbols import Module
from track.errors import TrackError, raise_all
from track.facts.catalog import Fact
from track.pages import drafts, search
from track.pages import listing as listings
from track.pages.context import Context
from track.pages.directives import DIRECTIVES
from track.pages.document import BOUND, Document, Fence, read
from track.pages.ids import Ids, of_headings
from track.pages.layout import Bound, Fold, Listing, Lost, Note, bind
from track.pages.locks import Lock, Locked
from track.pages.notes import renderer
from track.pages.prose import fill
from track.pages.sources import Role, outline, plain

__all__ = ["locked", "open_page", "read_page", "weave"]


def read_page(name: str, text: str) -> Document:
    """A page, such as `docs/index.md`, with the fences that are ours."""
    return read(name, text, frozenset(DIRECTIVES))


def open_page(path: Path, docs: Path, library: Library, lock: Lock, *, draft: bool = False) -> Bound:
    """Read a page and bind its listings to the pinned sources."""
    document = read_page(f"docs/{path.relative_to(docs).as_posix()}", path.read_text("utf-8"))
    return bind(document, library.module, lock, draft=draft)


def locked(bound: Bound, lock: Lock, library: Library) -> list[Locked]:
    """The notes of a page as its lock should hold them: a note seen before keeps the pin that it was reviewed at."""
    rows: list[Locked] = []
    for listing in bound.listings:
        commit = library.tree(listing.module.path).pin.commit
        for note in listing.notes:
            anchor = note.anchor
            known = lock.get(listing.name, anchor.path, anchor.first, anchor.last)
            rows.append(known or Locked(listing=listing.name, pin=commit, anchor=anchor))
    return rows


def weave(bound: Bound, context: Context) -> str:
    """The finished Markdown of a page."""
    listings_ = {listing.fence.line: listing for listing in bound.listings}
    render = renderer(context.root, bound.document.path)
    lost = {one.fence.line: one for one in bound.lost}
    ids = Ids(of_headings(bound.document.lines))
    return _Weaver(bound.document, listings_, lost, context, render, ids).page()


@dataclasses.dataclass(eq=False)
class _Weaver:
    document: Document
    listings: Mapping[int, Listing]
    lost: Mapping[int, Lost]
    context: Context
    render: Callable[[str, str], str]
    ids: Ids
    headed: set[str] = dataclasses.field(default_factory=set[str])

    def page(self) -> str:
        parts: list[str] = []
        errors: list[TrackError] = []
        line = self.document.body
        for fence in [*self.document.fences, None]:
            until = fence.line - 1 if fence else len(self.document.lines)
            for make in (lambda a=line, b=until: self.prose(a, b), lambda f=fence: self.fence(f) if f else ""):
                try:
                    parts.append(make())
                except TrackError as error:
                    errors.extend(getattr(error, "errors", [error]))
                    parts.append(drafts.box("This part cannot be made at the new pin.", error))
            line = fence.end - 1 if fence else until
        if not self.context.stamp:
            raise_all(errors)
        return self.front() + "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"

    def front(self) -> str:
        """Front matter that MkDocs knows."""
        kept = {k: v for k, v in self.document.front.items() if k != "file"}
        rows = "".join(f"{key}: {self.filled(value, 1)}\n" for key, value in kept.items())
        if "file" in self.document.front:
            rows += "hide:\n  - navigation\n"  # a page of source takes the whole width
        if any(fence.kind == "api" for fence in self.document.fences):
            rows += f"search:\n  boost: {search.LISTED}\n"
        return f"---\n{rows}---\n\n" if rows else ""

    def prose(self, first: int, end: int) -> str:
        return self.named(self.filled("\n".join(self.document.lines[first:end]), first + 1))

    def filled(self, text: str, line: int) -> str:
        """Facts and formulas of a text that begins at `line` of the page."""
        facts: Mapping[str, Fact] = self.context.facts
        return fill(text, facts, lambda number: self.document.at(line + number))

    def named(self, text: str) -> str:
        """Markdown whose names lead somewhere."""
        return self.context.names.linked(text, self.document) if self.context.names else text

    def fence(self, fence: Fence) -> str:
        if fence.line in self.lost:
            return drafts.lost(self.lost[fence.line], self.rendered)
        if fence.kind not in BOUND:
            return DIRECTIVES[fence.kind](fence, self.context.on(self.document))
        found = self.texts(self.listings[fence.line])
        path, names = found.module.path, self.context.names
        tree = self.context.library.tree(path)
        header = "" if path in self.headed else listings.render_header(found, tree)
        self.headed.add(path)
        symbols = outline(found.roles, self.role) if found.roles else ""
        link = names.linker(path, self.document.path) if names else None
        return "\n\n".join(filter(None, [header, symbols, listings.render(found, tree, self.ids, link)]))

    def role(self, role: Role) -> str:
        """A role as HTML within a line."""
        if role.origin != "page":
            return plain(role.text)
        return self.rendered(role.text, role.line).removeprefix("<p>").removesuffix("</p>")

    def texts(self, listing: Listing) -> Listing:
        """The listing with facts and formulas in its notes and roles."""
        return dataclasses.replace(
            listing,
            notes=tuple(self.note(note, listing.module) for note in listing.notes),
            folds=tuple(self.fold(fold) for fold in listing.folds),
        )

    def note(self, note: Note, module: Module) -> Note:
        stamp = self.context.stamp(note.stale, module) if note.stale and self.context.stamp else ""
        body = self.render(self.named(self.filled(note.item.body, note.item.line)), self.document.at(note.item.line))
        self.context.found.append(search.note(self.document.path, note.span.first, note.anchor.symbol, body))
        return dataclasses.replace(note, item=dataclasses.replace(note.item, body=stamp + body))

    def fold(self, fold: Fold) -> Fold:
        """A role stays free of links: it may stand in what opens the fold."""
        if fold.line:
            return dataclasses.replace(fold, role=self.rendered(fold.role, fold.line))
        return dataclasses.replace(fold, role=f"<p>{plain(fold.role)}</p>" if fold.role else "")

    def rendered(self, text: str, line: int) -> str:
        """Markdown of a note or a role as HTML."""
        return self.render(self.filled(text, line), self.document.at(line))
