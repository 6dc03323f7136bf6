"""Binding a page to its source: which lines a listing shows, and every way in which a note can miss its code."""

from __future__ import annotations

import pytest

from tests.pages.helpers import BOX, COMMIT, PAGE, bound, document, errors_of, library, listing, reviewed
from track.errors import BadInput, Finding, TrackError
from track.pages.layout import bind
from track.pages.locks import Lock
from track.spans import Span

NOTE = "- `self.size += amount`\n\n  Says."


def line_of(code: str, source: str = BOX) -> int:
    (line,) = (n for n, text in enumerate(source.splitlines(), 1) if text.strip() == code)
    return line


def refused(folder, page: str, lock: Lock | None = None, box: str = BOX) -> TrackError:
    with pytest.raises(TrackError) as caught:
        bound(folder, page, lock, box)
    return caught.value


def drifted(folder, old: str, new: str) -> Finding:
    """What is said of NOTE, reviewed against BOX, where `old` in BOX has become `new`."""
    page = listing("Box", NOTE)
    assert BOX.count(old) == 1
    error = refused(folder, page, reviewed(folder, page), BOX.replace(old, new))
    assert isinstance(error, Finding)
    return error


def test_a_symbol_is_shown_with_its_decorators_and_the_comments_before_it(tmp_path):
    (shown,) = bound(tmp_path, listing("Box.fill")).listings
    assert shown.pieces == (Span(line_of("# Fills it."), line_of("def empty(self):") - 2),)
    assert shown.titles == ("Box.fill",)


def test_no_symbol_shows_the_whole_file(tmp_path):
    (shown,) = bound(tmp_path, listing("")).listings
    assert shown.pieces == (Span(1, BOX.count("\n")),)


def test_several_symbols_are_several_pieces(tmp_path):
    (shown,) = bound(tmp_path, listing("Box.fill\npkg/box.py  pour")).listings
    assert [piece.first for piece in shown.pieces] == [line_of("# Fills it."), line_of("def pour(source, target):")]
    assert shown.name == "Box.fill, pour"


def test_everything_from_one_symbol_to_another_is_one_piece(tmp_path):
    (shown,) = bound(tmp_path, listing("Box … pour")).listings
    (piece,) = shown.pieces
    assert piece.first == line_of("class Box:")
    assert piece.last >= line_of("def pour(source, target):")


def test_a_stretch_goes_down_the_file(tmp_path):
    error = refused(tmp_path, listing("pour … Box"))
    assert "Box stands before pour" in error.what


def test_only_head_shows_a_class_up_to_its_first_method(tmp_path):
    (shown,) = bound(tmp_path, listing("Box", options="only: head")).listings
    assert shown.pieces == (Span(line_of("class Box:"), line_of("size: int = 0")),)


def test_a_note_speaks_of_the_lines_that_it_quotes(tmp_path):
    page = listing("Box", "- `if self.size > LIMIT:` … `return self.size`\n\n  Says.")
    (note,) = bound(tmp_path, page).listings[0].notes
    assert note.span == Span(line_of("if self.size > LIMIT:"), line_of("if self.size > LIMIT:") + 2)
    assert note.anchor.symbol == "Box.fill"


def test_a_quote_reaches_over_lines_and_does_not_mind_their_layout(tmp_path):
    page = listing("Box", "- `self.size+=amount if self.size>LIMIT:`\n\n  Says.")
    (note,) = bound(tmp_path, page).listings[0].notes
    assert note.span == Span(line_of("self.size += amount"), line_of("if self.size > LIMIT:"))


def test_notes_and_folds_come_in_the_order_of_the_code(tmp_path):
    page = listing("Box", "- `self.size = 0` b", "- fold `def empty(self)` c", NOTE.replace("\n\n ", ""))
    (shown,) = bound(tmp_path, page).listings
    assert [note.item.first for note in shown.notes] == ["self.size += amount", "self.size = 0"]


def test_docstrings_fold_where_the_listing_says_so(tmp_path):
    (shown,) = bound(tmp_path, listing("Box", options="fold: docstrings")).listings
    (fold,) = shown.folds
    assert fold.span == Span(line_of('"""A box.'), line_of('"""A box.') + 3)
    assert fold.label == "Box"
    assert bound(tmp_path, listing("Box")).listings[0].folds == ()


def test_a_docstring_inside_a_fold_is_folded_once(tmp_path):
    page = listing("Box", "- fold `class Box` … `It holds things.` Reason.", options="fold: docstrings")
    (shown,) = bound(tmp_path, page).listings
    assert len(shown.folds) == 1


def test_a_folded_symbol_takes_the_comments_before_it(tmp_path):
    page = "```folded\npkg/box.py\n```\n\n- `Box.fill` Fills.\n- `import enum` … `LIMIT = 3` Names.\n"
    (hidden,) = bound(tmp_path, page).listings
    assert [fold.span for fold in hidden.folds] == [Span(5, 7), Span(18, 23)]
    assert hidden.pieces == (Span(18, 23), Span(5, 7))


