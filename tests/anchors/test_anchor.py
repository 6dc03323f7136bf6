"""The resolving ladder.

The laws are checked on the pinned sources, and the oracle is `ast.dump`, which the tool never uses.
"""

from __future__ import annotations

import ast
import functools
import random
import textwrap
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from track.anchors import anchor, fingerprints, symbols
from track.anchors.anchor import Anchor, Resolution
from track.anchors.symbols import Module
from track.pins import lock, sync
from track.spans import Span

ROOT = Path(__file__).parents[2]
FILES = {
    "jax": ("jax/_src/pallas/mosaic/pipeline.py", "jax/_src/pallas/core.py", "jax/_src/pallas/pallas_call.py"),
    "tokamax": ("tokamax/_src/ops/op.py",),
}


@functools.cache
def chunks() -> tuple[Module, ...]:
    """Every larger class or function of four pinned files, as a small file of its own."""
    trees = sync.sync(ROOT, lock.read(ROOT / "pins.toml"))
    found: list[Module] = []
    for project, paths in FILES.items():
        for path in paths:
            whole = symbols.parse(path, trees[project].text(path))
            tops = [s for s in whole.symbols if not s.parent and s.kind != "name" and s.span.length >= 12]
            texts = ("\n".join(whole.lines[s.span.first - 1 : s.span.last]) + "\n" for s in tops)
            found += [symbols.parse("chunk.py", text) for text in texts]
    assert len(found) > 60
    return tuple(found)


def whole(module: Module) -> Span:
    return Span(1, len(module.lines))


def simple(module: Module) -> list[ast.stmt]:
    """Statements with no body of their own, which a note can quote and a deletion can take away."""
    kinds = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Expr, ast.Assert, ast.Delete)
    return [n for n in ast.walk(module.tree) if isinstance(n, kinds)]


def anchored(module: Module, node: ast.stmt) -> Anchor | None:
    """An anchor on a statement, quoted as it stands; None if that quote is not unique, so that no page could use it."""
    quote = ast.get_source_segment(module.text, node) or ""
    if "#" in quote or '"""' in quote:
        return None
    span = Span(node.lineno, node.end_lineno or node.lineno)
    home = anchor.innermost(module, span)
    within = home.owned if home else whole(module)
    if anchor.quoted(module, within, quote, None) != [span]:
        return None
    return anchor.anchor(module, span, quote)


def drawn(data: st.DataObject) -> tuple[Module, ast.stmt, Anchor]:
    """A pinned class or function, one of its statements, and the anchor on it."""
    module = data.draw(st.sampled_from(chunks()), label="chunk")
    node = data.draw(st.sampled_from(simple(module)))
    note = anchored(module, node)
    assume(note is not None)
    assert note is not None
    return module, node, note


def at(module: Module, span: Span) -> list[str]:
    """What the statements that begin in `span` mean, as `ast.dump` tells it."""
    return [ast.dump(n) for n in simple(module) if span.first <= n.lineno <= span.last]


def consistent(found: Resolution) -> bool:
    """A result is one place, or an error with none."""
    return (found.span is None) == (found.kind in {"ambiguous", "lost"})


@given(st.data())
def test_an_untouched_file_is_unchanged(data):
    module, node, note = drawn(data)
    found = anchor.resolve(note, module)
    assert found.kind == "unchanged"
    assert found.span == Span(node.lineno, node.end_lineno or node.lineno)


@given(st.data())
def test_another_layout_is_no_drift(data):
    """`ast.unparse` lays the whole file out anew and drops every comment."""
    module, node, note = drawn(data)
    again = symbols.parse("chunk.py", ast.unparse(module.tree) + "\n")
    found = anchor.resolve(note, again)
    assert found.kind == "unchanged"
    assert found.span is not None
    assert ast.dump(node) in at(again, found.span)


