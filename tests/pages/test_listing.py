"""A listing as HTML: every line once, with its number, and what was said of it right after it."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pages.helpers import BOX, COMMIT, ROOT, bound, dom, library, listing
from track.pages.document import Fence
from track.pages.ids import Ids
from track.pages.layout import Fold, Listing
from track.pages.listing import PART, RUNS, render, render_header
from track.pages.notes import renderer
from track.spans import Span

PAGE = listing(
    "Box",
    "- `self.size += amount` Adds.",
    "- `if self.size > LIMIT:` Compares.",
    "- `raise ValueError` Refuses.",
    "- fold `def empty` … `return self.size` Empties it.",
    options="fold: docstrings",
)
LINE = "pre u[id^=L]"
SHOWN = range(10, 28)
"""Lines of `Box`."""


def rendered(folder, page: str = PAGE, link=None):
    tree = library(folder).tree("pkg/box.py")
    ids = Ids()
    parts = [render(with_html(found), tree, ids, link) for found in bound(folder, page).listings]
    return dom("<main>" + "\n".join(parts) + "</main>")


def with_html(found: Listing) -> Listing:
    """The listing with its roles as HTML, as weaving makes it of them."""
    folds = (dataclasses.replace(fold, role=fold.role and f"<p>{fold.role}</p>") for fold in found.folds)
    return dataclasses.replace(found, folds=tuple(folds))


@pytest.fixture
def html(tmp_path):
    return rendered(tmp_path)


def numbers(parsed) -> list[int]:
    return [int(node.attributes["id"][1:]) for node in parsed.css(LINE)]


def code_lines(parsed) -> list[str]:
    return [line for node in parsed.css("pre") for line in node.text().split("\n")]


def order(parsed, *selectors: str) -> list[int]:
    """Where the first match of each selector stands in the document."""
    everything = [node.mem_id for node in parsed.root.traverse()]
    return [everything.index(parsed.css_first(selector).mem_id) for selector in selectors]


def test_every_shown_line_stands_there_once_with_its_number(html):
    assert numbers(html) == list(SHOWN)


def test_every_line_is_the_source_and_no_more(html):
    assert code_lines(html) == BOX.splitlines()[9:27]


def test_the_address_of_a_line_is_no_tab_stop_and_holds_no_text(html):
    for node in html.css(LINE):
        assert set(node.attributes) == {"id"}
        assert not node.text()


def test_every_symbol_has_its_name_as_address_and_says_where_it_ends(html):
    marks = [(node.attributes["id"], int(node.attributes["data-to"])) for node in html.css("pre b")]
    assert marks == [("Box", 27), ("Box.size", 16), ("Box.fill", 23), ("Box.empty", 27)]


def test_a_symbol_stands_right_before_the_line_on_which_it_begins(html):
    assert html.css_first('[id="Box.fill"]').next.attributes["id"] == "L19"


def test_a_name_that_a_heading_has_already_is_no_second_address(tmp_path):
    (found,) = bound(tmp_path, listing("Box.fill")).listings
    parsed = dom(render(found, library(tmp_path).tree("pkg/box.py"), Ids({"Box.fill"})))
    assert parsed.css_first('[id="Box.fill"]') is None
    assert parsed.css_first("pre b").attributes["data-name"] == "Box.fill"


def test_names_of_a_file_that_defines_one_twice_tell_which(tmp_path):
    (found,) = bound(tmp_path, "```listing\npkg/twice.py\n```\n").listings
    parsed = dom(render(found, library(tmp_path).tree("pkg/twice.py"), Ids()))
    assert [node.attributes["id"] for node in parsed.css("pre b")] == ["pick-1", "pick-2"]


def test_a_name_that_leads_somewhere_is_a_link_and_no_tab_stop(tmp_path):
    asked = []

    def link(name, line):
        asked.append((name, line))
        return "other.html#LIMIT" if name == "LIMIT" else None

    links = rendered(tmp_path, link=link).css("pre a[href]")
    assert [(node.text(), node.attributes["href"]) for node in links] == [("LIMIT", "other.html#LIMIT")]
    assert links[0].attributes["tabindex"] == "-1"
    assert ("self.size", 20) not in asked  # it is written there, and not read
    assert {("self.size", 21), ("self", 21), ("LIMIT", 21), ("int", 16)} <= set(asked)


def test_no_id_occurs_twice(html):
    ids = [node.attributes["id"] for node in html.css("[id]")]
    assert len(ids) == len(set(ids))


def test_source_is_text_even_if_it_looks_like_markup(html):
    assert html.css_first("script") is None
    assert any("<script>alert(1)</script> & more" in line for line in code_lines(html))


def test_the_head_names_the_symbol_and_leads_to_the_lines_at_the_full_commit(html):
    head = html.css_first(".lst-head")
    assert head.css_first("b").text() == "Box"
    link = head.css_first("a")
    assert link.attributes["href"] == f"https://example.org/pkg/blob/{COMMIT}/pkg/box.py#L10-L27"
    assert link.text() == "pkg/box.py, lines 10–27"
    assert head.css_first(".lst-pin").text() == f"unmodified, file at commit {COMMIT[:7]}"


def test_the_head_spans_all_pieces_whatever_their_order(tmp_path):
    head = rendered(tmp_path, listing("pour\npkg/box.py  Box.fill")).css_first(".lst-head a")
    assert head.attributes["href"].endswith("#L18-L34")


@pytest.mark.parametrize(("said", "lines"), [("Adds.", (20, 20)), ("Compares.", (21, 21)), ("Refuses.", (22, 22))])
def test_a_note_follows_the_lines_that_it_speaks_of(html, said, lines):
    (note,) = (node for node in html.css(".lst-note") if said in node.text())
    first, place, after = order(html, f"#L{lines[0]}", f"#{note.attributes['id']}", f"#L{lines[1] + 1}")
    assert first < place < after


def test_the_lines_that_a_note_speaks_of_are_marked(html):
    marked = [node.attributes["id"] for node in html.css("pre.lst-on u[id]")]
    assert marked == ["L20", "L21", "L22"]


def test_a_note_leads_to_its_first_line(html):
    links = [node.attributes["href"] for node in html.css(".lst-note .lst-ref")]
    assert links == ["#L20", "#L21", "#L22"]


def test_a_note_takes_the_focus_and_is_no_tab_stop(html):
    controls = html.css(".lst-note, .lst-note .lst-ref")
    assert len(controls) == 6
    assert {node.attributes["tabindex"] for node in controls} == {"-1"}


def test_a_note_knows_all_its_lines(tmp_path):
    page = listing("Box", "- `self.size += amount` … `return self.size` Two.")
    note = rendered(tmp_path, page).css_first(".lst-note")
    assert (note.attributes["data-from"], note.attributes["data-to"]) == ("20", "23")


def test_notes_are_numbered_within_their_symbol(html):
    ids = [node.attributes["id"] for node in html.css(".lst-note")]
    assert ids == ["note-box-fill-1", "note-box-fill-2", "note-box-fill-3"]


def test_two_listings_of_a_page_share_no_id(tmp_path):
    page = listing("Box.fill", "- `self.size += amount` x") + "\n" + listing("Box.empty", "- `self.size = 0` y")
    ids = [node.attributes["id"] for node in rendered(tmp_path, page).css("[id]")]
    assert len(ids) == len(set(ids))


def test_a_line_whose_id_another_file_has_shows_its_number_and_its_note_leads_to_itself(tmp_path):
    """Two files of a page may both have a line 20."""
    (found,) = bound(tmp_path, listing("Box.fill", "- `self.size += amount` x")).listings
    ids, tree = Ids(), library(tmp_path).tree("pkg/box.py")
    parsed = dom(f"<main>{render(found, tree, ids)}{render(found, tree, ids)}</main>")
    known = [node.attributes["id"] for node in parsed.css("[id]")]
    assert len(known) == len(set(known))
    assert [node.attributes["data-n"] for node in parsed.css("pre u:not([id])")] == [f"L{n}" for n in range(18, 24)]
    one, other = parsed.css(".lst-note")
    assert one.css_first("a").attributes["href"] == "#L20"
    assert other.css_first("a").attributes["href"] == f"#{other.attributes['id']}"


def test_notes_on_one_line_stand_together(tmp_path):
    page = listing("Box", "- `self.size += amount` One.", "- `self.size += amount` … `return self.size` Two.")
    parsed = rendered(tmp_path, page)
    assert [node.text() for node in parsed.css(".lst-row .lst-note")] == ["20One.", "20–23Two."]
    assert len(parsed.css(".lst-notes")) == 1
    assert numbers(parsed) == list(SHOWN)


def test_a_fold_opens_without_a_script_and_says_what_it_hides_and_why(html):
    docstring, empty = html.css("details.lst-fold")
    assert docstring.css_first("summary").text() == "Docstring of Box 11–14"
    assert empty.css_first("summary").text() == "def empty … return self.size 25–27 Empties it."
    assert [node.attributes["id"] for node in empty.css(LINE)] == ["L25", "L26", "L27"]
    assert "open" not in empty.attributes


@pytest.mark.parametrize("role", ["One.\n\nTwo.", "- A list.", "See [this](https://example.org)."])
def test_what_is_more_than_words_stands_below_its_fold(tmp_path, role):
    """What opens a fold holds words alone: no block, and no second control."""
    (found,) = bound(tmp_path, listing("Box", "- fold `def empty` … `return self.size` x")).listings
    body = renderer(ROOT, "docs/tpu/page.md")(role, "here")
    found = dataclasses.replace(found, folds=tuple(dataclasses.replace(f, role=body) for f in found.folds))
    parsed = dom(render(found, library(tmp_path).tree("pkg/box.py"), Ids()))
    assert parsed.css_first("summary").text() == "def empty … return self.size 25–27"
    assert parsed.css_first(".lst-folded > div.lst-role").html == f'<div class="lst-role">{body}</div>'


def test_a_folded_fence_shows_each_symbol_closed_with_its_role(tmp_path):
    parsed = rendered(tmp_path, "```folded\npkg/box.py\n```\n\n- `pour` Pours.\n- `LIMIT` Limits.\n")
    assert [node.text() for node in parsed.css("summary")] == ["LIMIT 7 Limits.", "pour 30–34 Pours."]
    assert numbers(parsed) == [7, 30, 31, 32, 33, 34]
    assert all(node.css_first(LINE) for node in parsed.css("details"))


def test_a_whole_file_folds_each_symbol_with_the_blank_lines_after_it(tmp_path):
    folds = (Fold(Span(10, 27), "<p>Holds.</p>", "Box", 0), Fold(Span(30, 34), "<p>Pours.</p>", "pour", 4))
    fence = Fence("source", (), {}, (), 1, 1)
    whole = Listing(fence, library(tmp_path).module("pkg/box.py"), ("",), (Span(1, 34),), (), folds)
    parsed = dom(render(whole, library(tmp_path).tree("pkg/box.py"), Ids()))
    assert numbers(parsed) == list(range(1, 35))
    assert code_lines(parsed) == BOX.splitlines()
    assert [node.text() for node in parsed.css("summary")] == ["Box 10–27 Holds.", "pour 30–34 Pours."]
    assert [len(node.css(LINE)) for node in parsed.css("details")] == [20, 5]
    assert parsed.css_first(".lst-head b").text() == "box.py"


def whole_of(folder, lines: int, folded: range):
    """A file of this many lines as a whole page, of which these are folds of one line each."""
    text = "".join(f"x{n} = {n}\n" for n in range(1, lines + 1))
    folds = tuple(Fold(Span(n, n), "<p>One.</p>", f"x{n}", 0) for n in folded)
    sources = library(folder, {"pkg/box.py": text})
    shown = Listing(
        Fence("source", (), {}, (), 1, 1), sources.module("pkg/box.py"), ("",), (Span(1, lines),), (), folds
    )
    return dom(render(shown, sources.tree("pkg/box.py"), Ids()))


def test_a_whole_file_is_cut_where_a_browser_can_leave_out_what_is_not_seen(tmp_path):
    """Two parts, then 20 folds and a line of which the last five runs fill no box."""
    parsed = whole_of(tmp_path, 2 * PART + 21, range(2 * PART + 1, 2 * PART + 21))
    assert [len(node.css(LINE)) for node in parsed.css("pre.lst-part")] == [PART, PART]
    boxes = parsed.css("div.lst-box")
    assert [len(box.css("details")) for box in boxes] == [RUNS, RUNS]
    assert len(parsed.css(".lst-rest > details, .lst-rest > pre:not(.lst-part)")) == 21 - 2 * RUNS
    assert numbers(parsed) == list(range(1, 2 * PART + 22))


def test_the_style_sheet_knows_how_much_is_cut_off_at_once():
    css = (ROOT / "docs" / "assets" / "listing.css").read_text()
    assert {int(n) for n in re.findall(r"\.lst-part {[^}]*-height: calc\((\d+) \*", css)} == {PART}
    assert {int(n) for n in re.findall(r"\.lst-box {[^}]*-height: auto calc\((\d+) \*", css)} == {RUNS}


def test_the_label_of_a_fold_is_text_even_if_it_looks_like_markup(tmp_path):
    quoted = 'raise ValueError("full <script>alert(1)</script> & more")'
    parsed = rendered(tmp_path, listing("Box", f"- fold `{quoted}` x"))
    assert parsed.css_first("script") is None
    assert parsed.css_first("summary code").text() == quoted


def test_pieces_with_only_blank_lines_between_them_are_one(tmp_path):
    joined = rendered(tmp_path, listing("Box.fill\npkg/box.py  Box.empty"))
    assert numbers(joined) == list(range(18, 28))
    apart = rendered(tmp_path, listing("Box.fill\npkg/box.py  pour"))
    assert numbers(apart) == [*range(18, 24), *range(30, 35)]


def test_the_header_holds_the_license_notice_and_what_the_bytes_are(tmp_path):
    sources = library(tmp_path, {"pkg/box.py": "# A <license>.\n# Two.\n\nx = 1\n"})
    (found,) = bound(tmp_path, listing("x"), box="# A <license>.\n# Two.\n\nx = 1\n").listings
    parsed = dom(render_header(found, sources.tree("pkg/box.py")))
    assert parsed.css_first("details pre").text() == "# A <license>.\n# Two."
    told = parsed.css_first("p")
    assert told.text().startswith(f"pkg/box.py: 4 lines, unmodified, file at commit {COMMIT[:7]}.")
    assert told.css_first("a").attributes["href"] == f"https://example.org/pkg/blob/{COMMIT}/pkg/box.py"


def test_there_is_no_blank_line_between_the_tags_of_a_listing_but_in_code(tmp_path):
    """A block of HTML ends, for Markdown, at a blank line that is not inside of `pre`."""
    text = render(bound(tmp_path, PAGE).listings[0], library(tmp_path).tree("pkg/box.py"), Ids())
    assert text.startswith('<div class="lst" data-search-exclude>\n')
    assert "\n\n" not in text


QUOTES = ("self.size += amount", "if self.size > LIMIT:", "raise ValueError", "def fill", "class Box", "self.size = 0")


@settings(max_examples=60)
@given(
    noted=st.lists(st.tuples(st.sampled_from(QUOTES), st.booleans()), max_size=5, unique_by=lambda n: n[0]),
    docstrings=st.booleans(),
)
def test_no_line_is_lost_or_repeated_whatever_is_noted(tmp_path_factory, noted, docstrings):
    items = [f"- `{first}`{' … `return self.size`' if far and first != 'class Box' else ''} x" for first, far in noted]
    page = listing("Box", *items, options="fold: docstrings" if docstrings else "")
    parsed = rendered(tmp_path_factory.getbasetemp() / "law", page)
    assert numbers(parsed) == list(SHOWN)
    assert code_lines(parsed) == BOX.splitlines()[9:27]
    assert len(parsed.css(".lst-note")) == len(noted)
