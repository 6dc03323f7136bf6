"""Names lead somewhere: in listings by what the code means, in prose by what a name can only be.

A link that is wrong is worse than none, so a name in prose is linked only where it names one thing: after the alias of
a public module, such as `pltpu.emit_pipeline`; as a symbol of a file that its page is about; or as one of all symbols
that the site shows or that Pallas makes public. A plain word, or one that some function has for a parameter, is none.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from markdown_it import MarkdownIt

from track.anchors.library import Library
from track.anchors.meanings import Definition, Meanings
from track.anchors.scopes import is_overload
from track.anchors.symbols import Module
from track.pages.document import Document
from track.pages.layout import Bound
from track.pages.places import Places, page_address, relative
from track.pages.prose import CODE
from track.pages.references import Linker
from track.pages.signatures import signature, summary

__all__ = ["DOORS", "Card", "Names", "script"]

type Card = tuple[str, str]
"""What a definition is: its signature, and its first sentence."""

DOORS = {
    "pl": "jax.experimental.pallas",
    "pltpu": "jax.experimental.pallas.tpu",
    "plgpu": "jax.experimental.pallas.mosaic_gpu",
    "plsc": "jax.experimental.pallas.tpu_sc",
    "pltriton": "jax.experimental.pallas.triton",
}
"""Public modules, by the names that kernels import them under."""

_NAME = re.compile(r"`(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\))?`")
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\](?=[(\[])|<a\b.*?</a>", re.DOTALL)
_PARSER = MarkdownIt("commonmark").enable("table")
_UNTOUCHED = frozenset({"fence", "code_block", "html_block", "heading_open"})


@dataclasses.dataclass(frozen=True)
class Names:
    """Every name of the pinned files, and the pages that tell of them."""

    library: Library
    meanings: Meanings
    places: Places
    used: dict[str, Definition] = dataclasses.field(default_factory=dict[str, Definition])
    """What the links that were given out lead to, by address, since `taken` was last asked."""
    _in_code: dict[str, Mapping[tuple[int, str], Definition]] = dataclasses.field(
        default_factory=dict[str, Mapping[tuple[int, str], Definition]], repr=False, compare=False
    )
    """What the names of a file mean, which takes a while to find, once for all its listings."""

    @staticmethod
    def of_pages(library: Library, pages: Iterable[Bound]) -> Names:
        """The names, for pages in reading order."""
        return Names(library, Meanings(library), Places.of_pages(library, pages))

    def linker(self, path: str, page: str) -> Linker:
        """The addresses of the names in a file, for a listing on `page`."""
        if path not in self._in_code:
            self._in_code[path] = self.meanings.in_code(path)
        known, here = self._in_code[path], page_address(page)

        def link(name: str, line: int) -> str | None:
            definition = known.get((line, name))
            return relative(self.address(definition), here) if definition else None

        return link

    def linked(self, text: str, document: Document) -> str:
        """Markdown in which each name that leads somewhere does so where it is met first."""
        page, files, seen = page_address(document.path), _files_of(document), set[str]()

        def link(found: re.Match[str]) -> str:
            name = _NAME.fullmatch(found[0])
            definition = self.in_prose(name["name"], files) if name and found[0] not in seen else None
            if definition is None:
                return found[0]
            seen.add(found[0])
            address = html.escape(relative(self.address(definition), page))
            return f'<a class="name" href="{address}" tabindex="-1"><code>{html.escape(found[0][1:-1])}</code></a>'

        return _outside_links(text, link)

    def in_prose(self, name: str, files: Iterable[str]) -> Definition | None:
        """What a name in prose means on a page about `files`; None where it may mean two things, or nothing."""
        head, _, rest = name.partition(".")
        if head in DOORS:
            return self.meanings.dotted(f"{DOORS[head]}.{rest}") if rest else None
        if name.startswith(("jax.", "tokamax.")):
            return self.meanings.dotted(name)
        return next((found for path in files if (found := self._index(path).get(name))), self._anywhere.get(name))

    def public(self) -> frozenset[Definition]:
        """What the public modules pass on."""
        return frozenset(found for module in DOORS.values() for found in self.meanings.exported(module).values())

    def taken(self) -> dict[str, Card]:
        """The cards of what was given out since this was last asked, by address."""
        cards = {address: self._card(definition) for address, definition in self.used.items()}
        self.used.clear()
        return cards

    def _card(self, definition: Definition) -> Card:
        module = self.library.module(definition.path)
        if definition.symbol is None:
            return definition.path, " ".join((ast.get_docstring(module.tree) or "").partition("\n\n")[0].split())
        return signature(module, definition.symbol), summary(definition.symbol)

    def address(self, definition: Definition) -> str:
        """Where a definition is told of, counted from the site's root; its card is among those `taken` next."""
        address = self.places.of(definition)
        self.used[address] = definition
        return address

    @functools.cached_property
    def _anywhere(self) -> Mapping[str, Definition]:
        """Names that mean one thing in all files that the site shows, and in the public modules."""
        indexes = [self._index(path) for path in self.places.files()]
        public = [self.meanings.exported(module) for module in DOORS.values()]
        plain = frozenset[str]().union(*(_plain(self.library.module(path)) for path in self.places.files()))
        found: dict[str, Definition | None] = {}
        for name, definition in (item for table in (*indexes, *public) for item in table.items()):
            found[name] = definition if found.get(name, definition) == definition else None
        return {n: d for n, d in found.items() if d and _is_telling(n) and n not in plain}

    def _index(self, path: str) -> Mapping[str, Definition]:
        """The names of a file that mean one symbol of it, by qualified name or by its last part."""
        return _index(self.library.module(path))


