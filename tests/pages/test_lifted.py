"""Big blocks of HTML stay out of what MkDocs reads, and come back as they were."""

from __future__ import annotations

import pytest

from track.errors import Finding
from track.pages.lifted import ids_of, lifted, put_back

LISTING = '<div class="lst" data-search-exclude>\n<div><b id="Box.put"></b>\n</div>\n</div>'
FIGURE = '<figure id="f" class="fig" data-search-exclude><svg><g id=deep></g></svg></figure>'
PAGE = f"# Title\n\n{LISTING}\n\nWords.\n\n{FIGURE}\n"


def test_a_block_is_lifted_whole_with_the_elements_inside_of_it():
    assert lifted(PAGE, ())[1] == [LISTING, FIGURE]


def test_what_is_left_has_the_prose_and_nothing_of_the_blocks():
    text, _ = lifted(PAGE, ())
    assert "# Title\n\n<div" in text
    assert "\n\nWords.\n\n<div" in text
    assert "svg" not in text
    assert "lst" not in text


def test_the_anchors_that_are_meant_stay():
    assert ids_of(lifted(PAGE, {"Box.put", "deep", "elsewhere"})[0]) == {"Box.put", "deep"}
    assert ids_of(lifted(PAGE, ())[0]) == set()


def test_a_page_gets_its_blocks_back_as_they_were():
    assert put_back(*lifted(PAGE, {"deep"}), "a.md") == PAGE


@pytest.mark.parametrize(
    "text",
    [
        "<div>\nwith no word on the search\n</div>\n",
        "In a line <div data-search-exclude>x</div> of prose.\n",
        f"Right after a line.\n{FIGURE}\n",
        f"{FIGURE} and words\n",
        '<div class="lst" data-search-exclude>\n<div>\nnever closed\n</div>\n',
    ],
)
def test_what_is_no_block_of_its_own_stays(text):
    assert lifted(text, ()) == (text, [])


def test_a_place_that_got_lost_is_told():
    text, blocks = lifted(PAGE, ())
    for wrong in (text.replace("data-lifted=1", "data-lost=1"), text + text, text.replace("data-lifted=0", "x")):
        with pytest.raises(Finding, match="no place for its blocks"):
            put_back(wrong, blocks, "a.md")
