"""Errors as a person reads them, the exit codes that they end with, and the names that modules promise."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

import track
from track.errors import BadEnvironment, BadInput, Finding, Findings, TrackError, raise_all

MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(track.__path__, "track.")
    if not info.name.rpartition(".")[2].startswith("_")
)

DRIFT = """\
error: note 'grid-spec' no longer matches its code
  page   docs/a.md:42
  pin    jax 3254480
  found  line 1
         line 2
  next   track drift"""


def test_an_error_has_its_labels_aligned_and_the_next_step_last():
    details = {"page": "docs/a.md:42", "pin": "jax 3254480", "found": "line 1\nline 2"}
    assert str(Finding("note 'grid-spec' no longer matches its code", details, "track drift")) == DRIFT


def test_an_error_needs_no_details_and_no_next_step():
    assert str(BadInput("it is wrong")) == "error: it is wrong"
    assert str(BadInput("it is wrong", next_step="mend it")) == "error: it is wrong\n  next  mend it"


def test_an_error_keeps_its_details_as_text_in_their_order():
    error = BadInput("wrong", {"b": 1, "a": None})
    assert list(error.details.items()) == [("b", "1"), ("a", "None")]


@given(
    st.dictionaries(st.text("abcdefgh", min_size=1), st.text("xyz \n").map(str.strip), max_size=4),
    st.text("nop", max_size=5),
)
def test_every_label_is_followed_by_its_value_in_one_column(details, following):
    lines = str(BadInput("wrong", details, following)).split("\n")[1:]
    rows = [*details.items(), *([("next", following)] if following else [])]
    column = 4 + max((len(label) for label, _ in rows), default=0)
    read = iter(lines)
    for label, value in rows:
        first, *rest = value.split("\n")
        assert next(read) == f"  {label}".ljust(column) + first
        assert all(next(read) == " " * column + line for line in rest)
    assert list(read) == []


@pytest.mark.parametrize(("kind", "code"), [(Finding, 1), (BadInput, 2), (BadEnvironment, 3)])
def test_each_kind_has_its_exit_code(kind, code):
    assert kind("wrong").exit_code == code
    assert issubclass(kind, TrackError)


@pytest.mark.parametrize(
    ("kinds", "code"),
    [((Finding, Finding), 1), ((Finding, BadInput), 2), ((BadInput, BadEnvironment, Finding), 3)],
)
def test_several_errors_end_with_the_code_of_the_worst(kinds, code):
    assert Findings([kind("wrong") for kind in kinds]).exit_code == code


def test_several_errors_are_shown_one_after_the_other_and_counted():
    both = Findings([Finding("one", {"page": "a"}), BadInput("two")])
    assert str(both) == "error: one\n  page  a\nerror: two\n2 errors"
    assert [error.what for error in both.errors] == ["one", "two"]


def test_raising_all_raises_nothing_the_one_or_all():
    raise_all([])
    one, two = Finding("one"), BadInput("two")
    with pytest.raises(Finding) as alone:
        raise_all([one])
    assert alone.value is one
    with pytest.raises(Findings) as both:
        raise_all([one, two])
    assert both.value.errors == (one, two)


def test_there_are_modules_to_look_at():
    assert {"track.errors", "track.pages.layout", "track.facts.rules", "track.pins.git"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_every_name_that_a_module_promises_exists(name):
    module = importlib.import_module(name)
    promised = getattr(module, "__all__", [])
    assert len(promised) == len(set(promised))
    assert [entry for entry in promised if not hasattr(module, entry)] == []


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_for(name):
    assert importlib.import_module(name).__doc__