def script(cards: Mapping[str, Card]) -> bytes:
    """A script that holds, for every address that a name leads to, its signature and what it is."""
    text = json.dumps(dict(sorted(cards.items())), ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f"window.trackNames={text};\n".encode()


@functools.lru_cache(maxsize=128)
def _index(module: Module) -> Mapping[str, Definition]:
    found: dict[str, Definition | None] = {}
    inside = {symbol.qualname for symbol in module.symbols if symbol.kind == "function"}
    for symbol in (s for s in module.symbols if not is_overload(s.node)):
        definition = Definition(module.path, symbol)
        for name in {symbol.qualname, symbol.name}:
            found[name] = None if name in found or symbol.parent in inside else definition
    plain = _plain(module)
    return {n: d for n, d in found.items() if d and ("." in n or (_is_telling(n) and n not in plain))}


@functools.lru_cache(maxsize=128)
def _plain(module: Module) -> frozenset[str]:
    """What a file calls its parameters and fields: in prose such a name may mean any of them."""
    parameters = {node.arg for node in ast.walk(module.tree) if isinstance(node, ast.arg)}
    return frozenset(parameters | {s.name for s in module.symbols if s.kind == "name" and s.parent})


def _is_telling(name: str) -> bool:
    """Whether a name is no plain word: it has a dot, an underscore or a capital."""
    return name != name.lower() or "_" in name or "." in name


def _files_of(document: Document) -> list[str]:
    """The files that a page is about, the one of its front matter first."""
    named = [target.path for fence in document.fences for target in fence.targets]
    return list(dict.fromkeys([*filter(None, [document.front.get("file")]), *named]))


def _outside_links(text: str, replace: Callable[[re.Match[str]], str]) -> str:
    """Replace code spans, but for those in headings, links, HTML and blocks of code."""
    kept = [*_untouched(text), *(range(*found.span()) for found in _LINK.finditer(text))]
    return CODE.sub(lambda span: span[0] if any(span.start() in part for part in kept) else replace(span), text)


def _untouched(text: str) -> Iterator[range]:
    """Where blocks stand that no link belongs into, in characters."""
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n"), len(text)]
    for token in _PARSER.parse(text):
        if token.type in _UNTOUCHED and token.map:
            yield range(starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)])
