"""Notes carried from one pin to the next: small pairs of sources, and laws on the pinned files.

A law changes a real file in a way whose effect on the noted statements it knows, because it marks their lines or
keeps their order. Where a note has to be is never asked of the code under test.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import random
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from track.anchors import anchor, symbols
from track.anchors.anchor import Anchor
from track.anchors.carry import Carried, Carrier
from track.anchors.forest import Forest
from track.anchors.match import Kind, match
from track.anchors.symbols import Module, Symbol
from track.errors import Finding
from track.pins import lock, sync
from track.spans import Span

ROOT = Path(__file__).parents[2]
FOLLOWED = frozenset[Kind]({"unchanged", "moved", "renamed"})
"""The kinds that name a place as the same code."""

LONG = "  total = g(x) + h(y) * k(z) - 1\n"
MORE = "  for item in total:\n    emit(item, total, x, y)\n"


def forest(files: Mapping[str, str]) -> Forest:
    return Forest({path: symbols.parse(path, text) for path, text in files.items()})


def carried(old: Mapping[str, str], new: Mapping[str, str], path: str, quote: str, last: str | None = None) -> Carried:
    """What becomes of a note on the one place in `path` where the quote stands."""
    before, after = forest(old), forest(new)
    module = before.modules[path]
    (span,) = anchor.quoted(module, Span(1, len(module.lines)), quote, last)
    note = anchor.anchor(module, span, quote, last)
    return Carrier(before, after, match(before, after)).carry(note)


def said(found: Carried) -> tuple[str, str, tuple[int, int] | None]:
    return found.kind, f"{found.path} {found.symbol}".strip(), found.span and (found.span.first, found.span.last)


PAIRS = [
    (
        "nothing changed",
        {"m": f"def f(x, y, z):\n{LONG}  return total\n"},
        {"m": f"def f(x, y, z):\n{LONG}  return total\n"},
        "total =",
        ("unchanged", "m f", (2, 2)),
    ),
    (
        "other code above",
        {"m": f"def f(x, y, z):\n{LONG}  return total\n"},
        {"m": f"a = 1\n\n\ndef f(x, y, z):\n{LONG}  return total\n"},
        "total =",
        ("unchanged", "m f", (5, 5)),
    ),
    (
        "another layout",
        {"m": f"def f(x, y, z):\n{LONG}  return total\n"},
        {"m": "def f(x, y, z):\n  total = (\n      g(x)\n      + h(y) * k(z) - 1\n  )\n  return total\n"},
        "total = g(x)",
        ("unchanged", "m f", (2, 5)),
    ),
    (
        "one level deeper",
        {"m": f"def f(x, y, z):\n{LONG}{MORE}"},
        {"m": f"def f(x, y, z):\n  if x:\n{textwrap.indent(LONG + MORE, '  ')}"},
        "emit(item, total, x, y)",
        ("unchanged", "m f", (5, 5)),
    ),
    (
        "a function in another place of the file",
        {"m": f"def f(x, y, z):\n{LONG}def g(x):\n  return x\n"},
        {"m": f"def g(x):\n  return x\ndef f(x, y, z):\n{LONG}"},
        "total =",
        ("unchanged", "m f", (4, 4)),
    ),
    (
        "a function in another file",
        {"m": f"def f(x, y, z):\n{LONG}", "n": "a = 1\n"},
        {"m": "", "n": f"a = 1\ndef f(x, y, z):\n{LONG}"},
        "total =",
        ("moved", "n f", (3, 3)),
    ),
    (
        "a function with another name",
        {"m": f"def f(x, y, z):\n{LONG}"},
        {"m": f"def of(x, y, z):\n{LONG}"},
        "total =",
        ("renamed", "m of", (2, 2)),
    ),
    (
        "the method of a class with another name",
        {"m": f"class A:\n def f(x, y, z):\n {LONG}"},
        {"m": f"class B:\n def f(x, y, z):\n {LONG}"},
        "total =",
        ("renamed", "m B.f", (3, 3)),
    ),
    (
        "a method in another class",
        {"m": f"class A:\n def f(x, y, z):\n {LONG}\n def g(x):\n  return x\nclass B:\n a = 1\n"},
        {"m": f"class A:\n def g(x):\n  return x\nclass B:\n a = 1\n def f(x, y, z):\n {LONG}"},
        "total =",
        ("renamed", "m B.f", (7, 7)),
    ),
    (
        "the tail of a function in a helper",
        {"m": f"def f(x, y, z):\n  check(x)\n{LONG}{MORE * 3}"},
        {"m": f"def f(x, y, z):\n  check(x)\n  helper(x, y, z)\ndef helper(x, y, z):\n{LONG}{MORE * 3}"},
        "total =",
        ("moved", "m helper", (5, 5)),
    ),
    (
        "one short statement of it, which alone says nothing",
        {"m": f"def f(x, y, z):\n{LONG}  a = 1\n  return total\n"},
        {"m": f"def f(x, y, z):\n{LONG}  return total\ndef g():\n  a = 1\n"},
        "a = 1",
        ("lost", "m f", None),
    ),
    (
        "a statement that was edited",
        {"m": f"def f(x, y, z):\n{LONG}  y = x + 2\n  return total\n"},
        {"m": f"def f(x, y, z):\n{LONG}  y = x + 3\n  return total\n"},
        "y = x + 2",
        ("edited", "m f", (3, 3)),
    ),
    (
        "a statement that was edited around its quote",
        {"m": f"def f(x, y, z):\n{LONG}  y = x + 2\n  return total\n"},
        {"m": f"def f(x, y, z):\n{LONG}  y = x + 2 if x else 0\n  return total\n"},
        "y = x + 2",
        ("edited", "m f", (3, 3)),
    ),
    (
        "a statement that became two",
        {"m": f"def f(x, y, z):\n{LONG}  y = x + 2\n{MORE}"},
        {"m": f"def f(x, y, z):\n{LONG}  y = x\n  y += 2\n{MORE}"},
        "y = x + 2",
        ("edited", "m f", (3, 4)),
    ),
    (
        "a statement that was removed",
        {"m": f"def f(x, y, z):\n{LONG}  y = x + 2\n{MORE}"},
        {"m": f"def f(x, y, z):\n{LONG}{MORE}"},
        "y = x + 2",
        ("lost", "m f", None),
    ),
    (
        "a function that was removed",
        {"m": f"def f(x, y, z):\n{LONG}def g(x):\n  return x\n"},
        {"m": "def g(x):\n  return x\n"},
        "total =",
        ("lost", "m f", None),
    ),
    (
        "a file that was removed",
        {"m": f"def f(x, y, z):\n{LONG}", "n": "a = 1\n"},
        {"n": "a = 1\n"},
        "total =",
        ("lost", "m f", None),
    ),
    (
        "module-level code in a file that was removed",
        {"m": "import a\n", "n": "a = 1\n"},
        {"n": "a = 1\n"},
        "import a",
        ("lost", "m", None),
    ),
    (
        "a statement that was doubled, and nothing tells the two apart",
        {"m": "def f(x):\n  a(x)\n  b(x)\n"},
        {"m": "def f(x):\n  a(x)\n  a(x)\n  b(x)\n"},
        "a(x)",
        ("ambiguous", "m f", None),
    ),
    (
        "a light statement that is there once more, its own place emptied",
        {"m": f"def f(x, y, z):\n{LONG}  if x:\n    return []\n{MORE}"},
        {"m": f"def f(x, y, z):\n{LONG}{MORE}  if y:\n    return []\n"},
        "return []",
        ("ambiguous", "m f", None),
    ),
    (
        "a function that was copied under another name",
        {"m": f"def f(x, y, z):\n{LONG}"},
        {"m": f"def f2(x, y, z):\n{LONG}def f(x, y, z):\n{LONG}"},
        "total =",
        ("unchanged", "m f", (4, 4)),
    ),
    (
        "a function that became two copies under other names",
        {"m": f"def f(x, y, z):\n{LONG}"},
        {"m": f"def f1(x, y, z):\n{LONG}def f2(x, y, z):\n{LONG}"},
        "total =",
        ("ambiguous", "m f", None),
    ),
    (
        "two functions alike, of which the other is gone",
        {"m": f"def f(x, y, z):\n{LONG}def g(x, y, z):\n  return 0\n", "n": f"def h(x, y, z):\n{LONG}"},
        {"m": f"def f(x, y, z):\n{LONG}def g(x, y, z):\n  return 0\n", "n": "a = 1\n"},
        "total =",
        ("unchanged", "m f", (2, 2)),
    ),
    (
        "an import that stands alone among others",
        {"m": "import a\nimport b\nimport c\n"},
        {"m": "import c\nimport d\nimport a\n"},
        "import a",
        ("ambiguous", "m", None),
    ),
    (
        "a header without its body",
        {"m": f"def f(x, y, z):\n{LONG}{MORE}"},
        {"m": f"def f(x, y, z):\n{LONG}  for item in total:\n    other(item)\n"},
        "for item in total:",
        ("unchanged", "m f", (3, 3)),
    ),
]


@pytest.mark.parametrize(("old", "new", "quote", "expected"), [p[1:] for p in PAIRS], ids=[p[0] for p in PAIRS])
def test_a_note_follows_its_code(old, new, quote, expected):
    assert said(carried(old, new, "m", quote)) == expected


def test_a_range_is_carried_as_a_whole():
    old = {"m": f"def f(x, y, z):\n{LONG}{MORE}  return total\n"}
    new = {"m": f"a = 1\ndef f(x, y, z):\n  # why\n{LONG}\n{MORE}  return total\n"}
    assert said(carried(old, new, "m", "total =", "return total")) == ("unchanged", "m f", (4, 8))


def test_a_range_whose_middle_was_edited_is_not_carried_unasked():
    old = {"m": f"def f(x, y, z):\n{LONG}{MORE}  return total\n"}
    new = {"m": f"def f(x, y, z):\n{LONG}  other(x)\n{MORE}  return total\n"}
    assert carried(old, new, "m", "total =", "return total").kind not in FOLLOWED


def test_what_is_ambiguous_names_the_places():
    old, new = {"m": "def f(x):\n  a(x)\n  b(x)\n"}, {"m": "def f(x):\n  a(x)\n  a(x)\n  b(x)\n"}
    assert carried(old, new, "m", "a(x)").candidates == ("line 2: a(x)", "line 3: a(x)")


def test_what_is_lost_names_what_is_nearest():
    old = {"m": f"def f(x, y, z):\n{LONG}  y = scale(x, 2)\n{MORE}"}
    new = {"m": f"def f(x, y, z):\n{LONG}{MORE}  z = scale(x, 2)\n"}
    found = carried(old, new, "m", "y = scale(x, 2)")
    assert found.span is None
    assert found.candidates[0].endswith("z = scale(x, 2)")


def test_a_note_that_does_not_fit_the_old_pin_is_a_finding():
    old = forest({"m": "def f(x):\n  return x\n"})
    note = anchor.anchor(old.modules["m"], Span(2, 2), "return x")
    other = forest({"m": "def f(x):\n  return y\n"})
    with pytest.raises(Finding, match="does not fit the old pin"):
        Carrier(other, old, match(other, old)).carry(note)


# --- laws on the pinned files

FILES = (
    "jax/_src/pallas/pallas_call.py",
    "jax/_src/pallas/mosaic/interpret/interpret_pallas_call.py",
    "jax/_src/pallas/mosaic/pipeline.py",
    "jax/_src/pallas/mosaic_gpu/lowering.py",
    "jax/_src/pallas/triton/lowering.py",
    "jax/experimental/pallas/ops/tpu/splash_attention/splash_attention_kernel.py",
)
"""Five of the twelve largest files, and a short one."""

MARK = "  # <<<"
"""With its number, stands on a noted statement's first line while a law moves lines about; a comment is no code."""

