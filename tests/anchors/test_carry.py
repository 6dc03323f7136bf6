"""Notes carried from one pin to the next: small pairs of sources, and laws on the pinned files.

A law changes a real file in a way whose effect on the quoted statement it knows, because it marks that statement's
lines. Where a note has to be is never asked of the code under test.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from track.anchors import anchor, symbols
from track.anchors.anchor import Anchor
from track.anchors.carry import Carried, Carrier
from track.anchors.forest import Forest
from track.anchors.match import match
from track.anchors.symbols import Module, Symbol
from track.errors import BadInput, Finding
from track.pins import lock, sync
from track.spans import Span

ROOT = Path(__file__).parents[2]
A, B = "jax/_src/pallas/pallas_call.py", "jax/_src/pallas/mosaic/primitives.py"
UNASKED = {"unchanged", "moved", "renamed"}

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
        {"m": "def f(x, y, z):\n  if x:\n    total = g(x) + h(y) * k(z) - 1\n    for item in total:\n      emit(item, total, x, y)\n"},
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
    assert carried(old, new, "m", "total =", "return total").kind not in UNASKED


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

MARK = "  # <<<"
"""Stands on the quoted statement's first line while a law moves lines about; comments are no part of the code."""


@functools.cache
def pinned() -> dict[str, str]:
    """Two whole files of the pin."""
    tree = sync.sync(ROOT, lock.read(ROOT / "pins.toml"))["jax"]
    return {path: tree.text(path) for path in (A, B)}


@functools.cache
def before() -> Forest:
    return forest(pinned())


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A statement of a pinned file, the definition at the file's top that it stands in, and the note on it."""

    module: Module
    node: ast.stmt
    top: Symbol
    note: Anchor

    @property
    def span(self) -> Span:
        return Span(self.node.lineno, self.node.end_lineno or self.node.lineno)

    @property
    def home(self) -> Symbol:
        return symbols.find(self.module, self.note.symbol)

    def marked(self) -> list[str]:
        """The lines of the file, with the mark on the first one of the statement."""
        lines = list(self.module.lines)
        lines[self.span.first - 1] += MARK
        return lines


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
    module = before().modules[data.draw(st.sampled_from((A, B)))]
    node = data.draw(st.sampled_from(statements(module.path)))
    span = Span(node.lineno, node.end_lineno or node.lineno)
    quote = ast.get_source_segment(module.text, node) or ""
    home = anchor.innermost(module, span)
    tops = [s for s in module.symbols if not s.parent and s.kind != "name" and s.of == 1 and s.span.contains(span)]
    assume("#" not in quote and home and tops and anchor.quoted(module, home.owned, quote, None) == [span])
    assert home
    return Drawn(module, node, tops[0], anchor.anchor(module, span, quote))


def carry(drawn: Drawn, files: Mapping[str, list[str]]) -> Carried:
    """Carry the note to files with these lines; those not given stay."""
    texts = {path: "\n".join(line.removesuffix(MARK) for line in lines) + "\n" for path, lines in files.items()}
    after = Forest(before().modules | {path: symbols.parse(path, text) for path, text in texts.items()})
    return Carrier(before(), after, match(before(), after)).carry(drawn.note)


def where(files: Mapping[str, list[str]], drawn: Drawn) -> tuple[str, Span]:
    """Where the marked statement is now."""
    ((path, line),) = [(p, n) for p, lines in files.items() for n, text in enumerate(lines, 1) if text.endswith(MARK)]
    return path, Span(line, line + drawn.span.length - 1)


def law(test):
    return settings(max_examples=20)(given(st.data())(test))


def free_line(drawn: Drawn, data: st.DataObject) -> int:
    """A line of the file that nothing but blank lines and definitions at the top begin at, outside the drawn one."""
    starts = [s.lead for s in drawn.module.symbols if not s.parent and s.kind != "name" and s != drawn.top]
    own = drawn.top.owned
    return data.draw(st.sampled_from([n for n in starts if not own.contains(Span(n, n)) and n != own.last + 1]))


@law
def test_nothing_changed(data):
    drawn = draw(data)
    assert carry(drawn, {}) == Carried("unchanged", drawn.module.path, drawn.note.symbol, drawn.span)


@law
def test_a_function_or_class_that_moves_within_its_file_keeps_its_notes(data):
    drawn = draw(data)
    lines, own, to = drawn.marked(), drawn.top.owned, free_line(drawn, data)
    block = [*lines[own.first - 1 : own.last], ""]
    rest = [[*block, text] if n == to else [text] for n, text in enumerate(lines, 1) if n not in own.lines]
    files = {drawn.module.path: [text for part in rest for text in part]}
    found = carry(drawn, files)
    assert (found.kind, found.path, found.span) == ("unchanged", *where(files, drawn))
    assert found.symbol == drawn.note.symbol


