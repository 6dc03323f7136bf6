"""Symbols: what a selector names, and which lines belong to it."""

import pytest

from track.anchors import symbols
from track.errors import BadInput
from track.spans import Span

SOURCE = '''\
# A license.
# Its second line.

"""About."""

import enum

# Helpers.

LIMIT: int = 3


# What it is for.
@decorated
@twice(1)
class Box:
    """A box."""

    size: int = 0

    def fill(self):
        if self.size:
            def start():
                return 1
        else:
            def start():
                return 2
        return start

    # Before empty.

    def empty(self):
        """First.

        More.
        """
        return None


try:
    def maybe(): return 1
except ImportError:
    def maybe(): return 2
'''


@pytest.fixture(scope="module")
def module() -> symbols.Module:
    return symbols.parse("box.py", SOURCE)


def test_symbols_are_named_in_file_order(module):
    assert [s.selector for s in module.symbols] == [
        "LIMIT",
        "Box",
        "Box.size",
        "Box.fill",
        "Box.fill.start (1 of 2)",
        "Box.fill.start (2 of 2)",
        "Box.empty",
        "maybe (1 of 2)",
        "maybe (2 of 2)",
    ]


def test_a_symbol_begins_at_its_first_decorator_and_owns_the_comments_before_it(module):
    box = symbols.find(module, "Box")
    first = SOURCE.splitlines().index("@decorated") + 1
    last = SOURCE.splitlines().index("        return None") + 1
    assert box.span == Span(first, last)
    assert box.owned == Span(first - 1, last)


def test_comments_between_methods_belong_to_the_method_below(module):
    empty = symbols.find(module, "Box.empty")
    assert module.lines[empty.lead - 1] == "    # Before empty."


def test_the_license_belongs_to_nobody_below_it(module):
    assert module.header == Span(1, 2)
    assert symbols.find(module, "LIMIT").lead == SOURCE.splitlines().index("# Helpers.") + 1


def test_a_docstring_that_is_not_the_whole_body_can_be_folded(module):
    doc = symbols.find(module, "Box.empty").docstring
    assert doc is not None
    assert [module.lines[n - 1].strip() for n in doc.lines] == ['"""First.', "", "More.", '"""']


def test_a_name_that_occurs_twice_needs_to_say_which(module):
    with pytest.raises(BadInput, match="occurs 2 times") as error:
        symbols.find(module, "Box.fill.start")
    assert "Box.fill.start (1 of 2)" in str(error.value)
    second = symbols.find(module, "Box.fill.start (2 of 2)")
    assert "return 2" in module.lines[second.span.last - 1]


@pytest.mark.parametrize("selector", ["Box.file", "Bix", "", "Box.fill.start (3 of 3)"])
def test_an_unknown_selector_is_an_error_with_the_file(module, selector):
    with pytest.raises(BadInput, match="no symbol") as error:
        symbols.find(module, selector)
    assert error.value.details["file"] == "box.py"


def test_an_unknown_selector_comes_with_the_closest_names(module):
    with pytest.raises(BadInput) as error:
        symbols.find(module, "Box.fil")
    assert "Box.fill" in error.value.details["closest"]


@pytest.mark.parametrize("text", ["def f(:\n", "x = 'a\n", "if x:\ny\n", "a\0b"])
def test_a_file_that_does_not_parse_is_an_error_that_names_it(text):
    with pytest.raises(BadInput, match=r"broken\.py is not valid Python"):
        symbols.parse("broken.py", text)
