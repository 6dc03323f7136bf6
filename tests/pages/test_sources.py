"""Source pages: every symbol of a file has a role, and the whole file is there."""

from __future__ import annotations

import dataclasses
import re

import pytest

from tests.pages.helpers import KINDS, PAGE, ROOT, context, dom, errors_of, library
from track.anchors import symbols
from track.errors import TrackError
from track.pages import coverage
from track.pages.document import read
from track.pages.layout import Bound, bind
from track.pages.locks import Lock
from track.pages.registered import role_by_decorator
from track.pages.sources import ROWS, Role, outline, plain, spoken
from track.pages.weave import weave

RULES = '''\
# A license.

import abc

TABLE = {}


# What leads.
@register_discharge_rule(lax.load_p)
def load_rule(ctx):
    def inner():
        return ctx

    return inner


class Shape(abc.ABC):
    """A shape, of ``two`` sides.  It has <more> to say.

    Later.
    """

    sides: int = 2

    def __len__(self):
        return 2

    def area(self):
        return 1


@typing.overload
def cut(shape: int): ...


def cut(shape):
    return shape
'''

ROLES = "- `Shape.area` What it covers of the *page*.\n- `cut`\n  Takes a part away."
PATH = "pkg/rules.py"


def page(items: str = ROLES, target: str = PATH) -> str:
    return f"---\nfile: {PATH}\n---\n\n# rules.py\n\nAbout.\n\n```source\n{target}\n```\n\n{items}\n"


def bound(folder, text: str) -> Bound:
    return bind(read(PAGE, text, KINDS), library(folder, {PATH: RULES}).module, Lock())


def refused(folder, items: str) -> str:
    with pytest.raises(TrackError) as caught:
        bound(folder, page(items))
    return "\n".join(map(str, errors_of(caught.value)))


def test_a_role_comes_from_the_docstring_the_decorator_or_the_page(tmp_path):
    (listing,) = bound(tmp_path, page()).listings
    assert [(role.symbol.qualname, role.text, role.origin) for role in listing.roles] == [
        ("load_rule", "Discharges `load_p`: rewrites it with arrays in place of references.", "decorator"),
        ("Shape", "A shape, of ``two`` sides.", "docstring"),
        ("Shape.area", "What it covers of the *page*.", "page"),
        ("cut", "Takes a part away.", "page"),
    ]


def test_symbols_without_a_role_are_listed_together(tmp_path):
    said = refused(tmp_path, "- `cut` Takes a part away.\n- `Shape.area` ")
    assert "a note that says nothing" in said
    said = refused(tmp_path, "")
    assert "2 symbols without a role" in said
    assert "Shape.area, line 28–29" in said
    assert "cut, line 36–37" in said


@pytest.mark.parametrize(
    ("item", "complaint"),
    [
        ("- `Shape` Has sides.", "its docstring says: A shape"),
        ("- `load_rule` Loads.", "its decorator says: Discharges"),
        ("- `TABLE` Holds.", "a symbol that needs no role"),
        ("- `load_rule.inner` Is inside.", "a symbol that needs no role"),
        ("- `Shape.__len__` Counts.", "a symbol that needs no role"),
        ("- `nothing` Is not there.", "no such symbol"),
        ("- `cut` … `Shape` From here to there.", "no such symbol"),
        ("- `cut` Again.", "one symbol or one role"),
        ("- `load_rule.inner` takes A part  away.", "one symbol or one role"),
    ],
)
def test_a_role_that_nobody_asks_for_is_an_error(tmp_path, item, complaint):
    assert complaint in refused(tmp_path, f"{ROLES}\n{item}")


def test_a_source_shows_a_whole_file(tmp_path):
    with pytest.raises(TrackError, match="a source that names a symbol"):
        bound(tmp_path, page(target=f"{PATH}  Shape"))


def test_coverage_counts_every_line_as_shown(tmp_path):
    module = library(tmp_path, {PATH: RULES}).module(PATH)
    row = coverage.measure(bound(tmp_path, page()), module)
    assert (row.shown, row.folded, row.unaccounted, row.longest_run) == (len(RULES.splitlines()), 0, 0, 0)


@pytest.fixture
def html(tmp_path):
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    (tmp_path / "docs").mkdir()
    sources = library(tmp_path / "sources", {PATH: RULES})
    site = dataclasses.replace(context(tmp_path), library=sources)
    return dom(weave(bound(tmp_path, page()), site))