@law
def test_a_function_or_class_that_moves_to_another_file_takes_its_notes_along(data):
    drawn = draw(data)
    path = B if drawn.module.path == A else A
    taken = [s for s in before().modules[path].symbols if s.name == drawn.top.name]
    assume(not taken)
    lines, own = drawn.marked(), drawn.top.owned
    block = lines[own.first - 1 : own.last]
    files = {
        drawn.module.path: lines[: own.first - 1] + lines[own.last :],
        path: [*before().modules[path].lines, "", "", *block],
    }
    found = carry(drawn, files)
    assert (found.kind, found.path, found.span) == ("moved", *where(files, drawn))
    assert found.symbol == drawn.note.symbol


@law
def test_a_file_that_is_split_in_two_keeps_its_notes(data):
    """What stood before a definition stays; the rest is a new file."""
    drawn = draw(data)
    lines, cut = drawn.marked(), free_line(drawn, data)
    files = {drawn.module.path: lines[: cut - 1], "new.py": lines[cut - 1 :]}
    found, (path, span) = carry(drawn, files), where(files, drawn)
    assert (found.path, found.symbol, found.span) == (path, drawn.note.symbol, span)
    assert found.kind == ("moved" if path == "new.py" else "unchanged")


@law
def test_a_renamed_function_or_class_takes_its_notes_along(data):
    """Only its definition is renamed, as if nobody had called it."""
    drawn = draw(data)
    lines, line = drawn.marked(), drawn.top.node.lineno - 1
    lines[line] = lines[line].replace(f" {drawn.top.name}", f" {drawn.top.name}_anew", 1)
    files = {drawn.module.path: lines}
    found = carry(drawn, files)
    assert found.span is None or (found.path, found.span) == where(files, drawn)
    if found.span is None:
        assert before().weights[drawn.module.path, drawn.top.selector] < 12 or twins(drawn.top)
    else:
        assert (found.kind, found.symbol.partition(".")[0]) == ("renamed", f"{drawn.top.name}_anew")


def twins(symbol: Symbol) -> bool:
    """Whether another definition has the same body, its own name and docstring aside, as `ast.dump` tells it."""
    return sum(1 for m in before().modules.values() for s in m.symbols if told(s) == told(symbol)) > 1


def told(symbol: Symbol) -> list[str]:
    body = getattr(symbol.node, "body", [])
    return [ast.dump(node) for node in (body[1:] if symbol.docstring else body)]


@law
def test_a_renamed_local_name_is_an_edit_and_never_carried_elsewhere(data):
    drawn = draw(data)
    names = {n.id for n in ast.walk(drawn.node) if isinstance(n, ast.Name)}
    assume(names)
    name = data.draw(st.sampled_from(sorted(names)))
    tree = ast.parse(drawn.module.text)
    inside = {n for n in ast.walk(_same_node(tree, drawn.home.node)) if isinstance(n, ast.Name) and n.id == name}
    for node in inside:
        node.id = f"{name}_anew"
    found = carry(drawn, {drawn.module.path: ast.unparse(tree).split("\n")})
    assert found.kind not in UNASKED


def _same_node(tree: ast.Module, node: ast.stmt) -> ast.stmt:
    return next(n for n in ast.walk(tree) if type(n) is type(node) and n.lineno == node.lineno)  # pyright: ignore


@law
def test_another_layout_is_no_drift(data):
    """The drawn definition is laid out anew, and its comments are gone."""
    drawn = draw(data)
    lines, top = list(drawn.module.lines), drawn.top
    lines[top.span.first - 1 : top.span.last] = ast.unparse(top.node).split("\n")
    found = carry(drawn, {drawn.module.path: lines})
    assert (found.kind, found.path, found.symbol) == ("unchanged", drawn.module.path, drawn.note.symbol)
    now = symbols.parse("", "\n".join(lines) + "\n")
    assert found.span
    assert ast.dump(drawn.node) in [ast.dump(n) for n in ast.walk(now.tree) if _begins_in(n, found.span)]


def _begins_in(node: ast.AST, span: Span) -> bool:
    return isinstance(node, ast.stmt) and span.first <= node.lineno <= span.last