SAMPLE = 20
"""About so many notes of a definition, and as many of the rest of its file, are judged together."""


@functools.cache
def before() -> Forest:
    """Whole files of the pin."""
    tree = sync.sync(ROOT, lock.read(ROOT / "pins.toml"))["jax"]
    return forest({path: tree.text(path) for path in FILES})


@dataclasses.dataclass(frozen=True)
class Noted:
    """A statement of a pinned file, the definition at the file's top that it stands in, and the note on it."""

    module: Module
    node: ast.stmt
    top: Symbol

    @property
    def span(self) -> Span:
        return span_of(self.node)

    @functools.cached_property
    def home(self) -> Symbol | None:
        return anchor.innermost(self.module, self.span)

    @functools.cached_property
    def quote(self) -> str:
        return ast.get_source_segment(self.module.text, self.node) or ""

    @functools.cached_property
    def note(self) -> Anchor:
        return anchor.anchor(self.module, self.span, self.quote)

    @property
    def is_quotable(self) -> bool:
        """Whether its own text names it; what it says in a comment would not be found again."""
        inside = self.home and anchor.quoted(self.module, self.home.owned, self.quote, None)
        return inside == [self.span] and "#" not in self.quote


def span_of(node: ast.stmt) -> Span:
    return Span(node.lineno, node.end_lineno or node.lineno)


