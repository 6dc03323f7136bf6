"""Highlighting adds color and nothing else."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages.helpers import BOX, dom, pinned
from track.anchors import symbols
from track.errors import BadInput
from track.pages.highlight import highlighted, linked

PINNED = (
    "jax/_src/pallas/mosaic/pipeline.py",
    "jax/_src/pallas/core.py",
    "jax/_src/pallas/pallas_call.py",
    "jax/_src/pallas/mosaic/lowering.py",
    "tokamax/_src/ops/op.py",
)
TAG = re.compile(r"<i class=([a-z])>|</i>")
PIECES = st.sampled_from([
    "x = 1", '"""a\n  b\n"""', "'<b>&amp;</b>'", "# <i>", "f(a & b)", "", "  ", "s = f'{x!r:>{3}}'", "\t", "a < b > c",
    "@deco\ndef f(): pass", "class A: pass", "lambda: 0x1F", "'''\n\n<script>'''", "x = (\n\n  1)", "s = 'Ü…'", "\x0c",
    "not x in y", "async def g(): await f()", "match x:\n  case [1]: pass", "s = r'\\d'", "print(None, True)",
])  # fmt: skip


def plain(line: str) -> str:
    return html.unescape(TAG.sub("", line))


def balanced(line: str) -> bool:
    """Every element is closed on its own line, and none is inside another."""
    return re.fullmatch(r"(?:[^<]|<i class=[a-z]>[^<]*</i>)*", line) is not None


@pytest.mark.parametrize("path", PINNED)
def test_without_its_tags_every_line_of_a_pinned_file_is_itself(path):
    module = pinned().module(path)
    lines = highlighted(module)
    assert [plain(line) for line in lines] == module.text.removesuffix("\n").split("\n")
    assert all(balanced(line) for line in lines)


def test_no_file_has_more_than_six_classes():
    lines = (line for path in PINNED for line in highlighted(pinned().module(path)))
    assert {kind for line in lines for kind in TAG.findall(line) if kind} == set("bcfkms")


@given(st.lists(PIECES, max_size=8).map("\n".join))
def test_without_its_tags_every_line_of_any_source_is_itself(text):
    try:
        module = symbols.parse("a.py", text)
    except BadInput:
        return
    assert [plain(line) for line in highlighted(module)] == list(module.lines)


def test_a_string_over_several_lines_is_one_on_every_line():
    module = symbols.parse("a.py", 'x = """one\n\n  two"""\n')
    assert highlighted(module) == ('x = <i class=s>"""one</i>', "", '<i class=s>  two"""</i>')


def test_markup_in_source_is_only_text():
    line = next(text for text in highlighted(symbols.parse("a.py", BOX)) if "alert" in text)
    assert "<script>" not in line
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in line


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ("# why", "c", "# why"),
        ("x = 'a'", "s", "'a'"),
        ("x = 12", "m", "12"),
        ("return_ = None if x else y", "k", "if"),
        ("a and b", "k", "and"),
        ("def fill(): pass", "f", "fill"),
        ("class Box: pass", "f", "Box"),
        ("len(x)", "b", "len"),
    ],
)
def test_what_is_colored(code, kind, text):
    (line,) = highlighted(symbols.parse("a.py", code))
    assert re.search(rf"<i class={kind}>[^<]*\b{text}\b|<i class={kind}>{text}", line)


def known(**addresses):
    """A linker that knows these names, with `_` for a dot."""
    return lambda name, _: addresses.get(name.replace(".", "_"))


def anchors(line: str) -> list[tuple[str, str]]:
    return [(node.text(), node.attributes["href"]) for node in dom(f"<pre>{line}</pre>").css("a")]


@pytest.mark.parametrize(
    ("code", "links"),
    [
        ("x = a.b.c(a.b, d).a.b", [("a.b", "#ab"), ("a.b", "#ab"), ("d", "#d")]),
        ("f(d=1, e=d)", [("d", "#d")]),
        ("d = 1", []),
        ("def d(a): pass", []),
        ("x = 'd'  # d", []),
        ("x = f'{d}'", [("d", "#d")]),
        ("from x import d as e, d", [("d", "#d")]),
        ("x = 'ÜÜ', d", [("d", "#d")]),
        ("@d\nclass A(d): ...", [("d", "#d"), ("d", "#d")]),
        ("x = (d.\n  b)", []),
        ("x = d . b", []),
    ],
)
def test_names_that_are_read_are_links_and_nothing_else_is(code, links):
    module = symbols.parse("a.py", code)
    lines = [linked(module, n, known(a_b="#ab", d="#d")) for n in range(1, len(module.lines) + 1)]
    assert [found for line in lines for found in anchors(line)] == links
    assert [dom(f"<pre>{line}</pre>").css_first("pre").text() for line in lines] == list(module.lines)


def test_a_link_is_one_element_and_keeps_its_color():
    assert (
        linked(symbols.parse("a.py", "len(x)"), 1, known(len="a&b"))
        == '<a href="a&amp;b" tabindex=-1 class=b>len</a>(x)'
    )


@pytest.mark.parametrize("path", PINNED)
def test_with_every_name_a_link_every_line_of_a_pinned_file_is_itself(path):
    module = pinned().module(path)
    lines = [linked(module, n, lambda name, _: "#" + name) for n in range(1, len(module.lines) + 1)]
    assert sum(line.count("<a ") for line in lines) > len(lines) / 3
    assert [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in lines] == list(module.lines)