def test_the_outline_names_every_symbol_with_its_lines_and_role(html):
    rows = [[row.css_first(part).text() for part in ("a", "small")] for row in html.css(".src-outline li")]
    assert rows == [
        ["load_rule", "8–14"],
        ["Shape", "17–29"],
        ["area", "28–29"],
        ["cut", "36–37"],
    ]
    assert [row.text().partition(" ")[2] for row in html.css(".src-outline li")] == [
        "Discharges load_p: rewrites it with arrays in place of references.",
        "A shape, of two sides.",
        "What it covers of the page.",
        "Takes a part away.",
    ]
    assert [link.attributes["href"] for link in html.css(".src-outline a")] == [
        "#load_rule",
        "#Shape",
        "#Shape.area",
        "#cut-2",
    ]
    assert html.css(".src-outline em")[0].text() == "page"


def test_a_long_outline_is_cut_into_lists_whose_height_the_style_sheet_knows():
    text = "".join(f"def f{n}(): ...\n" for n in range(2 * ROWS + 3))
    found = [Role(symbol, "", "page") for symbol in symbols.parse(PATH, text).symbols]
    lists = dom(outline(found, lambda _: "")).css("nav.src-outline > ul")
    assert [len(part.css("li")) for part in lists] == [ROWS, ROWS, 3]
    css = (ROOT / "docs" / "assets" / "source.css").read_text()
    row = 1.5 * 0.68 + 2 * 0.15  # line height, size and padding, in rem
    heights = [float(rem) for rem in re.findall(r"not\(:last-child\) {[^}]*-height: auto ([\d.]+)rem", css)]
    assert heights[0] == pytest.approx(ROWS * row)


def test_every_line_is_there_once_in_order_and_every_outline_link_has_its_place(html):
    lines = [node.attributes["id"] for node in html.css(".lst u[id]")]
    assert lines == [f"L{n}" for n in range(1, len(RULES.splitlines()) + 1)]
    ids = {node.attributes["id"] for node in html.css("[id]")}
    assert {link.attributes["href"].removeprefix("#") for link in html.css(".src-outline a")} <= ids


def test_each_symbol_of_the_top_level_is_a_fold_with_its_role(html):
    folds = [fold.css_first("summary") for fold in html.css("details.lst-fold")]
    assert [fold.css_first("code").text() for fold in folds] == ["load_rule", "Shape", "cut"]
    assert [fold.css_first(".lst-role").text() for fold in folds] == [
        "Discharges load_p: rewrites it with arrays in place of references.",
        "A shape, of two sides.",
        "Takes a part away.",
    ]
    assert "TABLE = {}" in "".join(part.text() for part in html.css(".lst > .lst-body > .lst-row pre.lst-off"))


def rule(decorators: str, path: str = "jax/_src/pallas/mosaic/lowering.py") -> str | None:
    (symbol,) = symbols.parse(path, f"{decorators}\ndef rule(ctx):\n  return ctx\n").symbols
    return role_by_decorator(symbol, path)


@pytest.mark.parametrize(
    ("decorators", "role"),
    [
        ("@register_lowering_rule(lax.dot_general_p)", "Lowers `dot_general_p` on the TensorCore."),
        ("@register_lowering_rule(a.x_p, kernel_types=[*tpu_core.CoreType])", "Lowers `x_p` on every kind of core."),
        ("@register_lowering_rule(x_p, kernel_types=[C.TC, C.SC])", "Lowers `x_p` on `TC` and `SC`."),
        ("@register_lowering_rule(x_p)\n@register_lowering_rule(y_p)", "Lowers `x_p` and `y_p` on the TensorCore."),
        ("@register_lowering_rule(x_p, kernel_types=all_of_them)", None),
        ("@x_p.def_abstract_eval", "Says, while tracing, which shapes and dtypes `x_p` returns."),
        ("@functools.cache", None),
        ("@register_lowering_rule", None),
    ],
)
def test_a_decorator_that_registers_a_rule_says_what_it_is_for(decorators, role):
    assert rule(decorators) == role


def test_only_the_rules_for_a_tpu_speak_of_cores():
    assert rule("@register_lowering(lax.min_p)", "jax/_src/pallas/triton/lowering.py") == "Lowers `min_p`."


def test_what_upstream_says_is_no_markdown_and_no_html():
    assert (
        plain("Like :func:`~jax.vmap`, *not* <b>, ``x``.")
        == "Like <code>jax.vmap</code>, *not* &lt;b&gt;, <code>x</code>."
    )


def test_spoken_leaves_out_what_a_reader_would_not_look_for(tmp_path):
    module = library(tmp_path, {PATH: RULES}).module(PATH)
    assert [symbol.selector for symbol in spoken(module)] == ["load_rule", "Shape", "Shape.area", "cut (2 of 2)"]
