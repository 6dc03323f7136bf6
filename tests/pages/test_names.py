"""Names in prose and in listings lead to where the site speaks of them, and nowhere if they may mean two things."""

from __future__ import annotations

import json

import pytest

from tests.pages.helpers import KINDS, dom, library, pinned
from track.anchors import symbols
from track.anchors.meanings import Definition
from track.anchors.symbols import find
from track.pages.context import Context
from track.pages.document import Document, read
from track.pages.layout import Bound, bind
from track.pages.locks import Lock
from track.pages.names import Names, script
from track.pages.places import relative
from track.pages.signatures import first_sentence, signature
from track.pages.weave import weave

CORE = '''\
"""The words."""

LIMIT = 3


class Spec:
    """A spec.

    More of it.
    """

    size: int = 0

    def to_mapping(  # of a block
        self, grid: int,
        *, debug=False,
    ) -> int:
        """Maps, e.g. A block. Not more."""
        return grid

    def step(self):
        return 1


def get_grid(block_shape):
    return Spec
'''

OTHER = """\
from pkg import core as words


class Spec:
    def to_mapping(self):
        return words.get_grid(words.Spec)


def make_far():
    return words.LIMIT
"""

NOTED = """\
---
file: pkg/core.py
---

# Words

```listing
pkg/core.py  Spec
```

- `return grid`

  See `get_grid`.
"""

WHOLE = """\
---
file: pkg/core.py
---

# core.py

```source
pkg/core.py
```

- `Spec.step` Goes on.
- `get_grid` Gives out.
"""

CALLS = """\
# Calls

```listing
pkg/other.py  Spec
```

- `return words.get_grid(words.Spec)`

  Calls.
"""


def bound(folder, pages: dict[str, str]) -> tuple[Names, dict[str, Bound]]:
    sources = library(
        folder, {"pkg/core.py": CORE, "pkg/other.py": OTHER, "pkg/unread.py": "def make_near():\n    pass\n"}
    )
    documents = {path: read(path, text, KINDS) for path, text in pages.items()}
    found = {path: bind(document, sources.module, Lock()) for path, document in documents.items()}
    return Names.of_pages(sources, found.values()), found


PAGES = {"docs/a/noted.md": NOTED, "docs/core.md": WHOLE, "docs/b/calls.md": CALLS}


@pytest.fixture
def names(tmp_path) -> Names:
    return bound(tmp_path, PAGES)[0]


def page(text: str = "", path: str = "docs/b/prose.md") -> Document:
    return read(path, text, KINDS)


def link(names: Names, span: str, document: Document | None = None) -> str | None:
    found = dom(names.linked(f"Text with {span} in it.", document or page())).css_first("a")
    return found.attributes["href"] if found else None


def address(names: Names, name: str, path: str = "pkg/core.py") -> str:
    return names.places.of(Definition(path, find(names.library.module(path), name)))


def test_a_symbol_leads_to_its_notes_else_to_a_listing_else_to_the_whole_file_else_to_the_repository(names):
    assert address(names, "Spec.to_mapping") == "a/noted.html#Spec.to_mapping"
    assert address(names, "Spec.step") == "a/noted.html#Spec.step"
    assert address(names, "get_grid") == "core.html#get_grid"
    permalink = names.library.tree("pkg/other.py").permalink
    far = find(names.library.module("pkg/other.py"), "make_far")
    assert address(names, "make_far", "pkg/other.py") == permalink("pkg/other.py", far.span)
    assert names.places.of(Definition("pkg/unread.py")) == permalink("pkg/unread.py")


def test_without_an_annotated_page_the_whole_file_is_the_place(tmp_path):
    names, _ = bound(tmp_path, {"docs/core.md": WHOLE})
    assert address(names, "Spec.to_mapping") == "core.html#Spec.to_mapping"
    assert names.places.of(Definition("pkg/core.py")) == "core.html"


@pytest.mark.parametrize(
    ("target", "here", "link"),
    [
        ("a/b.html#x", "a/c.html", "b.html#x"),
        ("a/b.html#x", "a/b.html", "#x"),
        ("a/b.html#x", "index.html", "a/b.html#x"),
        ("b.html", "a/c/d.html", "../../b.html"),
        ("https://example.org/a#L1", "a/c.html", "https://example.org/a#L1"),
    ],
)
def test_addresses_are_counted_from_the_page(target, here, link):
    assert relative(target, here) == link


@pytest.mark.parametrize(
    ("span", "href"),
    [
        ("`get_grid`", "../core.html#get_grid"),
        ("`get_grid()`", "../core.html#get_grid"),
        ("`Spec.step`", "../a/noted.html#Spec.step"),
        ("`LIMIT`", "../core.html#LIMIT"),
        ("`Spec`", None),  # two files have one
        ("`to_mapping`", None),  # as above
        ("`step`", None),  # a word
        ("`block_shape`", None),  # a parameter
        ("`size`", None),  # a field, and a word
        ("`make_near`", None),  # of a file that no page shows
        ("`get_grid(3)`", None),
        ("`nothing_at_all`", None),
        ("get_grid", None),
        ("[`get_grid`](x.md)", None),
        ("``get_grid`", None),
        ('<a href="x.html">`get_grid`</a>', "x.html"),
    ],
)
def test_a_name_in_prose_is_linked_where_it_means_one_thing(names, span, href):
    assert link(names, span) == href


