"""The real site: built twice from copies of this project, and read as a whole."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import zlib
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from selectolax.lexbor import LexborHTMLParser as Html

ROOT = Path(__file__).parents[2]
PIPELINE = "jax/_src/pallas/mosaic/pipeline.py"
WHOLE = ("BufferedRef", "Scheduler", "_emit_pipeline")
"""What the pipeline page shows whole, docstrings excepted."""
PERMALINK = re.compile(
    r'href="https://github\.com/[\w.-]+/([\w.-]+)/blob/([0-9a-f]{40})/([^"#]+)(?:#L(\d+)(?:-L(\d+))?)?"'
)

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def real(copied, tmp_path_factory):
    """The site of a copy of this project, with no address."""
    site = copied(tmp_path_factory.mktemp("real") / "checkout", known=True)
    site.track("build", "--zensical")
    return site


@pytest.fixture(scope="module")
def source(real):
    """The pinned pipeline.py, as the copy has it."""
    return next((real.root / "build" / "sources").glob("jax-*")).joinpath(PIPELINE).read_text()


@pytest.fixture(scope="module")
def page(real):
    return Html(real.page("tpu/pipeline.html"))


@pytest.mark.timeout(1500)
def test_two_builds_are_the_same_bytes_kernels_and_figures_included(real, copied, tmp_path):
    """The second runs every kernel in every lane again."""
    again = copied(tmp_path / "somewhere else, at a longer path")
    again.track("build")
    one, two = real.files(), again.files()
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


def test_an_unchanged_build_runs_no_kernel_and_no_generator(real):
    assert "nothing changed" in real.track("build")


def test_what_is_committed_beside_the_pages_is_what_the_build_writes(real):
    """The build adds nothing to the locks: every note of every page was locked and committed."""
    for lock in sorted(real.root.glob("docs/**/*.lock.json")):
        assert lock.read_bytes() == (ROOT / lock.relative_to(real.root)).read_bytes()
    committed = subprocess.run(["git", "ls-files", "docs"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "docs/tpu/pipeline.lock.json" in committed.splitlines()


def test_zensical_says_the_same_on_every_page(real):
    other = real.root / "build" / "zensical" / "site"
    names = [name for name in real.files() if name.endswith(".html") and name != "404.html"]
    assert len(names) > 5
    differing = [name for name in names if words(other / name) != words(real.root / "build" / "site" / name)]
    assert differing == []


def words(path):
    """The words of a page's article, less what the themes add to it."""
    article = Html(path.read_text()).css_first("article")
    for extra in article.css("script, style, .headerlink, .md-content__button, .md-source-file"):
        extra.decompose()
    return article.text(separator=" ").split()


def numbers(node):
    return [int(anchor.attributes["id"][1:]) for anchor in node.css("pre u[id^=L]")]


def shown_and_folded(page):
    folded = {n for fold in page.css("details.lst-fold") for n in numbers(fold)}
    return {n for listing in page.css(".lst") for n in numbers(listing)} - folded, folded


def test_every_line_of_the_pipeline_is_on_its_page_as_it_is_in_the_file(page, source):
    lines = source.splitlines()
    blocks = [block for listing in page.css(".lst") for block in listing.css("pre")]
    texts = [text for block in blocks for text in block.text().split("\n")]
    found = dict(zip([n for block in blocks for n in numbers_of(block)], texts, strict=True))
    assert {n: lines[n - 1] for n in found} == found
    notice = page.css_first(".lst-license pre").text().splitlines()
    assert notice == lines[: len(notice)]
    missing = set(range(len(notice) + 1, len(lines) + 1)) - found.keys()
    assert all(not lines[n - 1] for n in missing)


def numbers_of(block):
    return [int(anchor.attributes["id"][1:]) for anchor in block.css("u[id^=L]")]


@pytest.mark.parametrize("name", WHOLE)
def test_the_heart_of_the_file_is_shown_whole_and_noted_well(page, source, name):
    tree = ast.parse(source)
    node = next(n for n in tree.body if getattr(n, "name", "") == name)
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = source.splitlines()
    code = {n for n in range(first, node.end_lineno + 1) if lines[n - 1].strip()}
    shown, _ = shown_and_folded(page)
    assert code - docstrings(node) <= shown
    noted = [span for span in note_spans(page) if first <= span[0] <= node.end_lineno]
    assert len(noted) * 12 >= len(shown & code)
    covered = {n for a, b in noted for n in range(a, b + 1)}
    assert longest_run(sorted(shown & code), covered, lines) <= 30


