"""A build after a change: pages that are as they were are not made again, and the site is that of a first build."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from tests.site.conftest import Site

ELSEWHERE = "# Elsewhere\n\nTo [putting](pages/box.md#putting), and to [a line](pages/box.md#L25).\n"


def cold(site: Site) -> dict[str, bytes]:
    """The site built with nothing kept."""
    for name in ("kept", "pages", "site"):
        shutil.rmtree(site.root / "build" / name)
    site.track("build")
    return site.files()


def kept(site: Site) -> dict[str, int]:
    """When what is kept of each page was written, by kind and page."""
    folder = site.root / "build" / "kept"
    return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in sorted(folder.rglob("*.msgpack"))}


@pytest.fixture
def three(site: Site) -> Site:
    """A checkout with a third page, which leads to anchors of the annotated one."""
    (site.root / "docs" / "elsewhere.md").write_text(ELSEWHERE)
    site.edit("mkdocs.yml", "{ A box: pages/box.md }", "{ A box: pages/box.md }, { Elsewhere: elsewhere.md }")
    site.track("build")
    return site


def gone(site: Site) -> None:
    site.edit("mkdocs.yml", ", { Elsewhere: elsewhere.md }", "")
    (site.root / "docs" / "elsewhere.md").unlink()


CHANGES: dict[str, Callable[[Site], object]] = {
    "prose of one page": lambda site: site.edit("docs/elsewhere.md", "# Elsewhere\n", "# Elsewhere\n\nMore.\n"),
    "a heading": lambda site: site.edit("docs/elsewhere.md", "# Elsewhere", "# Somewhere"),
    "a note": lambda site: site.edit("docs/pages/box.md", "How much fits.", "How much fits in."),
    "the navigation": lambda site: site.edit("mkdocs.yml", "Elsewhere: ", "Another place: "),
    "a kernel": lambda site: site.edit("kernels/broken/cases.py", "not a cell", "no cell at all"),
    "a style sheet": lambda site: (site.root / "docs/assets/more.css").write_text("p {}"),
    "a page that goes": gone,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_after_a_change_the_site_is_that_of_a_first_build(three, change):
    before = three.files()
    change(three)
    three.track("build")
    after = three.files()
    assert after != before
    assert after == cold(three)


def test_only_the_changed_page_is_made_again(three):
    before = kept(three)
    three.edit("docs/elsewhere.md", "To [putting]", "First to [putting]")
    assert "1 pages woven" in three.track("build")
    after = kept(three)
    assert {name for name in after if after[name] != before[name]} == {
        "html/elsewhere.md.msgpack",
        "woven/docs/elsewhere.md.msgpack",
    }


def test_a_link_to_an_anchor_of_a_kept_page_is_checked(three):
    three.edit("docs/elsewhere.md", "#putting", "#nowhere")
    assert "nowhere" in three.track("build", code=1)


def test_an_anchor_that_goes_is_missed_by_a_kept_page(three):
    three.edit("docs/pages/box.md", "## Putting", "## Laying")
    assert "putting" in three.track("build", code=1)
