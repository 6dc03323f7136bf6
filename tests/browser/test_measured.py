"""What is measured of the real site: accessibility, how heavy its largest page is, and how long a build takes.

Each ratio is to something that is measured in the same run: the theme's shell with nothing in it, the theme with the
same file as one block of code, and MkDocs with the same pages.
"""

from __future__ import annotations

import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page
from selectolax.lexbor import LexborHTMLParser as Html

from tests.browser.conftest import NARROW, WIDE
from track.pages.config import load_config
from track.pages.generator import site_environment
from track.pages.lifted import lifted, put_back
from track.pins import lock

pytestmark = [pytest.mark.alone, pytest.mark.timeout(1500)]

ROUNDS, SESSIONS = 5, 2
SECONDS = 10
"""What axe may take for a page; on the stock theme's page of the largest file it takes minutes."""
FLOOR = 50
"""Milliseconds of blocking below which pages are not told apart: of a task, Lighthouse counts what is above as many."""

type Measured = dict[str, dict[str, float]]
"""Medians by page, which is the largest one, the shell or the stock one, and by what was measured."""
LIMITS: dict[str, Callable[[Measured], bool]] = {
    "blocks a twentieth of stock": lambda m: m["largest"]["blocking"] <= m["stock"]["blocking"] / 20,
    "blocks three empty pages": lambda m: m["largest"]["blocking"] <= 3 * max(m["shell"]["blocking"], FLOOR),
    "scores as an empty page": lambda m: m["largest"]["score"] >= m["shell"]["score"] - 3,
    "moves nothing": lambda m: m["largest"]["shift"] == 0,
}


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["front", "annotated", "source", "article", "reference", "API"])
def test_axe_finds_nothing_on_any_kind_of_page(kinds, url, npm, watched, kind, scheme, size):
    page = watched.open(f"{url}/{kinds[kind]}", size, scheme)
    page.wait_for_timeout(500)
    page.evaluate((npm / "axe-core" / "axe.min.js").read_text() + ";0")  # through the debugger, which no policy stops
    start = worked(page)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    took = worked(page) - start
    told = [(one["id"], node["html"][:120], node["failureSummary"][:200]) for one in found for node in one["nodes"]]
    assert told == []
    assert took < SECONDS


def worked(page: Page) -> float:
    """Seconds for which the page's own process has had a processor, so what other programs do does not count."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    found = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    session.detach()
    return found["ProcessTime"]


@pytest.fixture(scope="module")
def measured(folder, largest, serve_gzipped, tmp_path_factory, real, chromium, node):
    """Medians of Lighthouse's mobile profile for the largest page, the shell and the stock page, by these names.

    They are of one session; what else the machine does can only add, so a session that misses a limit has a second one.
    """
    shell = Path(largest).with_name("shell.html").as_posix()
    (folder / shell).write_text(emptied((folder / largest).read_text()))
    stock = stock_site(tmp_path_factory.mktemp("stock"), [source_of(real.root, largest)])
    url = serve_gzipped(folder)
    addresses = {
        "largest": f"{url}/{largest}",
        "shell": f"{url}/{shell}",
        "stock": f"{serve_gzipped(stock)}/page0.html",
    }
    found: Measured = {}
    for _ in range(SESSIONS):
        rows = node("lighthouse.cjs", chromium, ROUNDS, *addresses.values(), seconds=600)
        found = {name: medians([row for row in rows if row["url"] == address]) for name, address in addresses.items()}
        if all(holds(found) for holds in LIMITS.values()):
            break
    (folder / shell).unlink()
    return found


def emptied(page: str) -> str:
    """The same page of the theme, with the same styles and scripts, and nothing to read but a heading."""
    tree = Html(page)
    for link in tree.css("link[rel=expect]"):
        link.decompose()  # what it waits for is gone
    for part in ("article", "nav.md-nav--secondary"):
        for found in tree.css(part):
            found.inner_html = "<h1>Shell</h1>" if part == "article" else ""
    return tree.html or ""


def file_of(root: Path, page: str) -> str:
    """The file that a page is about, as its front matter says, or nothing."""
    text = (root / "docs" / page).with_suffix(".md").read_text()
    found = re.search(r"^file: (.+)$", text.split("\n---\n")[0], re.MULTILINE) if text.startswith("---") else None
    return found[1].strip() if found else ""


def source_of(root: Path, page: str) -> str:
    """The source that a page is about, whole."""
    pins = lock.read(root / "pins.toml").values()
    places = [root / "build" / "sources" / f"{pin.project}-{pin.commit}" / file_of(root, page) for pin in pins]
    (found,) = [place for place in places if place.is_file()]
    return found.read_text()


def stock_site(folder: Path, texts: Sequence[str]) -> Path:
    """Sources as the theme's manual has them: each file a page with one numbered block; no font of another host."""
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text("# Stock\n")
    for number, text in enumerate(texts):
        (folder / "docs" / f"page{number}.md").write_text(f'# Page\n\n``````python linenums="1"\n{text}\n``````\n')
    config = {
        "site_name": "Stock",
        "use_directory_urls": False,
        "theme": {"name": "material", "font": False},
        "plugins": ["search"],
        "markdown_extensions": [
            {"pymdownx.highlight": {"anchor_linenums": True, "line_spans": "__span", "pygments_lang_class": True}},
            "pymdownx.superfences",
        ],
    }
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(config))
    subprocess.run([sys.executable, "-m", "mkdocs", "build"], cwd=folder, check=True, capture_output=True)
    return folder / "site"