def test_on_a_page_about_a_file_its_own_names_come_first(names):
    about = page(NOTED, "docs/a/noted.md")
    assert link(names, "`Spec`", about) == "#Spec"
    assert link(names, "`to_mapping`", about) == "#Spec.to_mapping"
    assert link(names, "`step`", about) is None


def test_a_name_is_linked_once_and_never_in_headings_and_code(names):
    text = "# `get_grid`\n\n`get_grid`, `get_grid`\n\n```\n`get_grid`\n```\n\n    `get_grid`\n\n| `get_grid` |\n"
    said = names.linked(text, page())
    assert said.count("<a ") == 1
    assert said.split("\n")[2].startswith(
        '<a class="name" href="../core.html#get_grid" tabindex="-1"><code>get_grid</code></a>, `'
    )
    assert text == said.replace(
        '<a class="name" href="../core.html#get_grid" tabindex="-1"><code>get_grid</code></a>', "`get_grid`"
    )


def test_names_in_a_woven_listing_and_note_lead_to_their_places(tmp_path):
    names, found = bound(tmp_path / "sources", PAGES)
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    site = Context(tmp_path, names.library, {}, evidence=None, plan=(), names=names)  # type: ignore[arg-type]
    calls = dom(weave(found["docs/b/calls.md"], site))
    links = {node.text(): node.attributes["href"] for node in calls.css(".lst pre a[href]")}
    assert links == {"words.get_grid": "../core.html#get_grid", "words.Spec": "../a/noted.html#Spec"}
    noted = dom(weave(found["docs/a/noted.md"], site))
    assert noted.css_first(".lst-note a.name").attributes["href"] == "../core.html#get_grid"
    assert [entry.title for entry in site.found] == ["Spec.to_mapping", "Spec.to_mapping"]


def test_the_script_has_a_card_for_every_link_that_was_given_out(names):
    link(names, "`get_grid`")
    link(names, "`Spec.to_mapping`", page(NOTED, "docs/a/noted.md"))
    names.linker("pkg/other.py", "docs/x.md")("words", 6)
    said = script(names.taken()).decode()
    assert json.loads(said.removeprefix("window.trackNames=").removesuffix(";\n")) == {
        "a/noted.html": ["pkg/core.py", "The words."],
        "a/noted.html#Spec.to_mapping": [
            "def to_mapping(self, grid: int, *, debug=False) -> int",
            "Maps, e.g. A block.",
        ],
        "core.html#get_grid": ["def get_grid(block_shape)", ""],
    }


def test_a_signature_is_one_line_and_short_enough(names):
    module = names.library.module("pkg/core.py")
    assert signature(module, find(module, "Spec")) == "class Spec"
    assert signature(module, find(module, "LIMIT")) == "LIMIT = 3"
    long = symbols.parse("x.py", f"X = '{'é' * 400}'  # and more\n")
    assert signature(long, long.symbols[0]) == "X = '" + "é" * 234 + "…"


@pytest.mark.parametrize(
    ("docstring", "sentence"),
    [
        ("One. Two.", "One."),
        ("One line\nand another\n\nRest.", "One line and another"),
        ("Uses pl.ds (i.e. Slices) here. Then `x`.", "Uses pl.ds (i.e. Slices) here."),
        ("Is 0.5 of it. `x` follows.", "Is 0.5 of it."),
        ("", ""),
    ],
)
def test_the_first_sentence(docstring, sentence):
    assert first_sentence(docstring) == sentence


@pytest.fixture(scope="module")
def real() -> Names:
    sources = pinned()
    document = read("docs/p.md", "```listing\njax/_src/pallas/mosaic/pipeline.py  Scheduler\n```\n", KINDS)
    return Names.of_pages(sources, [bind(document, sources.module, Lock())])


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("pltpu.emit_pipeline", "jax/_src/pallas/mosaic/pipeline.py:emit_pipeline"),
        ("plgpu.emit_pipeline", "jax/_src/pallas/mosaic_gpu/pipeline.py:emit_pipeline"),
        ("pl.BlockSpec", "jax/_src/pallas/core.py:BlockSpec"),
        ("pl.BlockSpec.to_block_mapping", "jax/_src/pallas/core.py:BlockSpec.to_block_mapping"),
        ("jax.experimental.pallas.cdiv", "jax/_src/pallas/utils.py:cdiv"),
        ("has_changed", "jax/_src/pallas/mosaic/pipeline.py:Scheduler.has_changed"),
        ("Scheduler.out_of_fetch", "jax/_src/pallas/mosaic/pipeline.py:Scheduler.out_of_fetch"),
        ("run_scoped", "jax/_src/pallas/primitives.py:run_scoped"),
        ("emit_pipeline", None),  # of two backends
        ("pl.nothing", None),
        ("pl", None),
        ("when", None),
        ("jax.vmap", None),
    ],
)
def test_public_aliases_are_followed_through_the_doors(real, name, place):
    found = real.in_prose(name, [])
    assert (f"{found.path}:{found.symbol.qualname}" if found and found.symbol else None) == place