@law
def test_comments_and_blank_lines_are_no_drift(data):
    drawn, chance = draw(data), random.Random(data.draw(st.integers(0, 10**9)))  # noqa: S311 -- repeatable, no secret
    module = drawn.module
    lines: list[str] = []
    for number, text in enumerate(drawn.marked(), 1):
        inside = number in module.in_strings or (number > 1 and module.lines[number - 2].endswith("\\"))
        if number in module.quiet and not inside and chance.random() < 0.3:
            continue
        if not inside and chance.random() < 0.05 and number not in drawn.span.lines[1:]:
            lines += chance.choice([["# why"], [""], ["", "# " + text.removesuffix(MARK).strip(), ""]])
        lines.append(text)
    files = {module.path: lines}
    found, (path, span) = carry(drawn, files), where(files, drawn)
    assert (found.kind, found.path, found.symbol) == ("unchanged", path, drawn.note.symbol)
    assert found.span
    assert found.span.first == span.first


@law
def test_a_deleted_statement_is_never_carried(data):
    drawn = draw(data)
    lines = list(drawn.module.lines)
    lines[drawn.span.first - 1 : drawn.span.last] = [" " * drawn.node.col_offset + "pass"]
    found = carry(drawn, {drawn.module.path: lines})
    assert found.kind not in UNASKED


@law
def test_a_deleted_function_or_class_takes_its_notes_with_it(data):
    drawn = draw(data)
    lines, own = list(drawn.module.lines), drawn.top.owned
    found = carry(drawn, {drawn.module.path: lines[: own.first - 1] + lines[own.last :]})
    assert found.span is None


@law
def test_a_deleted_file_takes_its_notes_with_it(data):
    drawn = draw(data)
    rest = Forest({path: module for path, module in before().modules.items() if path != drawn.module.path})
    found = Carrier(before(), rest, match(before(), rest)).carry(drawn.note)
    assert (found.kind, found.span) == ("lost", None)


@law
def test_a_copy_under_another_name_takes_no_note_away(data):
    drawn = draw(data)
    lines, own = drawn.marked(), drawn.top.owned
    copy = [text.removesuffix(MARK) for text in lines[own.first - 1 : own.last]]
    line = drawn.top.node.lineno - own.first
    copy[line] = copy[line].replace(f" {drawn.top.name}", f" {drawn.top.name}_anew", 1)
    place = data.draw(st.sampled_from([own.first - 1, own.last]))
    files = {drawn.module.path: [*lines[:place], *copy, *lines[place:]]}
    found = carry(drawn, files)
    assert (found.kind, found.path, found.span) == ("unchanged", *where(files, drawn))
    assert found.symbol == drawn.note.symbol


@law
def test_a_doubled_statement_is_never_a_guess(data):
    drawn = draw(data)
    lines, span = list(drawn.module.lines), drawn.span
    lines[span.last : span.last] = lines[span.first - 1 : span.last]
    found = carry(drawn, {drawn.module.path: lines})
    assert found.kind == "ambiguous"
    assert len(found.candidates) == 2


@law
def test_statements_that_change_places_are_never_mixed_up(data):
    """The statement changes places with the one after it: it is found there, or a person is asked."""
    drawn = draw(data)
    following = [n for n in statements(drawn.module.path) if n.lineno == drawn.span.last + 1]
    assume(following and following[0].col_offset == drawn.node.col_offset)
    after = Span(following[0].lineno, following[0].end_lineno or following[0].lineno)
    lines = drawn.marked()
    lines[drawn.span.first - 1 : after.last] = [
        *lines[after.first - 1 : after.last],
        *lines[drawn.span.first - 1 : drawn.span.last],
    ]
    files = {drawn.module.path: lines}
    found = carry(drawn, files)
    if found.kind in UNASKED:
        assert (found.path, found.span) == where(files, drawn)


@law
def test_the_tail_of_a_function_that_becomes_a_helper_takes_its_notes_along(data):
    """Or a person is asked, where the tail is too short to be known by; no other code is ever taken for it."""
    drawn = draw(data)
    body: list[ast.stmt] = getattr(drawn.top.node, "body", [])
    assume(isinstance(drawn.top.node, ast.FunctionDef) and len(body) > 2)
    tail = data.draw(st.sampled_from(body[1:]))
    lines, last = drawn.marked(), drawn.top.span.last
    helper = ["", "", f"def {drawn.top.name}_tail():", *lines[tail.lineno - 1 : last]]
    files = {drawn.module.path: [*lines[: tail.lineno - 1], f"  {drawn.top.name}_tail()", *helper, *lines[last:]]}
    try:
        found = carry(drawn, files)
    except BadInput:  # the tail begins with a decorator, whose line is not the statement's
        assume(False)
        raise
    if found.kind in UNASKED:
        assert (found.path, found.span) == where(files, drawn)
    if drawn.span.last < tail.lineno and drawn.home == drawn.top:
        assert found.kind in UNASKED | {"ambiguous"}
