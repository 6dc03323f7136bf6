"""Which definition of the new pin is which of the old one: small pairs of sources, and laws over them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from track.anchors import symbols
from track.anchors.forest import Forest
from track.anchors.match import Matches, match

LONG = "  total = g(x) + h(y) * k(z) - 1\n  return total\n"
F, G = f"def f(x, y, z):\n{LONG}", f"def g(x, y, z):\n{LONG}"
CLASS = f"class A:\n  size = 1\n  def f(x, y, z):\n  {LONG.replace('\n  ', '\n    ')}"


def forest(files: dict[str, str]) -> Forest:
    return Forest({path: symbols.parse(path, text) for path, text in files.items()})


def matched(old: dict[str, str], new: dict[str, str]) -> Matches:
    return match(forest(old), forest(new))


def told(found: Matches) -> dict[str, str]:
    """`file name: kind file name` of every old symbol."""
    return {" ".join(old): " ".join((m.kind, *(m.new or ()))) for old, m in found.by_old.items()}


PAIRS = [
    ("nothing changed", {"m": F}, {"m": F}, {"m f": "unchanged m f"}),
    ("another layout", {"m": "x = 1\n"}, {"m": "# why\n\nx = (1)\n"}, {"m x": "unchanged m x"}),
    (
        "another docstring",
        {"m": 'def f():\n  "a"\n  g()\n'},
        {"m": 'def f():\n  "b"\n  g()\n'},
        {"m f": "unchanged m f"},
    ),
    ("another value", {"m": "x = 1\n"}, {"m": "x = 2\n"}, {"m x": "edited m x"}),
    ("another file", {"m": F, "n": ""}, {"m": "", "n": F}, {"m f": "moved n f"}),
    ("another file, and edited", {"m": F}, {"n": F.replace("- 1", "- 2")}, {"m f": "moved n f"}),
    ("another name", {"m": F}, {"m": F.replace("def f", "def of")}, {"m f": "renamed m of"}),
    ("another name and file", {"m": F}, {"n": F.replace("def f", "def of")}, {"m f": "renamed n of"}),
    ("another name, and edited", {"m": F}, {"m": "def of(x):\n  return x\n"}, {"m f": "lost"}),
    ("another name, and too short to be known by", {"m": "x = 1\n"}, {"m": "y = 1\n"}, {"m x": "lost"}),
    ("gone", {"m": F}, {"m": ""}, {"m f": "lost"}),
    ("two of one body that swap names", {"m": F + G}, {"m": G + F}, {"m f": "unchanged m f", "m g": "unchanged m g"}),
    (
        "one became two",
        {"m": F},
        {"m": F.replace("def f", "def a") + G.replace("def g", "def b")},
        {"m f": "ambiguous"},
    ),
    ("two became one", {"m": F + G}, {"m": F.replace("def f", "def a")}, {"m f": "lost", "m g": "lost"}),
    ("the same name in two other files", {"m": F}, {"n": F, "o": F}, {"m f": "ambiguous"}),
    (
        "a class with another name brings its members along",
        {"m": CLASS},
        {"m": CLASS.replace("class A", "class B")},
        {"m A": "renamed m B", "m A.size": "renamed m B.size", "m A.f": "renamed m B.f"},
    ),
    (
        "a class in another file brings its members along",
        {"m": CLASS, "n": ""},
        {"m": "", "n": CLASS},
        {"m A": "moved n A", "m A.size": "moved n A.size", "m A.f": "moved n A.f"},
    ),
    (
        "definitions of one name are told apart by their bodies",
        {"m": "if a:\n  x = 1\nelse:\n  x = 2\n"},
        {"m": "if a:\n  x = 2\nelse:\n  x = 1\n"},
        {"m x (1 of 2)": "unchanged m x (2 of 2)", "m x (2 of 2)": "unchanged m x (1 of 2)"},
    ),
    (
        "definitions of one name that nothing tells apart",
        {"m": "x = 1\n"},
        {"m": "if a:\n  x = 2\nelse:\n  x = 3\n"},
        {"m x": "ambiguous"},
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), [p[1:] for p in PAIRS], ids=[p[0] for p in PAIRS])
def test_a_definition_is_found_again(old, new, expected):
    assert told(matched(old, new)) == expected


def test_what_no_old_definition_became_is_added():
    assert matched({"m": "x = 1\n"}, {"m": "x = 1\ny = 2\n", "n": F}).added == (("m", "y"), ("n", "f"))


def test_a_lost_definition_has_the_names_most_like_it_as_candidates():
    found = matched({"m": "def finalize(x):\n  return x\n"}, {"m": "def finalize_step(y):\n  return y + 1\nz = 1\n"})
    assert found.by_old["m", "finalize"].candidates == (("m", "finalize_step"),)


def test_a_definition_that_became_several_has_them_as_candidates():
    found = matched({"m": F}, {"n": F, "o": F})
    assert found.by_old["m", "f"].candidates == (("n", "f"), ("o", "f"))


NAMES = st.sampled_from(["a", "b", "c", "d"])
BODIES = st.sampled_from(["  return 1\n", "  x = 2\n  return x\n", LONG, LONG.replace("- 1", "- 2")])
FILES = st.dictionaries(
    st.sampled_from(["m", "n"]),
    st.lists(st.tuples(NAMES, BODIES), max_size=4).map(
        lambda found: "".join(f"def {name}(x, y, z):\n{body}" for name, body in found)
    ),
    min_size=1,
)


@given(FILES, FILES)
def test_every_definition_has_one_fate_and_no_two_share_a_partner(old, new):
    before, after = forest(old), forest(new)
    found = match(before, after)
    partners = [m.new for m in found.by_old.values() if m.new]
    assert set(found.by_old) == set(before.symbols)
    assert len(partners) == len(set(partners))
    assert set(partners) | set(found.added) == set(after.symbols)
    assert not set(partners) & set(found.added)
    assert all((m.new is None) == (m.kind in {"ambiguous", "lost"}) for m in found.by_old.values())


@given(FILES)
def test_nothing_drifts_from_a_pin_to_itself_unless_it_has_a_twin(files):
    found = match(forest(files), forest(files))
    for (path, selector), one in found.by_old.items():
        if "(" in selector and one.new is None:
            continue  # one name, several definitions with one body: nothing tells them apart
        assert (one.kind, one.new) == ("unchanged", (path, selector))


@given(FILES, FILES)
def test_there_and_back_are_the_same_pairs(old, new):
    there, back = matched(old, new), matched(new, old)
    pairs = {(a, m.new) for a, m in there.by_old.items() if m.new}
    assert {(m.new, b) for b, m in back.by_old.items() if m.new} == pairs