type Place = tuple[str, Span] | None
"""Where a noted statement is after the change, by its mark; None where it is no longer."""


@dataclasses.dataclass(frozen=True)
class Judged:
    """A note, what became of it, and what should have."""

    noted: Noted
    found: Carried
    place: Place

    @property
    def is_followed(self) -> bool:
        return self.found.kind in FOLLOWED

    @property
    def is_astray(self) -> bool:
        """Whether it was carried to code that it does not speak of."""
        return self.is_followed and (self.found.path, self.found.span) != self.place

    def became(self, kind: Kind, symbol: str | None = None) -> bool:
        """Whether it is where it should be, for this reason, in the same symbol or this one."""
        found = self.found
        named = symbol or self.noted.note.symbol
        return (found.kind, found.symbol, (found.path, found.span)) == (kind, named, self.place)


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A definition at the top of a pinned file, notes on statements in it, and notes on others of the file."""

    module: Module
    top: Symbol
    inside: tuple[Noted, ...]
    outside: tuple[Noted, ...]

    @property
    def notes(self) -> tuple[Noted, ...]:
        return self.inside + self.outside

    @property
    def block(self) -> list[str]:
        """The lines of the definition, with its marks."""
        return self.marked()[self.top.owned.first - 1 : self.top.owned.last]

    def marked(self) -> list[str]:
        """The lines of the file, with a mark on the first one of every noted statement."""
        lines = list(self.module.lines)
        for number, noted in enumerate(self.notes):
            lines[noted.span.first - 1] += f"{MARK}{number}"
        return lines

    def without(self) -> list[str]:
        """The lines of the file less the definition's."""
        return [text for n, text in enumerate(self.marked(), 1) if n not in self.top.owned.lines]

    def renamed(self) -> list[str]:
        """The lines of the definition under another name, which nobody calls."""
        block, line = self.block, self.top.node.lineno - self.top.owned.first
        block[line] = block[line].replace(f" {self.top.name}", f" {self.top.name}_anew", 1)
        return block

    def judged(self, files: Mapping[str, list[str]], gone: str | None = None) -> list[Judged]:
        """Every note carried to files with these lines; the other files stay, less the one that is gone."""
        marks = [(path, n, text) for path, lines in files.items() for n, text in enumerate(lines, 1) if MARK in text]
        lines = {int(text.partition(MARK)[2]): (path, n) for path, n, text in marks}
        places = {i: (path, Span(n, n + self.notes[i].span.length - 1)) for i, (path, n) in lines.items()}
        return self.compared(files, places, gone)

    def compared(
        self, files: Mapping[str, list[str]], places: Mapping[int, Place], gone: str | None = None
    ) -> list[Judged]:
        """As `judged`, where no mark tells the places."""
        texts = {path: "\n".join(line.partition(MARK)[0] for line in lines) for path, lines in files.items()}
        changed = {path: symbols.parse(path, f"{text}\n") for path, text in texts.items()}
        after = Forest({path: module for path, module in {**before().modules, **changed}.items() if path != gone})
        carrier = Carrier(before(), after, match(before(), after))
        return [Judged(noted, carrier.carry(noted.note), places.get(i)) for i, noted in enumerate(self.notes)]


