"""What a search finds besides prose: symbols, notes, and what compilers and interpreters said.

Material's plugin indexes what stands under headings, and listings are kept out of that. So weaving writes what it
knows of them into a file of its own, and when MkDocs is done the two become one index: a section each, with the title
that a reader would type.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from track.anchors.meanings import Definition
from track.errors import Finding
from track.evidence import Evidence, Record
from track.files import write_if_changed
from track.pages import sources
from track.pages.layout import Bound
from track.pages.names import Names
from track.pages.places import page_address
from track.pages.signatures import signature, summary

__all__ = ["FOUND", "LISTED", "Entry", "complete", "entries", "merged", "note", "verdict_id"]

FOUND = "build/search.json"
"""What weaving knows, below the checkout."""

INDEX = "search/search_index.json"
"""Material's index, below the site."""

LONGEST = 1500
"""Characters of an error that are searched."""

TITLE = 160
"""Characters of an error that head its section."""

ERROR, ANNOTATED, PUBLIC, LISTED = 4.0, 2.0, 1.5, 0.5
"""Weights of an error, of a symbol that is annotated, of one that is public, and of pages that list what is public."""


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A section of the index, in Material's own form: title and text are HTML."""

    location: str
    title: str
    text: str
    boost: float = 1.0


def entries(pages: Sequence[Bound], names: Names, evidence: Evidence) -> Iterator[Entry]:
    """What can be told without drawing anything: symbols and errors."""
    yield from _symbols(pages, names)
    for bound in pages:
        page = page_address(bound.document.path)
        for fence in bound.document.fences:
            if fence.kind == "verdicts" and "search" not in fence.options:
                yield from _errors(page, fence.options["topics"], evidence)


def note(page: str, line: int, symbol: str, body: str) -> Entry:
    """A note, whose text is HTML, under the symbol that it speaks of."""
    return _entry(f"{page_address(page)}#L{line}", symbol or "module level", _plain(body))


def complete(root: Path, site: Path) -> None:
    """Put what weaving knows into the index that Material has made, if there is one."""
    index = site / INDEX
    if not index.is_file():
        return
    found = msgspec.json.decode((root / FOUND).read_bytes(), type=list[Entry])
    write_if_changed(index, json.dumps(merged(json.loads(index.read_bytes()), found), separators=(",", ":")))


def merged(index: Mapping[str, Any], found: Iterable[Entry]) -> dict[str, Any]:
    """An index with these entries too, in place of sections of their names; no two sections have one address."""
    docs: dict[str, dict[str, Any]] = {doc["location"]: doc for doc in index["docs"]}
    ours: dict[str, dict[str, Any]] = {}
    for entry in found:
        page = entry.location.partition("#")[0]
        if page not in docs:
            raise Finding("a search entry for a page that is not indexed", {"page": page, "entry": entry.title})
        known = ours.get(entry.location)
        ours[entry.location] = {
            **msgspec.to_builtins(entry),
            **({"text": f"{known['text']} {entry.text}"} if known else {}),
        }
    return {**index, "docs": [*({**docs, **ours}).values()]}


def verdict_id(record: Record) -> str:
    """The id of a verdict's cell in a table of verdicts."""
    return f"verdict-{record.kernel}-{record.lane}-{record.target}".strip("-")


def _symbols(pages: Sequence[Bound], names: Names) -> Iterator[Entry]:
    """The symbols of every file that pages show, each with its signature and what it is for."""
    listings = [listing for bound in pages for listing in bound.listings]
    told = {(found.module.path, role.symbol.selector): role.text for found in listings for role in found.roles}
    public = names.public()
    for path in names.places.files():
        module = names.library.module(path)
        for symbol in sources.spoken(module):
            definition = Definition(path, symbol)
            address = names.places.of(definition)
            if "://" not in address:
                said = told.get((path, symbol.selector)) or summary(symbol)
                read = 1.0 if address.startswith(f"{names.places.whole.get(path)}#") else ANNOTATED
                weight = read * (PUBLIC if definition in public else 1.0)
                yield _entry(address, symbol.qualname, f"{signature(module, symbol)} {said}", weight)


def _errors(page: str, topics: str, evidence: Evidence) -> Iterator[Entry]:
    """What was said when a kernel of some topics was refused or failed, once for each text."""
    wanted = {topic.strip() for topic in topics.split(",")}
    texts: dict[tuple[str, str], Record] = {}
    for record in evidence.records.values():
        if record.topic in wanted and record.lane and record.error:
            texts.setdefault((record.kernel, record.error), record)
    for (kernel, error), record in texts.items():
        listed = evidence.kernels.get(kernel)
        said = f"{error[:LONGEST]} {kernel} {listed.mistake if listed else ''}"
        yield _entry(f"{page}#{verdict_id(record)}", error.strip().split("\n")[0][:TITLE], said, ERROR)


def _plain(markup: str) -> str:
    """The words of some HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def _entry(location: str, title: str, text: str, boost: float = 1.0) -> Entry:
    return Entry(location, html.escape(title, quote=False), html.escape(text, quote=False), boost)
