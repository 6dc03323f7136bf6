"""Fingerprints: the same for the same meaning, different for another, and the same on every Python."""

import ast

import pytest

from track.anchors import fingerprints, symbols

SAME = [
    ("f(a, b)", "f(a,b)"),
    ("f(a, b)", "f(\n  a,\n  b,  # last\n)"),
    ("x = 'a'", 'x = "a"'),
    ("return_ = (a)", "return_ = a"),
    ("x = 1_000", "x = 1000"),
    ("if a:\n  b()", "if (a):\n    # why\n\n    b()"),
    ("x = u'a'", "x = 'a'"),
    ("def f(a): return a", "def f(\n    a,\n):\n    return a"),
]
OTHER = [
    ("f(a, b)", "f(b, a)"),
    ("x = 1", "x = 1.0"),
    ("x = 'a'", "x = b'a'"),
    ("x = True", "x = 1"),
    ("x = a", "y = a"),
    ("x = a.b", "x = a.c"),
    ("x = a < b", "x = a <= b"),
    ("if a:\n  b()", "while a:\n  b()"),
    ("x = [a]", "x = (a,)"),
    ("f(a)", "f(*a)"),
    ("x = f'{a}'", "x = f'{a!r}'"),
    ("def f(a): return a", "def f(a, b=None): return a"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_layout_and_comments_do_not_count(one, two):
    assert fingerprints.of_node(ast.parse(one)) == fingerprints.of_node(ast.parse(two))


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_a_change_of_meaning_counts(one, two):
    assert fingerprints.of_node(ast.parse(one)) != fingerprints.of_node(ast.parse(two))


def test_fingerprints_do_not_depend_on_the_python_that_made_them():
    """These digits were made by Python 3.12.1 and 3.13.0 alike; one that differs would unlock every note."""
    source = "@d\ndef f[T](a: T, *, b=1.5) -> T:\n  x = f'{a!r:>{b}}' + 'é'\n  return [y async for y in x if y]\n"
    assert fingerprints.of_node(ast.parse(source)) == "7752292c89c81de6"


def test_a_symbol_is_known_whatever_its_name_and_docstring():
    one, two, three = (
        symbols.parse("a.py", text).symbols[0]
        for text in ('def f(a):\n  """A."""\n  return a\n', "def g(a):\n  return a\n", "def f(a):\n  return -a\n")
    )
    assert fingerprints.of_symbol(one) == fingerprints.of_symbol(two) != fingerprints.of_symbol(three)


def test_statements_come_in_file_order_and_compound_ones_as_their_header():
    text = "if a:\n  b()\nelif c:\n  d()\nelse:\n  try:\n    e()\n  except E:\n    f()\nmatch x:\n  case 1:\n    g()\n"
    lines = text.splitlines()
    found = [" ".join(lines[n - 1].strip() for n in s.span.lines) for s in fingerprints.statements(ast.parse(text))]
    assert found == ["if a:", "b()", "elif c:", "d()", "try:", "e()", "except E:", "f()", "match x:", "case 1:", "g()"]