@functools.cache
def tops(path: str) -> Mapping[Symbol, tuple[Noted, ...]]:
    """The definitions at the top of a file whose name occurs once there, with the statements that can be quoted."""
    module = before().modules[path]
    found = [s for s in definitions(module) if s.of == 1]
    noted = {top: [Noted(module, n, top) for n in statements(path) if top.span.contains(span_of(n))] for top in found}
    return {top: tuple(n for n in inside if n.is_quotable) for top, inside in noted.items()}


def definitions(module: Module) -> list[Symbol]:
    """The functions and classes that stand in no block."""
    return [s for s in module.symbols if s.kind != "name" and not s.node.col_offset]


@functools.cache
def statements(path: str) -> tuple[ast.stmt, ...]:
    """Statements with no body of their own that begin a line, and on whose first line no string goes on."""
    module = before().modules[path]
    kinds = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Expr, ast.Assert, ast.Delete)
    found = (n for n in ast.walk(module.tree) if isinstance(n, kinds))
    inside = module.in_strings
    free = (n for n in found if n.lineno + 1 not in inside and not module.lines[n.lineno - 1].endswith("\\"))
    return tuple(n for n in free if not module.lines[n.lineno - 1][: n.col_offset].strip())


def draw(data: st.DataObject) -> Drawn:
    path = data.draw(st.sampled_from(FILES))
    top = data.draw(st.sampled_from([top for top, inside in tops(path).items() if inside]))
    others = [noted for other, inside in tops(path).items() if other != top for noted in inside]
    inside, outside = (few(notes, data) for notes in (tops(path)[top], others))
    return Drawn(before().modules[path], top, inside, outside)


