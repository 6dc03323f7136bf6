"""Notes as HTML: the site's own Markdown, and links that lead somewhere."""

from __future__ import annotations

import shutil

import pytest

from tests.pages.helpers import ROOT, dom
from track.errors import BadInput
from track.pages.notes import renderer


@pytest.fixture
def root(tmp_path):
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    for name in ("index.md", "tpu/page.md", "tpu/other.md", "reference/glossary.md"):
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text("# Page\n")
    return tmp_path


@pytest.fixture
def rendered(root):
    render = renderer(root, "docs/tpu/page.md")
    return lambda text: render(text, "docs/tpu/page.md:7")


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("| a | b |\n|---|---|\n| 1 | 2 |", "table td"),
        ("!!! note\n    Inside.", "div.admonition"),
        ("??? note\n    Inside.", "details"),
        ("word\n:   meaning", "dl dd"),
        ("text { .kind }\n{ .more }", "p.more"),
        ("```python\nx = 1\n```", "div.highlight"),
        ("`#!python x = 1`", "code.highlight"),
        ('=== "One"\n    Text.', "div.tabbed-set"),
    ],
)
def test_the_markdown_extensions_of_the_site_apply(rendered, text, selector):
    assert dom(rendered(text)).css_first(selector) is not None


def test_a_heading_in_a_note_is_no_heading_of_the_page(rendered):
    assert "headerlink" not in rendered("## Head")


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("other.md", "other.html"),
        ("other.md#a-part", "other.html#a-part"),
        ("../index.md", "../index.html"),
        ("../reference/glossary.md#pin", "../reference/glossary.html#pin"),
        ("#here", "#here"),
        ("https://example.org/a.md", "https://example.org/a.md"),
        ("../assets/a.svg", "../assets/a.svg"),
    ],
)
def test_a_link_to_a_page_leads_to_its_html(rendered, link, leads):
    html = dom(rendered(f"See [it]({link}) there."))
    assert html.css_first("a").attributes["href"] == leads


@pytest.mark.parametrize("link", ["missing.md", "index.md", "../tpu/missing.md#part", "../../mkdocs.md"])
def test_a_link_to_a_page_that_is_not_there_is_an_error_with_its_place(rendered, link):
    with pytest.raises(BadInput, match="link to a page that is not there") as caught:
        rendered(f"See [it]({link}).")
    assert caught.value.details == {"page": "docs/tpu/page.md:7", "link": link.partition("#")[0]}


def test_one_note_does_not_leak_into_the_next(rendered):
    rendered("[x]: https://example.org\n\n[x]")
    assert "<a" not in rendered("[x]")