def docstrings(node):
    """Lines of every docstring below a node."""
    found = set()
    for inner in ast.walk(node):
        match getattr(inner, "body", None):
            case [ast.Expr(value=ast.Constant(str())) as doc, *_]:
                found |= set(range(doc.lineno, doc.end_lineno + 1))
    return found


def note_spans(page):
    for ref in page.css(".lst-note > .lst-ref"):
        first, _, last = ref.text().partition("–")
        yield int(first), int(last or first)


def longest_run(shown, covered, lines):
    best = run = 0
    for n in shown:
        if n in covered:
            run = 0
        elif not lines[n - 1].lstrip().startswith("#"):
            run += 1
        best = max(best, run)
    return best


def test_each_fold_says_what_its_symbol_is_for_and_no_two_say_the_same(page):
    roles = [" ".join(role.text().split()) for role in page.css(".lst-role")]
    assert len(roles) > 20
    assert all(len(role.split()) >= 3 for role in roles)
    assert len(set(roles)) == len(roles)


def test_coverage_agrees(real):
    row = next(row for row in json.loads(real.track("coverage", "--json")) if row["path"] == PIPELINE)
    assert row["unaccounted"] == 0
    assert row["notes"] * 12 >= row["shown"]
    assert row["longest_run"] <= 30


def test_the_page_shows_the_schedule_that_was_recorded(page):
    """Two truth tables of eight steps, and timelines with as many bodies."""
    tables = page.css("table.truth")
    assert [len(table.css("tbody tr")) for table in tables] == [8, 8]
    has_changed = [[row.css("td")[3].text() for row in table.css("tbody tr")] for table in tables]
    assert has_changed == [["yes"] * 8, ["yes", "–"] * 4]
    titles = [figure.css_first("svg title").text() for figure in page.css("figure.fig")]
    assert [title.split()[-1] for title in titles] == ["revisit", "scaled_copy", "revisit", "core"]


def test_the_picture_of_the_readme_is_the_one_that_was_recorded(real):
    """If this fails: cp build/site/figures/revisit-32-rows.svg docs/assets/revisit.svg."""
    picture = real.files()["figures/revisit-32-rows.svg"]
    assert picture == (ROOT / "docs" / "assets" / "revisit.svg").read_bytes()
    assert "docs/assets/revisit.svg" in (ROOT / "README.md").read_text()
    assert b"var(" not in picture


def test_no_id_occurs_twice_on_a_page(real):
    for name, data in real.files().items():
        if name.endswith(".html"):
            ids = [str(node.attributes["id"]) for node in Html(data.decode()).css("[id]")]
            assert sorted(ids) == sorted(set(ids)), name


def test_every_link_inside_the_site_leads_somewhere(real):
    files = real.files()
    pages = {name: Html(data.decode()) for name, data in files.items() if name.endswith(".html")}
    ids = {name: {node.attributes["id"] for node in page.css("[id]")} for name, page in pages.items()}
    links = [
        (name, node.attributes.get("href") or node.attributes.get("src") or "")
        for name, page in pages.items()
        for node in page.css("a[href], link[href], script[src], img[src]")
    ]
    assert len(links) > 100
    broken = [(name, link) for name, link in links if not leads(name, link, files, ids)]
    assert broken == []


def leads(page, link, files, ids):
    if re.match(r"[a-z]+:", link) or page == "404.html":  # the error page's links count from the server's root
        return True
    path, fragment = urldefrag(unquote(link))
    target = resolved(page, path)
    if target not in files:
        return False
    return not fragment or target not in ids or fragment in ids[target] or fragment == "__comments"


def resolved(page, path):
    if not path:
        return page
    parts = page.split("/")[:-1]
    for part in path.split("/"):
        if part == "..":
            parts.pop()
        elif part not in {".", ""}:
            parts.append(part)
    name = "/".join(parts)
    return name if "." in name.rpartition("/")[2] else f"{name}/index.html".lstrip("/")


def test_every_permalink_names_a_pinned_file_and_lines_that_it_has(real):
    pins = (real.root / "pins.toml").read_text()
    sources = real.root / "build" / "sources"
    links = set(PERMALINK.findall(real.page("tpu/pipeline.html")))
    assert len(links) > 20
    for project, commit, path, first, last in links:
        assert f'commit = "{commit}"' in pins
        length = len((sources / f"{project}-{commit}" / path).read_text().splitlines())
        assert int(first or 1) <= int(last or first or 1) <= length


