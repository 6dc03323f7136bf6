"""Weaving no page twice: what was woven is kept, and taken again while all that it was woven from is the same.

A page is woven from its text and the anchors of its notes, from what all pages share, and from where the others tell of
names. So a change of one page's prose weaves that page alone, and one of the tool or a kernel weaves every page.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator

import msgspec

from track.files import digest
from track.pages import path
from track.pages.address import address
from track.pages.context import Context
from track.pages.kept import Kept
from track.pages.layout import Bound
from track.pages.names import Card, Names
from track.pages.search import Entry
from track.pages.weave import weave

__all__ = ["FOLDER", "Woven", "weaver"]

FOLDER = "build/kept/woven"


class Woven(msgspec.Struct, frozen=True):
    """A page as it is woven, and what it adds to the site: files, sections of the index, cards of names by address."""

    text: str
    files: dict[str, bytes]
    found: list[Entry]
    cards: dict[str, Card]


def weaver(context: Context, names: Names, shared: Iterable[str | bytes]) -> Callable[[Bound], Woven]:
    """A function that weaves a page, or has it from an earlier build; `shared` are the inputs that all pages have.

    A draft keeps nothing.
    """
    naming = dataclasses.replace(context, names=names)
    kept = Kept(context.root / FOLDER, Woven)
    common = "" if context.stamp else digest(*shared, *_known(context, names))

    def woven(bound: Bound) -> Woven:
        page = bound.document.path
        if not common:
            return _woven(bound, naming, names)
        text = (context.root / page).read_bytes()
        notes = repr([(note.anchor, note.span) for listing in bound.listings for note in listing.notes])
        track = any(fence.kind == "track" for fence in bound.document.fences)
        key = digest(common, page, text, notes, repr(path.times(context)) if track else "")
        made = kept.get(page, key)
        if made is None:
            made = _woven(bound, naming, names)
            kept.put(page, key, made)
        return made

    return woven


def _woven(bound: Bound, context: Context, names: Names) -> Woven:
    alone = dataclasses.replace(context, files={}, found=[])
    text = weave(bound, alone)
    return Woven(text, alone.files, alone.found, names.taken())


def _known(context: Context, names: Names) -> Iterator[str | bytes]:
    """What is known of sources, kernels and facts, and where pages tell of names: in the order in which it is asked."""
    evidence, places = context.evidence, names.places
    yield repr([tree.pin for tree in context.library.trees.values()])
    yield repr(sorted(address(context.root).items()))
    yield msgspec.msgpack.encode([evidence.records, evidence.tables, evidence.grids, evidence.work, evidence.chips])
    yield msgspec.msgpack.encode([evidence.kernels, context.facts])
    yield repr([list(table.items()) for table in (places.noted, places.shown, places.whole, places.folded)])
