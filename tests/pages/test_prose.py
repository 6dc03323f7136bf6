"""Facts and formulas in prose, and everything else left as it is."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages.helpers import dom, errors_of
from track.errors import BadInput, TrackError
from track.facts.catalog import Fact
from track.pages.prose import fill

FACTS = {
    fact.name: fact
    for fact in (
        Fact("box.lines", 1234, "lines", "here"),
        Fact("box.span", "3–4", "span", "here"),
        Fact("box.gone", None, "gone", "here", "no symbol 'gone'"),
    )
}


def filled(text: str) -> str:
    return fill(text, FACTS, lambda line: f"page.md:{line + 10}")


def refused(text: str) -> TrackError:
    with pytest.raises(TrackError) as caught:
        filled(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "woven"),
    [
        ("It has {{ box.lines }} lines.", "It has 1,234 lines."),
        ("{{box.lines}}, {{  box.span  }}", "1,234, 3–4"),
        ("`{{ box.span }}`", "`3–4`"),
        ("# Head {{ box.span }}", "# Head 3–4"),
        ("- item\n\n  {{ box.span }}", "- item\n\n  3–4"),
    ],
)
def test_a_fact_is_put_where_its_name_stands(text, woven):
    assert filled(text) == woven


@pytest.mark.parametrize(
    "text",
    [
        "```\n{{ box.lines }}\n```",
        "~~~python\n{{ nothing }}\n\\( a \\)\n~~~",
        "Text.\n\n    {{ box.lines }} \\( a \\)\n\nText.",
        "- item\n\n  ```\n  {{ box.lines }}\n  ```",
    ],
)
def test_fenced_and_indented_code_is_left_alone(text):
    assert filled(text) == text


def test_an_unknown_fact_is_an_error_with_its_line_and_the_closest():
    error = refused("One.\n\nIt has {{ box.line }} lines.")
    assert isinstance(error, BadInput)
    assert error.what == "no fact 'box.line'"
    assert error.details["page"] == "page.md:12"
    assert "box.lines" in error.details["closest"].split(", ")
    assert error.next_step


def test_an_absent_fact_is_an_error_with_the_reason():
    error = refused("{{ box.gone }}")
    assert isinstance(error, BadInput)
    assert error.details == {"page": "page.md:10", "why": "no symbol 'gone'"}


def test_all_unknown_facts_are_said_at_once():
    places = [error.details["page"] for error in errors_of(refused("{{ a }} {{ b }}\n\n`{{ c }}`"))]
    assert places == ["page.md:10", "page.md:10", "page.md:12"]


def test_formulas_become_mathml():
    text = filled(r"So \( a + b \) and" + "\n\n" + r"\[ \frac{x}{2} \]")
    assert text.count("<math") == 2
    assert 'display="inline"' in text
    assert 'display="block"' in text
    assert "<mfrac><mrow><mi>x</mi></mrow><mrow><mn>2</mn></mrow></mfrac>" in text
    assert "\\" not in text


def test_a_formula_may_reach_over_lines():
    assert filled("\\( a\n+ b \\)").count("<math") == 1


def test_a_formula_holds_nothing_that_markdown_would_read():
    text = filled(r"\( a_1 * b_2 * c \text{_x_} \)")
    assert "*" not in text
    assert "_" not in text


def test_a_fact_may_stand_in_a_formula():
    assert dom(filled(r"\( {{ box.lines }} \)")).text() == "1,234"


@pytest.mark.parametrize("text", [r"`\( a \)`", r"`` ` \( a \) ``", "`\\( a\n\\)`", r"x `a` y `\[ b \]` z"])
def test_a_code_span_keeps_its_formula(text):
    assert filled(text) == text


def test_a_formula_between_code_spans_is_drawn():
    text = filled(r"`\( a \)` \( b \) `\( c \)`")
    assert text.startswith(r"`\( a \)` <math")
    assert text.endswith(r"</math> `\( c \)`")


@pytest.mark.parametrize("formula", [r"\frac", r"a_", r"\left( a", r"x_1_2", r"\style", r"\genfrac )", " "])
def test_a_formula_that_cannot_be_read_is_an_error_with_its_line(formula):
    error = refused("One.\n\n`code` and\n" + rf"so \({formula}\)")
    assert isinstance(error, BadInput)
    assert error.details["page"] == "page.md:13"
    assert error.details["formula"] == formula.strip()


TEXTS = (
    st.lists(
        st.sampled_from(
            ["a", "`", "``", "```", "\n", "    ", "{", "}", "\\", "(", ")", "[", "]", "*", "# ", "- ", "<b>", "  "]
        )
    ).map("".join)
    | st.text()
)


@given(TEXTS.filter(lambda text: not any(mark in text for mark in ("{{", "\\(", "\\["))))
def test_text_with_no_fact_and_no_formula_is_unchanged(text):
    assert filled(text) == text


@given(st.text(alphabet="ab`\\()[] \n{}_^&", max_size=30))
def test_any_text_is_filled_or_an_error_of_ours(text):
    with contextlib.suppress(TrackError):
        assert isinstance(filled(text), str)