def medians(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    assert len(rows) == ROUNDS
    return {name: statistics.median(row[name] for row in rows) for name in ("blocking", "shift", "score")}


@pytest.mark.parametrize("limit", LIMITS)
def test_the_largest_page_is_nearly_as_light_as_an_empty_one(measured, limit):
    assert measured["stock"]["blocking"] > 20 * FLOOR, measured  # else there is nothing to compare with
    assert LIMITS[limit](measured), measured


def timed(work: Callable[[], object]) -> float:
    start = time.monotonic()
    work()
    return time.monotonic() - start


def worked_for(work: Callable[[], object]) -> float:
    """Seconds of a processor that the programs took which `work` ran, so what others do does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def stock_copy(root: Path) -> Path:
    """The site's own pages as the theme's manual would have them: every listing a numbered block of code, searched.

    Prose, notes, figures, verdicts and the pages about modules are those of the site, so both build as many pages with
    the same on them. What is left out is what the theme does not have: marks, links in code, folds, styles and scripts.
    """
    pages, config = root / "build" / "stock-pages", root / "stock.yml"
    shutil.copytree(root / "build" / "pages", pages)
    for path in sorted(pages.rglob("*.md")):
        text, blocks = lifted(path.read_text(), ())
        path.write_text(put_back(text, [fenced(block) for block in blocks], path.name))
    settings = load_config(root / "mkdocs.yml", site_environment(root))
    extensions = [one for one in settings["markdown_extensions"] if "pymdownx.highlight" not in one]  # pyright: ignore[reportGeneralTypeIssues] -- YAML is untyped
    plugins = ["search", *(one for one in settings["plugins"] if "search" not in one)]  # pyright: ignore[reportGeneralTypeIssues] -- as above
    numbered = {"pymdownx.highlight": {"anchor_linenums": True, "line_spans": "__span", "pygments_lang_class": True}}
    settings |= {
        "docs_dir": "build/stock-pages",
        "site_dir": "build/stock",
        "theme": {"name": "material", "font": False},
    }
    settings |= {"plugins": plugins, "markdown_extensions": [*extensions, numbered]}
    settings |= {"extra_css": [], "extra_javascript": []}
    config.write_text(yaml.safe_dump(settings))
    return config


def fenced(block: str) -> str:
    """A listing as a block of code with its notes after it; another block of HTML as it is."""
    if not block.startswith('<div class="lst"'):
        return block
    tree = Html(block)
    code = "\n".join(part.text() for part in tree.css("pre[data-search-exclude]"))
    notes = [note.html or "" for note in tree.css(".lst-note")]
    return "\n\n".join([f'``````python linenums="1"\n{code}\n``````', *notes])


def test_a_build_after_a_change_takes_half_of_what_mkdocs_takes_for_the_same_pages(real):
    """Both build the whole site, with evidence and facts known to both, and in seconds of a processor.

    Ours is what a person waits for who changed a page: every page is read and bound to its source, and all links are
    checked, but what became of the other pages is kept. MkDocs keeps nothing, and gets the woven pages for nothing.
    """
    config = stock_copy(real.root)
    lines = sum(path.read_text().count("></u>") for path in (real.root / "build" / "pages").rglob("*.md"))
    fences = [path.read_text().split("``````") for path in (real.root / "build" / "stock-pages").rglob("*.md")]
    assert sum(code.count("\n") - 1 for parts in fences for code in parts[1::2]) == lines  # nothing is left out
    real.edit("docs/index.md", "## The path", "Changed.\n\n## The path")
    ours = worked_for(lambda: real.track("build"))
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", config]
    environment = site_environment(real.root)
    stock = worked_for(lambda: subprocess.run(command, cwd=real.root, env=environment, check=True, capture_output=True))
    assert ours <= stock / 2, (ours, stock, lines)


def test_a_build_with_nothing_changed_is_done_at_once(real):
    real.track("build")
    assert min(timed(lambda: real.track("build")) for _ in range(3)) <= 1.5  # the machine may be busy once
