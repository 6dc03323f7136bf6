"""Weaving a whole page: fences replaced, prose filled, everything else as it was written."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages.helpers import PAGE, ROOT, bound, context, document, dom, errors_of, listing
from track.errors import TrackError
from track.facts.catalog import Fact
from track.pages.context import Context
from track.pages.document import Fence
from track.pages.layout import Bound
from track.pages.path import track
from track.pages.plan import Phase, Planned
from track.pages.weave import weave

FACTS = {"box.lines": Fact("box.lines", 1234, "lines", "here")}


def empty_track(site):
    """What a fence becomes where nothing is planned, which these tests look for in its place."""
    return track(Fence("track", (), {}, (), 1, 1), site).strip()


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    shutil.copy(ROOT / "mkdocs.yml", root)
    (root / "docs").mkdir()
    return root


@pytest.fixture(scope="module")
def site(root) -> Context:
    return context(root, facts=FACTS)


def woven(site: Context, page: str) -> str:
    return weave(bound(site.root / "sources", page), site)


def refused(site: Context, page: str) -> TrackError:
    with pytest.raises(TrackError) as caught:
        woven(site, page)
    return caught.value


def test_prose_around_a_fence_stays_in_its_place(site):
    assert (
        woven(site, "# Head\n\nOne.\n\n```track\n```\n\nTwo.\n") == f"# Head\n\nOne.\n\n{empty_track(site)}\n\nTwo.\n"
    )


def test_the_list_of_a_listing_becomes_its_notes_and_is_no_list_any_more(site):
    text = woven(site, "Before.\n\n" + listing("Box.fill", "", "- `self.size += amount` Adds.", "") + "\nAfter.\n")
    assert "- `self.size" not in text
    assert text.startswith('Before.\n\n<div class="lst-file"')
    assert text.endswith("</div>\n\nAfter.\n")
    assert dom(text).css_first(".lst-note p").text() == "Adds."


def test_notes_and_folds_have_facts_formulas_and_markdown(site):
    page = listing(
        "Box", "- `self.size += amount` *{{ box.lines }}* \\( x \\)", "- fold `def empty` Of `{{ box.lines }}`."
    )
    parsed = dom(woven(site, page))
    assert parsed.css_first(".lst-note em").text() == "1,234"
    assert parsed.css_first(".lst-note math").text() == "x"
    assert parsed.css_first(".lst-role code").text() == "1,234"


def test_source_code_is_never_filled(tmp_path):
    text = weave(
        bound(tmp_path, listing(""), box='X = "{{ box.lines }} \\\\( a \\\\)"\n'), context(tmp_path, facts=FACTS)
    )
    assert "{{ box.lines }}" in text


def test_a_page_of_one_file_shows_its_license_once(site):
    parsed = dom(woven(site, listing("Box.fill") + "\n" + listing("Box.empty")))
    assert len(parsed.css("details.lst-license")) == 1


def test_front_matter_is_filled_and_kept_but_for_what_is_ours(site):
    text = woven(site, "---\ndescription: All {{ box.lines }} lines.\nfile: pkg/box.py\n---\n\n# Head\n")
    assert text == "---\ndescription: All 1,234 lines.\nhide:\n  - navigation\n---\n\n# Head\n"


def test_all_errors_of_a_page_are_said_at_once_with_their_lines(site):
    page = "{{ one }}\n\n```track\nx: y\n```\n\nText {{ two }}\n\n" + listing(
        "Box.fill", "- `self.size += amount`\n\n  {{ no }}"
    )
    places = [error.details["page"] for error in errors_of(refused(site, page))]
    assert places == [f"{PAGE}:{line}" for line in (1, 3, 7, 12)]


def test_a_missing_page_in_a_note_is_an_error_with_the_line_of_the_note(site):
    error = refused(site, "\n" + listing("Box.fill", "- `self.size += amount` [x](gone.md)"))
    assert error.details == {"page": f"{PAGE}:5", "link": "gone.md"}


def test_weaving_twice_makes_the_same_bytes(site):
    page = listing("Box", "- `self.size += amount` x", options="fold: docstrings")
    assert woven(site, page) == woven(site, page)


def test_the_track_links_what_is_written_and_names_what_is_planned(root):
    pages = (Planned("start/a.md", "article", "A <b>"), Planned("start/b.md", "lab", "B"))
    (root / "docs" / "start").mkdir()
    (root / "docs" / "start" / "a.md").write_text("# A\n")
    base = context(root)
    site = Context(root, base.library, {}, base.evidence, (Phase("Start & go", "You can.", pages),))
    parsed = dom(woven(site, "```track\n```\n"))
    assert parsed.css_first("a").attributes["href"] == "start/a.html"
    assert parsed.css_first("a").text() == "A <b>"
    assert [node.text() for node in parsed.css(".planned")] == ["B"]
    assert parsed.css_first(".done").text() == "1 of 2 written, 1 min"


PIECES = ["word", "*two*", "`co de`", "- item", "1. item", "> said", "<b>x</b>", "a | b", "# Head", "é…"]
PARAGRAPHS = st.lists(st.lists(st.sampled_from(PIECES), min_size=1).map("\n".join), min_size=1, max_size=5)


@given(PARAGRAPHS)
def test_text_outside_of_fences_survives(site, paragraphs):
    page = "\n\n```track\n```\n\n".join(paragraphs) + "\n"
    expected = f"\n\n{empty_track(site)}\n\n".join(paragraphs) + "\n"
    assert weave(Bound(document(page), ()), site) == expected


@given(st.lists(st.sampled_from(["a", "", "    code", "```", "- x", "  y", "{ {", "\\", "|", "<p>"])).map("\n".join))
def test_a_page_with_no_fence_of_ours_is_itself(site, text):
    assert weave(Bound(document(text), ()), site).strip("\n") == text.strip("\n")