def few(notes: Sequence[Noted], data: st.DataObject) -> tuple[Noted, ...]:
    """A sample from beginning to end."""
    step = len(notes) // SAMPLE + 1
    return tuple(notes[data.draw(st.integers(0, step - 1)) :: step])


def law(test):
    return settings(max_examples=8)(given(st.data())(test))


def another_top(drawn: Drawn, data: st.DataObject) -> Symbol:
    """Another definition at the top, which does not stand next to the drawn one."""
    own = drawn.top.owned
    found = [s for s in definitions(drawn.module) if s != drawn.top]
    return data.draw(st.sampled_from([s for s in found if own.last not in {s.lead - 1, s.lead - 2, s.lead - 3}]))


@law
def test_nothing_changed(data):
    drawn = draw(data)
    assert [j for j in drawn.judged({drawn.module.path: drawn.marked()}) if not j.became("unchanged")] == []


@law
def test_a_function_or_class_that_moves_within_its_file_keeps_its_notes(data):
    drawn = draw(data)
    own, to = drawn.top.owned, another_top(drawn, data).lead
    parts = [
        [*drawn.block, "", "", text] if n == to else [text]
        for n, text in enumerate(drawn.marked(), 1)
        if n not in own.lines
    ]
    files = {drawn.module.path: [text for part in parts for text in part]}
    assert [j for j in drawn.judged(files) if not j.became("unchanged")] == []


@law
def test_functions_and_classes_in_another_order_keep_their_notes(data):
    drawn = draw(data)
    blocks = [top.owned for top in tops(drawn.module.path)]
    lines, order = drawn.marked(), iter(data.draw(st.permutations(blocks)))
    firsts, inner = {b.first for b in blocks}, {n for b in blocks for n in b.lines}
    files = {drawn.module.path: []}
    for number, text in enumerate(lines, 1):
        if number in firsts:
            now = next(order)
            files[drawn.module.path] += lines[now.first - 1 : now.last]
        elif number not in inner:
            files[drawn.module.path].append(text)
    assert [j for j in drawn.judged(files) if not j.became("unchanged")] == []


@law
def test_a_function_or_class_that_moves_to_another_file_takes_its_notes_along(data):
    drawn = draw(data)
    path = data.draw(st.sampled_from([path for path in FILES if path != drawn.module.path]))
    assume(not any(s.name == drawn.top.name for s in before().modules[path].symbols))
    files = {drawn.module.path: drawn.without(), path: [*before().modules[path].lines, "", "", *drawn.block]}
    judged = drawn.judged(files)
    assert [j for j in judged if not j.became("moved" if j.noted in drawn.inside else "unchanged")] == []


@law
def test_a_file_that_is_split_in_two_keeps_its_notes(data):
    """What stood before a definition stays; the rest is a new file."""
    drawn = draw(data)
    lines, cut = drawn.marked(), drawn.top.lead
    judged = drawn.judged({drawn.module.path: lines[: cut - 1], "new.py": lines[cut - 1 :]})
    assert [j for j in judged if not j.became("moved" if j.noted.span.first >= cut else "unchanged")] == []


@law
def test_a_renamed_function_or_class_takes_its_notes_along(data):
    """Or is asked about, where it is too short to be known by, or has a twin."""
    drawn = draw(data)
    lines, own, name = drawn.marked(), drawn.top.owned, f"{drawn.top.name}_anew"
    judged = drawn.judged({drawn.module.path: lines[: own.first - 1] + drawn.renamed() + lines[own.last :]})
    light = before().weights[drawn.module.path, drawn.top.selector] < 12 or twins(drawn.top)
    for j in judged:
        now = name + j.noted.note.symbol.removeprefix(drawn.top.name) if j.noted in drawn.inside else None
        assert j.became("renamed" if now else "unchanged", now) or (light and now and not j.is_followed), j


