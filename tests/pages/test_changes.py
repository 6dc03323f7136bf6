"""The fence that shows what changed, with comparisons made by hand."""

from __future__ import annotations

import markdown
import pytest

from tests.pages.helpers import ROOT, context, document, dom
from track.drift import history
from track.drift.changes import (
    Changes,
    DoorChange,
    FactChange,
    FileChange,
    Place,
    Side,
    SymbolChange,
    TableChange,
)
from track.errors import BadEnvironment, BadInput
from track.pages.directives import DIRECTIVES

OLD, NEW = "a" * 40, "b" * 40
REPOSITORY = "https://example.org/pkg"
FILE = FileChange(
    "pkg/new.py",
    "moved",
    "pkg/old.py",
    10,
    12,
    {},
    (
        SymbolChange("added", None, Place("pkg/new.py", "made", 1, 3)),
        SymbolChange("removed", Place("pkg/old.py", "gone", 4, 4), None, like=("gone_again",)),
        SymbolChange("changed", Place("pkg/old.py", "Box.fill", 5, 7), Place("pkg/new.py", "Box.fill", 6, 9)),
        SymbolChange("moved", Place("pkg/other.py", "far", 1, 1), Place("pkg/new.py", "far", 10, 11), is_edited=True),
    ),
)
STEP = Changes(
    "pkg",
    REPOSITORY,
    Side("1.0", OLD),
    Side("2.0", NEW),
    (FILE, FileChange("pkg/quiet.py", "changed", "", 3, 4, {}, ())),
    (DoorChange("pkg/api/__init__.py", ("fresh",), ("stale",), ("dusty",), ()),),
    (
        TableChange("Triton", 2, 2, ("exp",), ("log",), {"exp": "hasattr(dialect, 'exp')"}),
        TableChange("TPU TC", 7, 7, (), (), {}),
    ),
    (FactChange("pipeline.lines", "lines of <it>", 10, None, "gone"),),
)
BEFORE = Changes("pkg", REPOSITORY, Side("0.9", None), Side("1.0", OLD), (), (), (), ())
PAGE = "```changes\nproject: pkg\n```\n"


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """The fence as HTML, as a site's Markdown extensions make it."""
    monkeypatch.setattr(history, "steps", lambda *_: (STEP, BEFORE))
    (fence,) = document(PAGE, frozenset({"changes"})).fences
    text = DIRECTIVES["changes"](fence, context(tmp_path))
    return dom(markdown.markdown(text, extensions=["attr_list", "md_in_html", "tables"]))


def texts(shown, selector: str) -> list[str]:
    return [" ".join(node.text().split()) for node in shown.css(selector)]


def test_each_step_has_a_section_the_newest_first_and_a_row_that_leads_there(shown):
    assert texts(shown, "h3") == ["pkg 1.0 → 2.0, ahead of the pin", "pkg 0.9 → 1.0"]
    anchors = [node.attributes["id"] for node in shown.css("h3")]
    assert [node.attributes["href"] for node in shown.css("table td a")][:2] == [f"#{name}" for name in anchors]
    row = texts(shown, "table tbody tr:first-child td")[:8]
    assert row == ["1.0 → 2.0", "2", "1", "1", "1", "1", "+1 −1", "+1 −1"]


def test_public_names_that_came_and_went_are_told(shown):
    (item,) = [text for text in texts(shown, "li") if text.startswith("pkg.api")]
    assert item == "pkg.api: new fresh; gone stale; deprecated dusty"


def test_the_rules_that_changed_are_told_with_what_they_depend_on(shown):
    items = texts(shown, "li")
    assert "Triton, 2 → 2: gained exp; lost log; exp only where hasattr(dialect, 'exp')" in items
    assert "As before: TPU TC (7)." in items


def test_every_definition_has_its_lines_at_both_commits(shown):
    items = {node.css_first("code").text(): node for node in shown.css("details.chg li")}
    assert list(items) == ["made", "gone", "far", "Box.fill"]
    links = {name: [a.attributes["href"] for a in node.css("a")] for name, node in items.items()}
    assert links["Box.fill"] == [
        f"{REPOSITORY}/blob/{OLD}/pkg/old.py#L5-L7",
        f"{REPOSITORY}/blob/{NEW}/pkg/new.py#L6-L9",
    ]
    assert links["made"] == [f"{REPOSITORY}/blob/{NEW}/pkg/new.py#L1-L3"]
    assert links["gone"] == [f"{REPOSITORY}/blob/{OLD}/pkg/old.py#L4"]
    assert "alike: gone_again" in items["gone"].text()


def test_what_is_elsewhere_is_told_with_both_places(shown):
    items = texts(shown, "li")
    assert "pkg/old.py is pkg/new.py." in items
    assert "far in pkg/other.py is far in pkg/new.py, and changed." in items


def test_a_file_without_a_definition_that_differs_says_so(shown):
    assert "pkg/quiet.py no definition differs" in texts(shown, "details.chg p")


def test_facts_that_differ_are_a_table_and_text_is_shown_not_read(shown):
    assert texts(shown, "details.chg table tbody td") == ["pipeline.lines", "lines of <it>", "10", "–"]


def test_commits_are_linked_and_a_wheel_that_names_none_says_so(shown):
    paragraphs = texts(shown, "p")
    assert "From commit aaaaaaa to bbbbbbb; all that lies between, outside of Pallas too." in paragraphs
    assert "The wheel of pkg 0.9 names no commit, so nothing links to it." in paragraphs
    assert f"{REPOSITORY}/compare/{OLD}...{NEW}" in [a.attributes["href"] for a in shown.css("p a")]


def test_long_lists_are_folded_and_not_searched(shown):
    assert len(shown.css("section[data-search-exclude] > details.chg")) == len(shown.css("details.chg")) == 2
    assert not shown.css("details[open]")


def test_an_unknown_project_is_bad_input_with_the_page(tmp_path):
    (fence,) = document("```changes\nproject: other\n```\n", frozenset({"changes"})).fences
    with pytest.raises(BadInput, match="no pinned project 'other'") as caught:
        DIRECTIVES["changes"](fence, context(tmp_path))
    assert caught.value.details["expected"] == "pkg"


def test_a_wheel_that_cannot_be_had_names_the_page(tmp_path, monkeypatch):
    def steps(*_: object):
        raise BadEnvironment("the wheel of pkg 1.0 is not here and could not be downloaded")

    monkeypatch.setattr(history, "steps", steps)
    page = document(PAGE, frozenset({"changes"}))
    with pytest.raises(BadEnvironment, match="could not be downloaded") as caught:
        DIRECTIVES["changes"](page.fences[0], context(tmp_path).on(page))
    assert caught.value.details["page"] == "docs/tpu/page.md:1"


def test_the_page_asks_for_every_pinned_project():
    text = (ROOT / "docs" / "reference" / "what-changed.md").read_text("utf-8")
    found = document(text, frozenset({"changes"})).fences
    assert [fence.options["project"] for fence in found if fence.kind == "changes"] == ["jax", "tokamax"]
