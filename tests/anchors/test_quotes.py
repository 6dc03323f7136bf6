"""Quotes: layout does not matter, names are never cut, and every match is found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from track.anchors import symbols
from track.anchors.quotes import matches
from track.spans import Span

SOURCE = """\
def f(a, b):
    # total = a + b
    total = (a +
             b)  # why
    subtotal = total - a
    return "total = a" + str(subtotal)
"""


@pytest.fixture(scope="module")
def module() -> symbols.Module:
    return symbols.parse("f.py", SOURCE)


WHOLE = Span(1, 6)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("total = (a + b)", [Span(3, 4)]),
        ("total=(a+b)", [Span(3, 4)]),
        ("total - a", [Span(5, 5)]),
        ("total", [Span(3, 3), Span(5, 5), Span(6, 6)]),
        ("subtotal", [Span(5, 5), Span(6, 6)]),
        ("# total = a + b", [Span(2, 2)]),
        ("# why", [Span(4, 4)]),
        ("why", []),
        ("def f(a, b): total", [Span(1, 3)]),
        ("tot", []),
        ("otal", []),
        ("", []),
        ("  ", []),
    ],
)
def test_a_quote_matches_whole_names_and_no_comments(module, quote, found):
    assert matches(module, quote, WHOLE) == found


def test_only_the_lines_asked_for_are_searched(module):
    assert matches(module, "total", Span(4, 5)) == [Span(5, 5)]
    assert matches(module, "total = (a + b)", Span(4, 6)) == []


@given(
    st.lists(st.sampled_from(["alpha", "beta", "x1", "(", ")", "+", "=", "'s'", ","]), min_size=1, max_size=12),
    st.data(),
)
def test_white_space_never_changes_what_is_found(tokens, data):
    """Any spacing of the quote finds what any other spacing finds."""
    spaces = st.sampled_from(["", " ", "  ", "\n", "\t"])
    quote = "".join(token + data.draw(spaces) for token in tokens)
    module = symbols.parse("g.py", SOURCE + "y = alpha\n")
    assert matches(module, quote, Span(1, 7)) == matches(module, "".join(tokens), Span(1, 7))