def twins(symbol: Symbol) -> bool:
    """Whether another definition has the same body, its own name and docstring aside, as `ast.dump` tells it."""
    return sum(1 for m in before().modules.values() for s in m.symbols if told(s) == told(symbol)) > 1


@functools.cache
def told(symbol: Symbol) -> list[str]:
    body = getattr(symbol.node, "body", [])
    return [ast.dump(node) for node in (body[1:] if symbol.docstring else body)]


@law
def test_another_layout_is_no_drift(data):
    """The drawn definition is laid out anew, and its comments are gone."""
    drawn = draw(data)
    assert [j for j in relaid(drawn, drawn.top.node) if not j.became("unchanged")] == []


@law
def test_a_renamed_local_name_is_an_edit_and_never_carried_elsewhere(data):
    drawn = draw(data)
    one = data.draw(st.sampled_from(drawn.inside))
    names = {n.id for n in ast.walk(one.node) if isinstance(n, ast.Name)}
    assume(names)
    name = data.draw(st.sampled_from(sorted(names)))
    anew = copy.deepcopy(drawn.top.node)
    assert one.home
    nodes = zip(ast.walk(drawn.top.node), ast.walk(anew), strict=True)
    home = next(new for old, new in nodes if old is one.home.node)
    for node in ast.walk(home):
        if isinstance(node, ast.Name) and node.id == name:
            node.id = f"{name}_anew"
    judged = relaid(drawn, anew)
    assert [j for j in judged if j.is_astray or (j.is_followed and j.noted is one)] == []


def relaid(drawn: Drawn, node: ast.stmt) -> list[Judged]:
    """The notes after the drawn definition was written as `ast.unparse` does it, its statements in the same order."""
    own, text = drawn.top.span, ast.unparse(node).split("\n")
    lines = [*drawn.module.lines[: own.first - 1], *text, *drawn.module.lines[own.last :]]
    olds, news = (
        [n for n in ast.walk(tree) if isinstance(n, ast.stmt)]
        for tree in (drawn.top.node, ast.parse("\n".join(text)).body[0])
    )
    now = {old: span_of(new) for old, new in zip(olds, news, strict=True)}
    grown = len(text) - own.length
    places: dict[int, Place] = {}
    for number, noted in enumerate(drawn.notes):
        inside = noted.node in now
        shift = own.first - 1 if inside else grown if noted.span.first > own.last else 0
        span = now.get(noted.node, noted.span)
        places[number] = drawn.module.path, Span(span.first + shift, span.last + shift)
    return drawn.compared({drawn.module.path: lines}, places)


@law
def test_comments_and_blank_lines_are_no_drift(data):
    """Some are gone, and others are new, of which some look like code; none is put into a noted statement."""
    drawn, chance = draw(data), random.Random(data.draw(st.integers(0, 10**9)))  # noqa: S311 -- repeatable, no secret
    module = drawn.module
    whole = {n for noted in drawn.notes for n in noted.span.lines[1:]}
    lines: list[str] = []
    for number, text in enumerate(drawn.marked(), 1):
        inside = number in whole or number in module.in_strings or module.lines[max(number - 2, 0)].endswith("\\")
        if number in module.quiet and not inside and chance.random() < 0.3:
            continue
        if not inside and chance.random() < 0.05:
            lines += chance.choice([["# why"], [""], ["", "# " + text.partition(MARK)[0].strip(), ""]])
        lines.append(text)
    assert [j for j in drawn.judged({module.path: lines}) if not j.became("unchanged")] == []


@law
def test_a_deleted_statement_is_never_carried(data):
    drawn = draw(data)
    one = data.draw(st.sampled_from(drawn.inside))
    lines = drawn.marked()
    lines[one.span.first - 1 : one.span.last] = [" " * one.node.col_offset + "pass"]
    judged = drawn.judged({drawn.module.path: lines})
    assert [j for j in judged if j.is_astray or (j.noted in drawn.outside and not j.became("unchanged"))] == []


