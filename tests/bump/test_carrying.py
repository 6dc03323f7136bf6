"""What a page names goes with the code: a name that is defined twice changes its selector without being renamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages.helpers import PAGE, library
from track.anchors.forest import Forest
from track.bump.carrying import Move, Page, carry_page
from track.pages.layout import Bound, Listing, bind
from track.pages.locks import Lock
from track.pages.weave import locked, read_page
from track.spans import Span

ADD = "def pick(refs, order):\n    total = refs.first + order.last * refs.size - 1\n    return total\n"
CUT = "def pick(refs, order):\n    total = refs.window[order.first : order.last].copy()\n    return total\n"
CHOOSE = CUT.replace("pick", "choose")
A, B = "pkg/a.py", "pkg/b.py"
type Files = dict[str, str]


def both(*codes: str) -> str:
    return "\n\n".join(codes)


def carried(folder: Path, page: str, old: Files, new: Files) -> tuple[Page, Bound]:
    """The page at the new files, and what it then shows; it must be right at the old ones, and may not be at the new.

    What is wrong with it at the new files is in the `problems` of what it shows.
    """
    mine, theirs = library(folder / "old", old), library(folder / "new", new)
    lock = Lock(locked(bind(read_page(PAGE, page), mine.module, Lock()), Lock(), mine))
    forests = [Forest({path: lib.module(path) for path in files}) for lib, files in ((mine, old), (theirs, new))]
    moved = carry_page(PAGE, page, lock, Move.between("pkg", mine, theirs, *forests))
    return moved, bind(read_page(PAGE, moved.text), theirs.module, Lock(moved.lock), draft=True)


def text(listing: Listing, span: Span) -> str:
    """The lines of a file, without the blank ones around them."""
    return "\n".join(listing.module.lines[span.first - 1 : span.last]).strip("\n") + "\n"


def folds(page: Page) -> list[tuple[str, str, str]]:
    """What became of each fold and role: how, the selector that it had, and the one that it has."""
    return [(drift.kind, drift.old_symbol, drift.symbol) for drift in page.drifts if drift.thing == "fold"]


def fold(quote: str, kind: str = "folded") -> str:
    return f"```{kind}\n{A}\n```\n\n- `{quote}`\n\n  Says how a `pick` is made.\n"


def listings(*selectors: str) -> str:
    """A listing each, with a note whose quote is the same in all of them."""
    return "\n".join(
        f"```listing\n{A}  {selector}\n```\n\n- `return total`\n\n  Note {n}.\n" for n, selector in enumerate(selectors)
    )


FOLLOWED = [  # each of these folds hides CUT
    ("two changed places", both(ADD, CUT), both(CUT, ADD), "pick (2 of 2)", "pick (1 of 2)", "unchanged"),
    ("the one before it is gone", both(ADD, CUT), CUT, "pick (2 of 2)", "pick", "unchanged"),
    ("the one behind it is gone", both(CUT, ADD), CUT, "pick (1 of 2)", "pick", "unchanged"),
    ("one was added before it", CUT, both(ADD, CUT), "pick", "pick (2 of 2)", "unchanged"),
    ("it has another name", both(ADD, CUT), both(ADD, CHOOSE), "pick (2 of 2)", "choose", "renamed"),
    ("nothing changed", both(ADD, CUT), both(ADD, CUT), "pick (2 of 2)", "pick (2 of 2)", "unchanged"),
]


@pytest.mark.parametrize(
    ("old", "new", "quote", "now", "kind"), [p[1:] for p in FOLLOWED], ids=[p[0] for p in FOLLOWED]
)
def test_a_fold_goes_with_the_selector_of_its_symbol(
    tmp_path: Path, old: str, new: str, quote: str, now: str, kind: str
) -> None:
    page, shown = carried(tmp_path, fold(quote), {A: old}, {A: new})
    assert page.text == fold(now)
    assert folds(page) == [(kind, quote, now)]
    assert not shown.problems
    ((listing, folded),) = [(listing, folded) for listing in shown.listings for folded in listing.folds]
    assert text(listing, folded.span) == (CHOOSE if kind == "renamed" else CUT)


STAYING = [
    ("it is gone", {A: both(ADD, CUT)}, {A: CUT}, "pick (1 of 2)", "lost"),
    ("it is one of two", {A: CUT}, {A: both(CHOOSE, CHOOSE.replace("choose", "take"))}, "pick", "ambiguous"),
    ("it is in another file", {A: both(ADD, CUT), B: ""}, {A: ADD, B: CUT}, "pick (2 of 2)", "moved"),
    ("it is in another file, renamed", {A: CUT, B: ""}, {A: "", B: CHOOSE}, "pick", "renamed"),
]


@pytest.mark.parametrize(("old", "new", "quote", "kind"), [p[1:] for p in STAYING], ids=[p[0] for p in STAYING])
def test_a_fold_whose_symbol_is_not_in_its_file_keeps_its_quote_and_never_names_another(
    tmp_path: Path, old: Files, new: Files, quote: str, kind: str
) -> None:
    """The page then does not build, which says so."""
    page, shown = carried(tmp_path, fold(quote), old, new)
    assert page.text == fold(quote)
    assert [found for found, _, _ in folds(page)] == [kind]
    assert [problem.what for problem in shown.problems] == [f"no symbol '{quote}' in {A}"]


@pytest.mark.parametrize(
    ("old", "new", "now", "kind"),
    [
        (CUT, both(ADD, CUT), "pick", "unchanged"),
        (both(ADD, CUT), CUT, "pick", "unchanged"),
        (both(ADD, CUT), both(CUT, ADD), "pick", "unchanged"),
        (CUT, CHOOSE, "choose", "renamed"),
        (CUT, "", "pick", "lost"),
    ],
)
def test_a_role_is_of_a_name_however_often_that_is_defined(
    tmp_path: Path, old: str, new: str, now: str, kind: str
) -> None:
    page, shown = carried(tmp_path, fold("pick", "source"), {A: old}, {A: new})
    assert page.text == fold(now, "source")
    assert [found for found, _, _ in folds(page)] == [kind]
    assert bool(shown.problems) == (kind == "lost")


def test_two_targets_of_one_listing_that_change_places_both_go_with_their_code(tmp_path: Path) -> None:
    page = f"```listing\n{A}  pick (1 of 2)\n{A}  pick (2 of 2)\n```\n"
    moved, shown = carried(tmp_path, page, {A: both(ADD, CUT)}, {A: both(CUT, ADD)})
    assert moved.text == f"```listing\n{A}  pick (2 of 2)\n{A}  pick (1 of 2)\n```\n"
    (listing,) = shown.listings
    assert [text(listing, piece) for piece in listing.pieces] == [ADD, CUT]


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        (both(ADD, CUT), both(CUT, ADD), ("pick (1 of 2)", "pick (2 of 2)"), ("pick (2 of 2)", "pick (1 of 2)")),
        (both(ADD, CUT), CUT, ("pick (2 of 2)",), ("pick",)),
        (CUT, both(ADD, CUT), ("pick",), ("pick (2 of 2)",)),
    ],
    ids=["two changed places", "the one before it is gone", "one was added before it"],
)
def test_a_note_stays_on_the_code_that_it_was_written_for(
    tmp_path: Path, old: str, new: str, before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    page, shown = carried(tmp_path, listings(*before), {A: old}, {A: new})
    assert page.text == listings(*after)
    assert [(row.listing, row.anchor.symbol, row.pending) for row in page.lock] == [(s, s, None) for s in after]
    assert not shown.problems
    notes = [(note.item.body, text(one, one.pieces[0])) for one in shown.listings for note in one.notes]
    codes = [ADD, CUT] if len(before) > 1 else [CUT]
    assert notes == [(f"Note {n}.", code) for n, code in enumerate(codes)]