def test_a_fold_of_quoted_code_takes_the_comments_before_it(tmp_path):
    page = "```folded\npkg/box.py\n```\n\n- `LIMIT = 3` … `class Box:` Names.\n"
    commented = BOX.replace("LIMIT = 3", "# How much fits.\nLIMIT = 3")
    (fold,) = bound(tmp_path, page, box=commented).listings[0].folds
    assert fold.span == Span(line_of("# How much fits.", commented), line_of("class Box:", commented))


def test_a_quote_that_is_gone_is_a_finding_with_the_closest_lines(tmp_path):
    error = refused(tmp_path, listing("Box", "- `self.size += amounts`\n\n  Says."))
    assert isinstance(error, Finding)
    assert error.details["page"] == f"{PAGE}:4"
    assert error.details["code"] == "pkg/box.py"
    assert error.details["quote"] == "self.size += amounts"
    assert error.details["closest"].startswith(f"line {line_of('self.size += amount')} (")
    assert error.next_step


def test_a_quote_outside_of_what_is_shown_is_gone(tmp_path):
    error = refused(tmp_path, listing("pour", NOTE))
    assert error.what == "a quote that is not in its code"
    assert refused(tmp_path, listing("Box", NOTE, options="only: head")).what == error.what


def test_a_quote_with_nothing_alike_says_so(tmp_path):
    error = refused(tmp_path, listing("Box", "- `completely.other(things)[0]` x"))
    assert error.details["closest"] == "nothing alike"


@pytest.mark.parametrize("quote", ["LIMIT and more", "self.siz", "elf.size += amount"])
def test_a_quote_matches_whole_names_only(tmp_path, quote):
    assert isinstance(refused(tmp_path, listing("Box", f"- `{quote}` x")), Finding)


def test_a_quote_that_matches_twice_is_bad_input_with_both_places(tmp_path):
    error = refused(tmp_path, listing("Box", "- `return self.size`\n\n  Says."))
    first, second = (n for n, text in enumerate(BOX.splitlines(), 1) if text.strip() == "return self.size")
    assert isinstance(error, BadInput)
    assert error.what == "a quote that matches more than once"
    assert error.details["found"] == f"line {first}: return self.size\nline {second}: return self.size"
    assert error.details["page"] == f"{PAGE}:4"


def test_an_end_that_never_comes_is_a_finding(tmp_path):
    error = refused(tmp_path, listing("Box.fill", "- `self.size += amount` … `self.size = 0` x"))
    assert error.what == "a quote that is not in its code"


def test_every_lost_note_of_a_page_is_said_at_once(tmp_path):
    page = listing("Box", "- `gone` x", "- `gone too` x") + "\n" + listing("pour", "- `gone` x")
    places = [error.details["page"] for error in errors_of(refused(tmp_path, page))]
    assert places == [f"{PAGE}:{line}" for line in (4, 5, 10)]


def test_a_symbol_that_occurs_twice_needs_to_say_which(tmp_path):
    error = refused(tmp_path, listing("pick", path="pkg/twice.py"))
    assert isinstance(error, BadInput)
    assert "occurs 2 times" in error.what
    assert error.details["page"] == f"{PAGE}:1"
    assert "pick (1 of 2)" in error.next_step
    (shown,) = bound(tmp_path, listing("pick (2 of 2)", path="pkg/twice.py")).listings
    assert shown.pieces == (Span(5, 6),)


def test_an_unknown_symbol_comes_with_its_line_and_the_closest(tmp_path):
    error = refused(tmp_path, listing("Box.fil"))
    assert error.details["page"] == f"{PAGE}:1"
    assert "Box.fill" in error.details["closest"]


def test_an_unknown_symbol_of_a_fold_names_the_line_of_its_item(tmp_path):
    error = refused(tmp_path, "```folded\npkg/box.py\n```\n\n- `LIMIT` A.\n- `Box.fil` B.\n")
    assert error.details["page"] == f"{PAGE}:6"


def test_an_unknown_file_comes_with_its_line_and_the_closest(tmp_path):
    error = refused(tmp_path, "\n" + listing("Box", path="pkg/bix.py"))
    assert isinstance(error, BadInput)
    assert error.details["page"] == f"{PAGE}:2"
    assert "pkg/box.py" in error.details["closest"]


def test_a_source_that_does_not_parse_is_named_with_the_page(tmp_path):
    sources = library(tmp_path, {"pkg/bad.py": "def f(:\n"})
    with pytest.raises(BadInput) as caught:
        bind(document(listing("f", path="pkg/bad.py")), sources.module, Lock())
    assert caught.value.details["page"] == f"{PAGE}:1"
    assert caught.value.details["file"] == "pkg/bad.py:1"


def test_one_listing_shows_one_file(tmp_path):
    error = refused(tmp_path, listing("Box\npkg/other.py  x"))
    assert error.what == "one listing shows one file"
    assert error.details == {"page": f"{PAGE}:1", "found": "pkg/box.py, pkg/other.py"}