@law
def test_a_deleted_function_or_class_takes_its_notes_with_it(data):
    drawn = draw(data)
    judged = drawn.judged({drawn.module.path: drawn.without()})
    assert [j for j in judged if j.noted in drawn.inside and j.found.span] == []
    assert [j for j in judged if j.noted in drawn.outside and not j.became("unchanged")] == []


@law
def test_a_deleted_file_takes_its_notes_with_it(data):
    drawn = draw(data)
    judged = drawn.judged({}, gone=drawn.module.path)
    assert {(j.found.kind, j.found.span) for j in judged} == {("lost", None)}


@law
def test_a_copy_under_another_name_takes_no_note_away(data):
    drawn = draw(data)
    lines, own = drawn.marked(), drawn.top.owned
    twin = [text.partition(MARK)[0] for text in drawn.renamed()]
    place = data.draw(st.sampled_from([own.first - 1, own.last]))
    judged = drawn.judged({drawn.module.path: [*lines[:place], *twin, *lines[place:]]})
    assert [j for j in judged if not j.became("unchanged")] == []


@law
def test_a_function_or_class_that_became_two_is_never_a_guess(data):
    """Neither copy has its name."""
    drawn = draw(data)
    lines, own, name = drawn.marked(), drawn.top.owned, f"{drawn.top.name}_anew"
    one = [text.partition(MARK)[0] for text in drawn.renamed()]
    two = [text.replace(name, f"{name}_too") for text in one]
    judged = drawn.judged({drawn.module.path: [*lines[: own.first - 1], *one, *two, *lines[own.last :]]})
    assert {j.found.kind for j in judged if j.noted in drawn.inside} <= {"ambiguous", "lost"}
    assert [j for j in judged if j.noted in drawn.outside and not j.became("unchanged")] == []


@law
def test_a_copy_of_the_file_takes_no_note_away(data):
    drawn = draw(data)
    judged = drawn.judged({"copy.py": list(drawn.module.lines), drawn.module.path: drawn.marked()})
    assert [j for j in judged if not j.became("unchanged")] == []


@law
def test_a_doubled_statement_is_never_a_guess(data):
    drawn = draw(data)
    one = data.draw(st.sampled_from(drawn.inside))
    lines, span = drawn.marked(), one.span
    lines[span.last : span.last] = drawn.module.lines[span.first - 1 : span.last]
    judged = drawn.judged({drawn.module.path: lines})
    assert [(j.found.kind, len(j.found.candidates)) for j in judged if j.noted is one] == [("ambiguous", 2)]
    assert [j for j in judged if j.is_astray] == []


@law
def test_statements_that_change_places_are_never_mixed_up(data):
    """A statement changes places with the one after it: each is found there, or a person is asked."""
    drawn = draw(data)
    starts = {n.lineno: n for n in statements(drawn.module.path)}
    pairs = [
        (n.span, span_of(starts[n.span.last + 1]))
        for n in drawn.inside
        if n.span.last + 1 in starts and starts[n.span.last + 1].col_offset == n.node.col_offset
    ]
    assume(pairs)
    one, two = data.draw(st.sampled_from(pairs))
    lines = drawn.marked()
    lines[one.first - 1 : two.last] = lines[two.first - 1 : two.last] + lines[one.first - 1 : one.last]
    judged = drawn.judged({drawn.module.path: lines})
    assert [j for j in judged if j.is_astray or (j.noted in drawn.outside and not j.became("unchanged"))] == []


@law
def test_the_tail_of_a_function_that_becomes_a_helper_takes_its_notes_along(data):
    """Or a person is asked, where the tail is too short to be known by; no other code is ever taken for it."""
    drawn = draw(data)
    body: list[ast.stmt] = getattr(drawn.top.node, "body", [])
    cuts = [node for node in body[1:] if not getattr(node, "decorator_list", [])]
    assume(isinstance(drawn.top.node, ast.FunctionDef) and cuts)
    cut, last, name = data.draw(st.sampled_from(cuts)).lineno, drawn.top.span.last, f"{drawn.top.name}_tail"
    lines = drawn.marked()
    helper = ["", "", f"def {name}():", *lines[cut - 1 : last]]
    judged = drawn.judged({drawn.module.path: [*lines[: cut - 1], f"  {name}()", *helper, *lines[last:]]})
    assert [j for j in judged if j.is_astray] == []
    stay = [j for j in judged if j.noted.span.last < cut and j.noted.home == drawn.top]
    assert {j.found.kind for j in stay} <= FOLLOWED | {"ambiguous"}
