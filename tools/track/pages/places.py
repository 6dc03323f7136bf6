"""Where the site speaks of a definition: an annotated page, else a source page, else the repository."""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Iterable, Iterator

from track.anchors.library import Library
from track.anchors.meanings import Definition
from track.anchors.symbols import Symbol
from track.pages.document import FOLDED, SOURCE
from track.pages.ids import of_symbol
from track.pages.layout import Bound, Listing

__all__ = ["Places", "page_address", "relative"]


@dataclasses.dataclass
class Places:
    """For every file that pages show, the page of each symbol; the first page wins where two do the same for it."""

    library: Library
    noted: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict[tuple[str, str], str])
    shown: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict[tuple[str, str], str])
    whole: dict[str, str] = dataclasses.field(default_factory=dict[str, str])
    folded: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict[tuple[str, str], str])

    @staticmethod
    def of_pages(library: Library, pages: Iterable[Bound]) -> Places:
        """What these pages show, in reading order."""
        places = Places(library)
        for bound in pages:
            for listing in bound.listings:
                places.add(listing, page_address(bound.document.path))
        return places

    def add(self, listing: Listing, page: str) -> None:
        """Take in what one listing of a page shows."""
        path = listing.module.path
        if listing.fence.kind == SOURCE:
            self.whole.setdefault(path, page)
            return
        noted = {note.anchor.symbol for note in listing.notes}
        for symbol, is_folded in _symbols_of(listing):
            key = (path, symbol.selector)
            for table, fits in ((self.folded, is_folded), (self.shown, not is_folded), (self.noted, key[1] in noted)):
                if fits:
                    table.setdefault(key, page)

    def of(self, definition: Definition) -> str:
        """The address of a definition, counted from the site's root where it is on the site."""
        path, symbol = definition.path, definition.symbol
        if symbol is None:
            return self.of_file(path)
        key = (path, symbol.selector)
        page = self.noted.get(key) or self.shown.get(key) or self.whole.get(path) or self.folded.get(key)
        return f"{page}#{of_symbol(symbol)}" if page else self.library.tree(path).permalink(path, symbol.span)

    def of_file(self, path: str) -> str:
        """The page that shows a file whole or, failing that, most likely tells of it; else the file's permalink."""
        told = next((page for (file, _), page in self.noted.items() if file == path), None)
        return told or self.whole.get(path) or self.library.tree(path).permalink(path)

    def files(self) -> list[str]:
        """The files that pages show, sorted."""
        return sorted({*self.whole, *(path for path, _ in (*self.shown, *self.folded))})


def page_address(document: str) -> str:
    """`docs/tpu/pipeline.md`, or `tpu/pipeline.md` for short, is `tpu/pipeline.html` on the site."""
    return document.removeprefix("docs/").removesuffix(".md") + ".html"


def relative(address: str, page: str) -> str:
    """An address as a link on `page` has it."""
    if "://" in address:
        return address
    target, hash_, fragment = address.partition("#")
    here = "" if target == page else posixpath.relpath(target, posixpath.dirname(page) or ".")
    return here + hash_ + fragment


def _symbols_of(listing: Listing) -> Iterator[tuple[Symbol, bool]]:
    """The symbols that begin in a listing, and whether a fold hides them."""
    for symbol in listing.module.symbols:
        if any(symbol.span.first in piece.lines for piece in listing.pieces):
            hidden = any(symbol.span.first in fold.span.lines for fold in listing.folds)
            yield symbol, hidden or listing.fence.kind == FOLDED