SEARCHES = {
    "multiple of 128": "kernels/mistakes.html",
    "has_changed": "tpu/pipeline.html",
    "Revisited block": "kernels/mistakes.html",
    "out_of_fetch": "tpu/pipeline.html",
    "emit_pipeline": "tpu/pipeline.html",
    "BlockSpec": "language/blockspec.html",
    "_dot_general_lowering_rule": "tpu/lowering-source.html",
    "semaphore_wait": "language/primitives.html",
}
"""What somebody types, and the page that has to come first."""


@pytest.fixture(scope="module")
def first_result(real, serve, browser):
    """Types into the search box of the front page, as the theme's own worker answers it, and gives the first link."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    url = serve(real.root / "build" / "site")
    page.goto(f"{url}/index.html")
    box, shown = page.locator("input.md-search__input"), page.locator(".md-search-result__item")

    def search(words):
        box.click()
        box.fill("")
        box.press("Backspace")
        shown.first.wait_for(state="detached")
        box.press_sequentially(words)
        page.wait_for_timeout(300)  # the words before the last letter have other results
        link = shown.first.locator("a").first.get_attribute("href")
        return urldefrag(link.removeprefix(f"{url}/"))[0].partition("?")[0]

    yield search
    page.close()


@pytest.mark.parametrize("words", SEARCHES)
def test_a_search_finds_the_right_page_first(first_result, words):
    assert first_result(words) == SEARCHES[words]


def test_code_is_kept_out_of_the_search_and_notes_are_in(real):
    docs = json.loads(real.files()["search/search_index.json"])["docs"]
    told = " ".join(doc["text"] for doc in docs)
    assert "prev_indices = self._compute_index(buffered_ref, *self.prev_indices)" not in told
    assert "The index map has run before anything is compared" in told
    locations = [doc["location"] for doc in docs]
    assert len(locations) == len(set(locations))
    ids = {n: {node.attributes["id"] for node in Html(real.page(n)).css("[id]")} for n in map(page_of, locations)}
    assert [at for at in locations if "#" in at and at.partition("#")[2] not in ids[page_of(at)]] == []


def page_of(location):
    return location.partition("#")[0] or "index.html"


def inventory(data):
    """The entries of a Sphinx inventory, version 2: name, domain and role, priority, place, shown name."""
    head, _, rest = data.partition(b"zlib")
    assert head.startswith(b"# Sphinx inventory version 2\n")
    rows = zlib.decompress(rest.partition(b"\n")[2]).decode().splitlines()
    return {name: (role, place.replace("$", name)) for name, role, _, place, _ in (row.split(" ", 4) for row in rows)}


def test_the_inventory_leads_to_what_is_public_and_to_our_own(real):
    found = inventory(real.files()["objects.inv"])
    role, place = found["jax.experimental.pallas.BlockSpec"]
    assert (role, place) == ("py:class", "reference/api/pallas.html#jax.experimental.pallas.BlockSpec")
    assert found["jax.experimental.pallas.tpu.emit_pipeline"][0] == "py:function"
    assert "jax.experimental.pallas.mosaic_gpu.wgmma" in found
    assert {"track.pins.tree.SourceTree", "kernels.pipeline.kernel.revisit"} <= found.keys()
    ids = {
        n: {e.attributes["id"] for e in Html(real.page(n)).css("[id]")} for n in {page_of(p) for _, p in found.values()}
    }
    assert [place for _, place in found.values() if place.partition("#")[2] not in ids[page_of(place)]] == []


def test_every_name_that_is_a_link_has_a_card(real):
    files = real.files()
    cards = json.loads(files["assets/names.js"].decode().removeprefix("window.trackNames=").removesuffix(";\n"))
    missing, seen = [], 0
    for name, data in files.items():
        for link in Html(data.decode()).css(".lst pre a[href], a.name") if name.endswith(".html") else ():
            seen += 1
            href = str(link.attributes["href"])
            path, fragment = urldefrag(href)
            key = href if "://" in href else f"{resolved(name, path)}#{fragment}" if fragment else resolved(name, path)
            if key not in cards:
                missing.append((name, href))
    assert missing == []
    assert seen > 1000


OTHERS = {"jax-ml/jax", "jax-ml/jax-triton", "openxla/tokamax", "squidfunk/mkdocs-material", "GragasLab/nufftax"}
"""The repositories of others that pages lead to."""


def test_nothing_points_at_an_address_that_was_made_up(real):
    """With no remote and no workflow there is no link to a repository of ours."""
    for name, data in real.files().items():
        if name.endswith(".html"):
            links = set(re.findall(r'href="https://github\.com/([\w.-]+/[\w.-]+)', data.decode()))
            assert links <= OTHERS, name
