"""The same woven pages under another generator say the same."""

from __future__ import annotations

from pathlib import Path

from selectolax.lexbor import LexborHTMLParser as Html


def words(path: Path) -> list[str]:
    """The words of a page's article, less what the themes add to it."""
    article = Html(path.read_text()).css_first("article")
    for extra in article.css("script, style, .headerlink, .md-content__button, .md-source-file"):
        extra.decompose()
    return article.text(separator=" ").split()


def test_zensical_builds_the_same_article_text_and_leaves_the_site_alone(built):
    before = built.files()
    built.track("build", "--zensical")
    other = built.root / "build" / "zensical" / "site"
    for name in ("index.html", "pages/box.html"):
        assert words(other / name) == words(built.root / "build" / "site" / name)
    assert {"Putting", "LIMIT", "append", "crashed"} <= set(words(other / "pages/box.html"))
    assert built.files() == before