@given(st.data(), st.randoms(use_true_random=False))
def test_comments_and_blank_lines_are_no_drift(data, chance: random.Random):
    module, node, note = drawn(data)
    inside = module.in_strings
    lines: list[str] = []
    for number, line in enumerate(module.lines, 1):
        if number not in inside and not _continues(module, number):
            lines += chance.choice([[], [], ["", "# " + line.strip()], [""], ["# note", "# again"]])
        lines.append(line)
    again = symbols.parse("chunk.py", "\n".join(lines) + "\n")
    found = anchor.resolve(note, again)
    assert found.kind == "unchanged"
    assert found.span is not None
    assert at(again, found.span) == at(module, Span(node.lineno, node.end_lineno or node.lineno))


def _continues(module: Module, line: int) -> bool:
    """Whether a backslash joins this line to the one before."""
    return line > 1 and module.lines[line - 2].endswith("\\")


@given(st.data(), st.integers(1, 40))
def test_code_above_moves_only_the_span(data, count):
    module, node, note = drawn(data)
    above = "".join(f"inserted_{n} = {n}\n" for n in range(count))
    found = anchor.resolve(note, symbols.parse("chunk.py", above + module.text))
    assert found.kind == "unchanged"
    assert found.span == Span(node.lineno + count, (node.end_lineno or node.lineno) + count)


@given(st.data())
def test_deleted_code_is_lost_and_never_attached_elsewhere(data):
    module, node, note = drawn(data)
    indent = " " * node.col_offset
    lines = list(module.lines)
    lines[node.lineno - 1 : node.end_lineno] = [f"{indent}pass"]
    if ";" in module.lines[node.lineno - 1] or not module.lines[node.lineno - 1].startswith(
        indent + module.lines[node.lineno - 1].strip()[:1]
    ):
        return  # a body on its header's line cannot be cut out by lines
    found = anchor.resolve(note, symbols.parse("chunk.py", "\n".join(lines) + "\n"))
    assert (found.kind, found.span) == ("lost", None)


@given(st.data())
def test_a_deleted_symbol_takes_its_notes_with_it(data):
    module, _, note = drawn(data)
    home = next(s for s in module.symbols if s.selector == note.symbol)
    lines = list(module.lines)
    lines[home.span.first - 1 : home.span.last] = [" " * home.node.col_offset + "pass"]
    found = anchor.resolve(note, symbols.parse("chunk.py", "\n".join(lines) + "\n"))
    assert (found.kind, found.span) == ("lost", None)


@given(st.data())
def test_repeated_code_is_ambiguous_and_never_a_guess(data):
    module, node, note = drawn(data)
    if not _own_line(module, node):
        return
    lines = list(module.lines)
    lines[node.lineno - 1 : node.lineno - 1] = lines[node.lineno - 1 : node.end_lineno]
    found = anchor.resolve(note, symbols.parse("chunk.py", "\n".join(lines) + "\n"))
    assert (found.kind, found.span) == ("ambiguous", None)
    assert len(found.candidates) >= 2


def _own_line(module: Module, node: ast.stmt) -> bool:
    return not module.lines[node.lineno - 1][: node.col_offset].strip()


@given(st.data())
def test_a_renamed_symbol_is_found_if_nothing_else_looks_like_it(data):
    module, node, note = drawn(data)
    home = next(s for s in module.symbols if s.selector == note.symbol)
    line = home.node.lineno - 1
    lines = list(module.lines)
    lines[line] = lines[line].replace(f" {home.name}", f" {home.name}_anew", 1)
    again = symbols.parse("chunk.py", "\n".join(lines) + "\n")
    found = anchor.resolve(note, again)
    assert consistent(found)
    if found.span is not None:
        assert ast.dump(node) in at(again, found.span)
    if not note.body_twins and not _calls_itself(home):
        assert (found.kind, found.symbol.rpartition(".")[2]) == ("renamed", f"{home.name}_anew")


def _calls_itself(home: symbols.Symbol) -> bool:
    return any(isinstance(n, ast.Name) and n.id == home.name for n in ast.walk(home.node))