@pytest.mark.parametrize(
    "second",
    [listing("Box.fill"), listing(""), "```folded\npkg/box.py\n```\n\n- `Box.fill` What it is for.\n"],
)
def test_no_line_is_shown_twice_on_a_page(tmp_path, second):
    error = refused(tmp_path, listing("Box") + "\n" + second)
    assert error.what == "lines shown twice on one page"
    assert error.details["page"] == f"{PAGE}:5"
    assert error.details["found"].endswith(f"{PAGE}:1")


def test_no_line_is_shown_twice_in_one_listing(tmp_path):
    error = refused(tmp_path, listing("Box\npkg/box.py  Box.empty"))
    assert error.what == "lines shown twice on one page"
    assert error.details["code"] == "pkg/box.py, lines 25–27"
    folded = "```folded\npkg/box.py\n```\n\n- `Box` One.\n- `Box.empty` Two.\n"
    assert refused(tmp_path, folded).what == error.what


def test_equal_line_numbers_of_two_files_are_no_repetition(tmp_path):
    assert len(bound(tmp_path, listing("") + "\n" + listing("", path="pkg/other.py")).listings) == 2


def test_two_folds_do_not_share_a_reason(tmp_path):
    error = refused(tmp_path, "```folded\npkg/box.py\n```\n\n- `LIMIT` For later.\n- `pour`\n\n  For\n  LATER.\n")
    assert error.what == "two folds with one reason"
    assert error.details["page"] == f"{PAGE}:6"
    assert "`LIMIT`" in error.details["found"]


def test_a_note_on_folded_lines_is_an_error_because_nobody_would_see_it(tmp_path):
    page = listing("Box", "- `It holds things.` x", options="fold: docstrings")
    error = refused(tmp_path, page)
    assert error.what == "a note on folded lines"
    assert error.details["page"] == f"{PAGE}:5"
    assert refused(tmp_path, listing("Box", NOTE, "- fold `def fill` … `return self.size` y")).what == error.what


def test_code_that_was_edited_is_a_finding_with_the_way_on(tmp_path):
    error = drifted(tmp_path, "self.size += amount", "self.size += amount * 2")
    assert error.what == "a note no longer matches its code: edited"
    assert error.details == {
        "page": f"{PAGE}:4",
        "code": "pkg/box.py, in Box.fill",
        "pin": f"written for commit {COMMIT[:7]}",
        "quote": "self.size += amount",
        "found": f"line {line_of('self.size += amount')}, in Box.fill",
    }
    assert error.next_step == f"read it against the code, then: track lock {PAGE}"


def test_code_that_was_deleted_is_lost_with_the_closest_lines(tmp_path):
    error = drifted(tmp_path, "self.size += amount", "self.sizes += amount")
    assert error.what == "a note no longer matches its code: lost"
    assert "self.sizes += amount" in error.details["found"]


def test_code_that_is_there_twice_is_ambiguous_with_both_places(tmp_path):
    error = drifted(tmp_path, "self.size += amount\n", "self.size += amount\n        self.size += amount\n")
    line = line_of("self.size += amount")
    assert error.what == "a note no longer matches its code: ambiguous"
    assert error.details["found"] == f"line {line}: self.size += amount\nline {line + 1}: self.size += amount"


def test_code_that_moved_to_another_symbol_is_a_finding(tmp_path):
    error = drifted(tmp_path, "def fill(", "def fill_up(")
    assert error.what == "a note no longer matches its code: renamed"


def test_a_note_follows_code_that_was_only_pushed_down(tmp_path):
    page = listing("Box", NOTE)
    above = BOX.replace("LIMIT = 3\n", "LIMIT = 3\nMORE = 4\n\n\ndef new():\n    return MORE\n")
    (note,) = bound(tmp_path, page, reviewed(tmp_path, page), above).listings[0].notes
    assert note.span.first == line_of("self.size += amount", above)


def test_another_layout_of_the_code_is_found_by_its_fingerprint(tmp_path):
    page = listing("pour", "- `target.fill(amount)` x")
    laid_out = BOX.replace("    target.fill(amount)", "    (target\n     .fill(amount,))")
    assert isinstance(refused(tmp_path, page, Lock(), laid_out), Finding)
    (note,) = bound(tmp_path, page, reviewed(tmp_path, page), laid_out).listings[0].notes
    assert note.span == Span(line_of("(target", laid_out), line_of("(target", laid_out) + 1)


def test_a_note_whose_code_the_listing_stopped_showing_says_just_that(tmp_path):
    lock = reviewed(tmp_path, listing("Box", NOTE))
    error = refused(tmp_path, listing("Box", NOTE, options="only: head"), lock)
    assert error.what == "a note on code that its listing does not show"
    assert error.details["page"] == f"{PAGE}:5"


def test_a_note_that_no_lock_knows_is_bound_by_its_quote(tmp_path):
    page = listing("Box", NOTE)
    lock = reviewed(tmp_path, page)
    (first, second) = bound(tmp_path, page + "- `self.size = 0` New.\n", lock).listings[0].notes
    assert (first.span.first, second.span.first) == (line_of("self.size += amount"), line_of("self.size = 0"))
