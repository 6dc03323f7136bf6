"""Reading a page: what is ours on it, on which line, and what is wrong with it."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages.helpers import KINDS, PAGE, document, errors_of, listing
from track.errors import BadInput, Finding, TrackError
from track.pages.document import Fence, Item, Target, read


def fence_of(text: str) -> Fence:
    (fence,) = document(text).fences
    return fence


def items_of(*items: str) -> tuple[Item, ...]:
    return fence_of(listing("Box", *items)).items


def refused(text: str) -> TrackError:
    with pytest.raises(TrackError) as caught:
        document(text)
    return caught.value


def test_a_fence_and_its_list_are_found_with_their_lines():
    page = "---\ntitle: A\n---\n\nText.\n\n```listing\na.py  f\n```\n\n- `x`\n\n  Says.\n\nMore text.\n"
    fence = fence_of(page)
    assert page.split("\n")[fence.line - 1] == "```listing"
    assert page.split("\n")[fence.end - 1] == "More text."
    first = page.split("\n").index("- `x`") + 1
    assert fence.items == (Item("note", "x", None, "Says.", first, first + 4),)


def test_a_fence_takes_no_list_that_comes_after_a_paragraph():
    fence = fence_of("```listing\na.py  f\n```\n\nText.\n\n- `x` is no note\n")
    assert fence.items == ()
    assert fence.end == 4


def test_symbols_may_share_a_fence_and_module_level_code_has_none():
    fence = fence_of("```listing\na.py  Box.fill\n\na.py\n```\n")
    assert fence.targets == (Target("a.py", "Box.fill"), Target("a.py", ""))


def test_a_selector_keeps_its_place_of_many():
    fence = fence_of("```listing\na.py  Box.fill (1 of 2)\n```\n")
    assert fence.targets == (Target("a.py", "Box.fill (1 of 2)"),)


def test_options_are_read():
    assert fence_of("```listing\na.py  f\nfold: docstrings\nonly: head\n```\n").options == {
        "fold": "docstrings",
        "only": "head",
    }
    assert fence_of("```timeline\nkernel: copy\ncaption: Two: parts\n```\n").options == {
        "kernel": "copy",
        "caption": "Two: parts",
    }


def test_code_that_is_to_run_is_kept_as_it_is_written():
    fence = fence_of("```python raises\nkey: value = 1\n\n  # <b>\n```\n")
    assert (fence.kind, fence.code, fence.options) == ("python raises", "key: value = 1\n\n  # <b>\n", {})


def test_front_matter_is_read_and_its_lines_are_counted():
    page = document("---\ntitle: T: t\nfile: a.py\n---\n# Head\n")
    assert page.front == {"title": "T: t", "file": "a.py"}
    assert page.body == 4
    assert page.title == "Head"


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("```listing\na.py f\nolny: head\n```", "unknown option 'olny: head' in a listing", 3),
        ("```folded\na.py\nfold: docstrings\n```", "unknown option 'fold: docstrings' in a folded", 3),
        ("```timeline\nkernel: k\nnonsense\n```", "unknown option 'nonsense' in a timeline", 3),
        ("\n```listing\na.py f\nfold: all\n```", "unknown value 'all' of option 'fold' in a listing", 2),
        ("\n```listing\na.py f\nonly: tail\n```", "unknown value 'tail' of option 'only' in a listing", 2),
        ("\n```listing\nfold: docstrings\n```", "a listing that names no file", 2),
        ("\n```folded\n```", "a folded that names no file", 2),
        ("\n```track now\n```", "words after the name of a track", 2),
        ("---\ntitle: a\ntags: b\n---", "unknown front matter 'tags: b'", 3),
        ("---\njust words\n---", "unknown front matter 'just words'", 2),
        ("---\ntitle: a\n# Head", "front matter is not closed", 1),
        (listing("f", "- A remark."), "a note that quotes no code", 4),
        (listing("f", "- `` ` `` x", "- `  ` x"), "a note that quotes no code", 5),
        (listing("f", "- "), "a note that quotes no code", 4),
        (listing("f", "- `a` x", "", "- `x`"), "a note that says nothing", 6),
        (listing("f", "- `a` … `b`"), "a note that says nothing", 4),
        (listing("f", "- fold `a`"), "a note that says nothing", 4),
        ("\n```python runs\n1\n```\n", "a word after python that means nothing", 2),
    ],
)
def test_what_a_page_gets_wrong_is_bad_input_with_its_line(text, what, line):
    error = refused(text)
    assert isinstance(error, BadInput)
    assert error.what == what
    assert error.details["page"] == f"{PAGE}:{line}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```listing\na.py f\nx: y\n```", "fold, only"),
        ("```folded\na.py\nx: y\n```", "no option"),
        ("```timeline\nnonsense\n```", "key: value"),
        ("```listing\na.py f\nfold: x\n```", "docstrings"),
        ("---\nx: y\n---", "title, description or file, a colon, and a value"),
    ],
)
def test_an_error_says_what_would_be_right(text, expected):
    assert refused(text).details["expected"] == expected


def test_all_that_is_wrong_is_said_at_once():
    page = listing("f", "- no code", "- `a`") + "\n```timeline\nnonsense\n```\n\n```listing\n```\n"
    places = [error.details["page"] for error in errors_of(refused(page))]
    assert places == [f"{PAGE}:{line}" for line in (4, 5, 8, 11)]


@pytest.mark.parametrize(
    "text",
    [
        "````markdown\n```listing\na.py f\n```\n````\n",
        "~~~\n```listing\na.py f\n```\n~~~\n",
        "    ```listing\n    a.py f\n    ```\n",
        "- item\n\n  ````markdown\n  ```track\n  ```\n  ````\n",
        "```python\nlisting\n```\n",
        "```listings\na.py f\n```\n",
        "``` \nlisting\n```\n",
        "`listing` a.py f\n",
    ],
)
def test_a_fence_that_is_shown_or_is_another_is_not_ours(text):
    assert document(text).fences == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- item\n\n  ```listing\n  a.py f\n  ```\n", 3),
        ("1. item\n\n   ```track\n   ```\n", 3),
        ("> ```listing\n> a.py f\n> ```\n", 1),
        (listing("f", "- `a`", "", "  Says.", "", "  ```timeline", "  kernel: k", "  ```"), 8),
        ("- item\n\n  ```python run\n  1\n  ```\n", 3),
    ],
)
def test_a_fence_of_ours_in_a_list_or_a_quotation_is_an_error(text, line):
    error = refused(text)
    assert "inside a list or a quotation" in error.what
    assert error.details["page"] == f"{PAGE}:{line}"


def test_a_note_may_be_one_line():
    assert items_of("- `a` Says.") == (Item("note", "a", None, "Says.", 4, 5),)


def test_a_note_holds_paragraphs_lists_and_code_as_they_are_indented():
    (item,) = items_of(
        "- `a`", "", "  One.", "", "  - two", "    - three", "", "  ```python", "  if x:", "      y", "  ```"
    )
    assert item.body == "One.\n\n- two\n  - three\n\n```python\nif x:\n    y\n```"


@pytest.mark.parametrize(
    ("lead", "first", "last"),
    [
        ("`a b` … `c d`", "a b", "c d"),
        ("`a`…`b`", "a", "b"),
        ("`a` ... `b`", "a", "b"),
        ("`a`\n  … `b`", "a", "b"),
        ("`` `x` ``", "`x`", None),
        ("`` `x` `` … ``` ``y`` ```", "`x`", "``y``"),
        ("`a ...`", "a ...", None),
    ],
)
def test_a_note_quotes_code_or_everything_from_one_code_to_another(lead, first, last):
    (item,) = items_of(f"- {lead}\n\n  Says.")
    assert (item.kind, item.first, item.last, item.body) == ("note", first, last, "Says.")


def test_a_quote_is_shown_as_it_is_written():
    one, other = items_of("- `a` x", "- `a` ... `b` x")
    assert (one.quote, other.quote) == ("a", "a … b")


def test_a_second_code_span_without_an_ellipsis_belongs_to_what_the_note_says():
    assert items_of("- `a` and `b` differ")[0].body == "and `b` differ"


def test_an_item_that_begins_with_fold_is_a_fold():
    one, other = items_of("- fold `a` … `b`\n\n  Reason.", "- `fold` is a name here")
    assert (one.kind, one.first, one.last, one.body) == ("fold", "a", "b", "Reason.")
    assert (other.kind, other.first) == ("note", "fold")


LINES = st.sampled_from(
    [
        "---", "title: x", "odd: y", "", "  ", "# Head", "words", "```listing", "```folded", "```track", "```timeline",
        "```", "````", "~~~listing", "a.py  f", "fold: docstrings", "only: tail", "kernel: k", "- `a` x", "- `a`",
        "- fold `a` … `b` x", "  more", "\t`a`", "-\t`a` x", "    code", "* `c` d", "1. `c` d", "> ```track", "-",
        "- ```listing", "a\rb", "\x0c", "\u2028", "`", "<div>", "</div>", "[x]: y", "\0",
    ]
)  # fmt: skip
PAGES = st.lists(LINES, max_size=14).map("\n".join) | st.text(max_size=80)


@given(PAGES)
def test_any_text_is_a_page_or_an_error_of_ours(text):
    with contextlib.suppress(TrackError):
        read(PAGE, text, KINDS)


@given(PAGES)
def test_every_error_names_a_line_of_the_page(text):
    lines = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    try:
        document(text)
    except TrackError as error:
        numbers = [int(e.details["page"].removeprefix(f"{PAGE}:")) for e in errors_of(error)]
        assert all(1 <= number <= lines for number in numbers)


@given(PAGES)
def test_fences_are_in_order_and_never_overlap(text):
    try:
        page = document(text)
    except TrackError:
        return
    ends = [page.body + 1, *(fence.end for fence in page.fences)]
    assert all(fence.line >= end for fence, end in zip(page.fences, ends, strict=False))
    assert all(fence.line < fence.end <= len(page.lines) + 1 for fence in page.fences)


def test_an_error_in_a_page_is_no_finding():
    """A wrong page is wrong input; findings are what checks find in the code."""
    assert not isinstance(refused("```listing\n```"), Finding)
