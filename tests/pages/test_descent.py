"""The descent: every form in a tab, the quoted lines lit, and an error for a quote that is not there."""

from __future__ import annotations

import re

import markdown
import pytest

from track.errors import BadInput, Findings
from track.pages.descent import Tab, descent, lines_of

JAXPR = """
{ lambda ; a:f32[8,128]. let
    b:f32[8,128] = mul a 2.0:f32[]
    c:f32[8,128] = pallas_call[
      name=double
    ] b
  in (c,) }
"""
AT: dict[str, object] = {"page": "docs/tpu/pipeline.md:12"}
EXTENSIONS = ["pymdownx.superfences", "pymdownx.highlight", "pymdownx.tabbed"]  # those of mkdocs.yml that matter here


def html_of(text: str) -> str:
    """What a browser gets."""
    return markdown.markdown(
        text, extensions=EXTENSIONS, extension_configs={"pymdownx.tabbed": {"alternate_style": True}}
    )


def lit(page: str) -> list[str]:
    """The lines that are lit, without their colors."""
    return [re.sub("<[^>]+>", "", line) for line in re.findall(r'<span class="hll">(.*?)\n</span>', page)]


def test_each_form_is_a_tab_in_order() -> None:
    page = html_of(descent([Tab("jaxpr", JAXPR), Tab("LLVM", "ret i32 1", language="llvm")], AT))
    assert re.findall(r"<label[^>]*>([^<]+)</label>", page) == ["jaxpr", "LLVM"]
    assert page.count('<div class="tabbed-block">') == 2
    assert '<span class="k">ret</span>' in page


def test_quoted_lines_are_lit_in_the_page() -> None:
    page = html_of(descent([Tab("jaxpr", JAXPR, ("mul a 2.0", "pallas_call[ name=double ] b"))], AT))
    assert [line.strip() for line in lit(page)] == [
        "b:f32[8,128] = mul a 2.0:f32[]",
        "c:f32[8,128] = pallas_call[",
        "name=double",
        "] b",
    ]


@pytest.mark.parametrize(
    ("text", "quote", "expected"),
    [
        ("a b\nc d", "b c", [1, 2]),
        ("add\nmul\nadd", "add", [1, 3]),
        ("add1\nadd\nmyadd", "add", [2]),
        ("x = f(\n  y)", "f(y)", [1, 2]),
        ("%12 = add", "2 = add", []),
        ("é\nret", "ret", [2]),
        ("a", "", []),
        ("a", "a a", []),
    ],
)
def test_a_quote_is_found_whatever_the_layout_and_cuts_no_name(text: str, quote: str, expected: list[int]) -> None:
    assert lines_of(text, quote) == expected


def test_a_quote_that_is_not_there_is_an_error_with_a_place() -> None:
    with pytest.raises(BadInput, match="not there") as raised:
        descent([Tab("jaxpr", JAXPR, ("dot_general",))], AT)
    assert raised.value.details["page"] == "docs/tpu/pipeline.md:12"
    assert (raised.value.details["tab"], raised.value.details["quote"]) == ("jaxpr", "dot_general")


def test_all_lost_quotes_are_shown_together() -> None:
    with pytest.raises(Findings) as raised:
        descent([Tab("jaxpr", JAXPR, ("sub", " ")), Tab("ptx", "ret;", ("wgmma",))], AT)
    assert len(raised.value.errors) == 3


@pytest.mark.parametrize(
    "text", ["```\nfence\n```", "````text\n~~~", '=== "tab"\n\n    # no heading\n- no list', "<script>x</script>&amp;"]
)
def test_a_text_is_shown_and_never_read(text: str) -> None:
    page = html_of(descent([Tab("form", text), Tab("next", "x")], AT))
    shown = re.sub("<[^>]+>", "", page.split("<code>")[1].split("</code>")[0])
    assert shown.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&") == text + "\n"
    assert page.count('<div class="tabbed-block">') == 2


def test_a_name_is_shown_and_never_read() -> None:
    page = html_of(descent([Tab('after "*tiling*" <1>', "x")], AT))
    assert re.findall(r"<label[^>]*>(.*?)</label>", page) == ["after &#34;&#42;tiling&#42;&#34; &lt;1&gt;"]


def test_two_descents_after_each_other_stay_two() -> None:
    one = descent([Tab("a", "x"), Tab("b", "y")], AT)
    assert html_of(f"{one}\n{one}").count('class="tabbed-set') == 2


def test_a_note_is_markdown_above_the_text() -> None:
    page = html_of(descent([Tab("a", "x", note="As *traced*.")], AT))
    assert page.index("<em>traced</em>") < page.index("<code>")


def test_blank_lines_at_the_ends_move_no_light() -> None:
    assert lit(html_of(descent([Tab("a", "\n\n  first\nsecond\n\n", ("second",))], AT))) == ["second"]


def test_no_form_and_two_of_one_name_are_bad_input() -> None:
    with pytest.raises(BadInput, match="at least one form"):
        descent([], AT)
    with pytest.raises(BadInput, match="one name"):
        descent([Tab("a", "x"), Tab("a", "y")], AT)


def test_equal_forms_give_equal_text() -> None:
    tabs = [Tab("jaxpr", JAXPR, ("mul a", "in (c,)"))]
    assert descent(tabs, AT) == descent(tabs, dict(AT))
