"""Coverage, against lines counted by hand."""

from __future__ import annotations

import pytest

from tests.pages.helpers import BOX, PAGE, bound, library, listing
from track.pages.coverage import Coverage, measure

PAGE_TEXT = listing(
    "Box",
    "- `self.size += amount` x",
    "- fold `def empty` … `return self.size` y",
    options="fold: docstrings",
)


@pytest.fixture
def measured(tmp_path):
    def of(page: str, path: str = "pkg/box.py") -> Coverage:
        return measure(bound(tmp_path, page), library(tmp_path).module(path))

    return of


def test_every_line_is_shown_folded_or_unaccounted(measured):
    """Of 34 lines the license and the blank under it are shown, and 11 of the class, whose 18 lines are 10 to 27.

    Folded are the docstring (4), `empty` (3) and the two blank lines under it. Nobody speaks of lines 3 to 9, 30 to 34.
    """
    assert measured(PAGE_TEXT) == Coverage(
        page=PAGE,
        path="pkg/box.py",
        lines=34,
        noted=1,
        shown=13,
        folded=9,
        folded_share=0.265,
        unaccounted=12,
        unaccounted_spans=("3–9", "30–34"),
        notes=1,
        longest_run=3,
        longest_run_at="10–19",
    )


def test_the_three_kinds_of_lines_add_up(measured):
    for page in (PAGE_TEXT, listing(""), listing("pour"), "Nothing.\n"):
        found = measured(page)
        assert found.shown + found.folded + found.unaccounted == found.lines == BOX.count("\n")


def test_a_page_that_shows_nothing_of_a_file_accounts_for_nothing(measured):
    found = measured("Nothing.\n")
    assert (found.unaccounted, found.unaccounted_spans) == (34, ("1–34",))
    assert (found.shown, found.longest_run, found.longest_run_at) == (0, 0, "")


def test_a_listing_of_another_file_does_not_count(measured):
    assert measured(listing("", path="pkg/other.py")).unaccounted == 34


def test_a_whole_file_is_accounted_for_by_listings_and_folds(measured):
    page = (
        '```folded\npkg/box.py\n```\n\n- `"""About."""` … `LIMIT = 3` A.\n- `pour` B.\n\n'
        + listing("Box.fill")
        + "\n"
        + listing("Box", options="only: head")
        + "\n"
        + listing("Box.empty")
    )
    found = measured(page)
    assert found.unaccounted_spans == ()
    assert found.folded == 12  # lines 3 to 7 and the two blank ones after them, and the five of `pour`


def test_the_longest_run_counts_code_without_blank_lines_and_comments(measured):
    """Of `Box` it is 10 to 14, 16 and 19: 15 and 17 are blank, 18 is a comment, and 13 is a line of a docstring."""
    found = measured(listing("Box", "- `self.size += amount` … `return self.size` x"))
    assert (found.longest_run, found.longest_run_at) == (7, "10–19")


def test_a_run_ends_with_its_listing(measured):
    """`pour` alone has 5 lines, `empty` 3, and they do not add up."""
    page = listing("Box.empty") + "\n" + listing("pour")
    assert (measured(page).longest_run, measured(page).longest_run_at) == (5, "30–34")


def test_noted_lines_are_those_that_any_note_speaks_of(measured):
    page = listing("pour", "- `source.empty()` … `target.fill(amount)` x", "- `source.empty()` y")
    assert (measured(page).noted, measured(page).notes) == (2, 2)