@settings(max_examples=60)
@given(st.data(), st.randoms(use_true_random=False))
def test_whatever_happens_to_a_file_a_note_is_at_one_place_or_none(data, chance: random.Random):
    """Lines are dropped, doubled and swapped; a note that is called unchanged stands on the statement it quoted."""
    module, node, note = drawn(data)
    lines = list(module.lines)
    for _ in range(chance.randint(1, 4)):
        where = chance.randrange(len(lines))
        lines[where : where + 1] = chance.choice([[], [lines[where]] * 2, [lines[-1 - where]], [lines[where], "x = 1"]])
    try:
        again = symbols.parse("chunk.py", "\n".join(lines) + "\n")
        found = anchor.resolve(note, again)
    except symbols.BadInput:
        return
    assert consistent(found)
    if found.kind in {"unchanged", "moved", "renamed"} and found.span is not None:
        assert ast.dump(node) in at(again, found.span)


MOVES = [
    (
        "a method that moves to another class",
        "class A:\n  def fill(self, x):\n    y = x + self.size * 2\n    return y\nclass B:\n  pass\n",
        "class A:\n  pass\nclass B:\n  def fill(self, x):\n    y = x + self.size * 2\n    return y\n",
        ("moved", "B.fill", Span(5, 5)),
    ),
    (
        "a method that moves and is edited elsewhere",
        "class A:\n  def fill(self, x):\n    y = x + self.size * 2\n    return y\nclass B:\n  pass\n",
        "class A:\n  pass\nclass B:\n  def fill(self, x):\n    y = x + self.size * 2\n    return y + 1\n",
        ("moved", "B.fill", Span(5, 5)),
    ),
    (
        "a statement that is edited",
        "def f(x):\n  y = x + 2\n  return y\n",
        "def f(x):\n  y = x + 2 if x else 0\n  return y\n",
        ("edited", "f", Span(2, 2)),
    ),
    (
        "a long statement that moves into a helper",
        "def f(x, y, z):\n  total = g(x) + h(y) * k(z) - 1\n  return total\n",
        "def helper(x, y, z):\n  total = g(x) + h(y) * k(z) - 1\n  return total\ndef f(*a):\n  return helper(*a)\n",
        ("moved", "helper", Span(2, 2)),
    ),
    (
        "a short statement that stands elsewhere now",
        "def f(x):\n  y = 1\n  return x\n",
        "def f(x):\n  return x\ndef g():\n  y = 1\n",
        ("lost", "", None),
    ),
    (
        "a function split in two, with the statement in both",
        "def f(x, y, z):\n  total = g(x) + h(y) * k(z) - 1\n  return total\n",
        "def f1():\n  total = g(x) + h(y) * k(z) - 1\n  return 1\ndef f2():\n  total = g(x) + h(y) * k(z) - 1\n",
        ("ambiguous", "", None),
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), [m[1:] for m in MOVES], ids=[m[0] for m in MOVES])
def test_a_statement_is_followed_where_the_evidence_is_enough(old, new, expected):
    module = symbols.parse("m.py", textwrap.dedent(old))
    quoted = next(line.strip() for line in old.splitlines() if line.strip().startswith(("y =", "total =")))
    span = anchor.quoted(module, whole(module), quoted, None)[0]
    found = anchor.resolve(anchor.anchor(module, span, quoted), symbols.parse("m.py", new))
    assert (found.kind, found.symbol, found.span) == expected


def test_a_range_runs_from_one_quote_to_the_next_match_of_the_other():
    module = symbols.parse("m.py", "def f(x):\n  if x:\n    return 1\n  y = 2\n  return y\n")
    assert anchor.quoted(module, whole(module), "if x:", "return 1") == [Span(2, 3)]
    assert anchor.quoted(module, whole(module), "if x:", "return") == [Span(2, 3)]
    assert anchor.quoted(module, whole(module), "y = 2", "return 1") == []


def test_a_statement_is_counted_with_its_twins():
    module = symbols.parse("m.py", "def f():\n  x = 1\ndef g():\n  x = 1\n")
    note = anchor.anchor(module, Span(2, 2), "x = 1")
    assert (note.statement_twins, note.body_twins, note.name_twins) == (1, 1, 0)
    assert note.statements == (next(iter(fingerprints.statements(ast.parse("x = 1")))).fingerprint,)
