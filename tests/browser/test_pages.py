"""Every page of the real site, asked by programs of others: a validator, two browsers, and Python's own parser."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser as Html
from selectolax.lexbor import LexborNode as Node

from tests.browser.conftest import LINE, NARROW, WIDE
from track.pins import lock

pytestmark = pytest.mark.timeout(600)

PERMALINK = re.compile(r"https://github\.com/[\w.-]+/([\w.-]+)/blob/([0-9a-f]{40})/([^#]+?)(?:#L(\d+)(?:-L(\d+))?)?")


LAGS = "A “link” element with a “blocking” attribute must have a “rel” attribute whose value is “stylesheet”."


def test_every_page_is_valid_html(folder, java, npm):
    """The W3C's validator finds no error, a second element with an id and a policy that is none included.

    It lags behind the standard in one: `blocking` may be on a link whose `rel` is `expect`, too (section 4.2.4).
    """
    jar = npm / "vnu-jar" / "build" / "dist" / "vnu.jar"
    command = [java, "-Xss4m", "-jar", str(jar), "--errors-only", "--format", "json", "--skip-non-html", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(run.stderr)["messages"]
    told = [(m["url"].removeprefix(folder.as_uri()), m.get("lastLine"), m["message"]) for m in found]
    assert [one for one in told if one[2] != LAGS] == []
    expecting = {path for path in folder.rglob("*.html") if '<link rel="expect"' in path.read_text()}
    assert len(told) == len(expecting)  # so an update of the validator tells when the exception can go


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_every_page_opens_in_peace_and_is_no_wider_than_the_screen(pages, url, watched, size):
    """No error in the console, no request to another host, and numbers stand where their column wants them."""
    odd: dict[str, object] = {}
    for name in pages:
        page = watched.open(f"{url}/{name}", size)
        page.wait_for_timeout(150)
        if found := page.evaluate(ODD):
            odd[name] = found
        watched.close()
    assert odd == {}


ODD = """() => {
  const root = document.documentElement;
  const wide = root.scrollWidth > root.clientWidth ? [`${root.scrollWidth} pixels`] : [];
  const right = [...document.querySelectorAll('.to-right')].filter(cell => getComputedStyle(cell).textAlign != 'right');
  return [...wide, ...right.map(cell => cell.outerHTML)].join() || null;
}"""


def test_on_a_wide_screen_the_columns_of_a_sweep_are_all_in_sight(url, watched):
    page = watched.open(f"{url}/language/tiled-matmul.html", WIDE)
    table = page.locator("table", has=page.locator("th", has_text="bundles of a step"))
    assert table.evaluate("node => node.closest('.md-typeset__scrollwrap').scrollWidth") <= table.evaluate(
        "node => node.closest('.md-typeset__scrollwrap').clientWidth"
    )


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("kind", ["annotated", "source"])
def test_the_tab_key_passes_through_a_page_of_source_in_few_steps(kinds, pages, url, watched, kind, size):
    """Pressed until it leaves the page: at most 20 stops besides the notes."""
    notes = len(Html(pages[kinds[kind]]).css(".lst-note"))
    page = watched.open(f"{url}/{kinds[kind]}", size)
    page.wait_for_timeout(500)
    page.evaluate(STOPS)
    for _ in range(notes + 21):
        page.keyboard.press("Tab")
    stops = page.evaluate("[...stops]")
    assert len(stops) <= notes + 20, stops


STOPS = """() => {
  window.stops = new Set();
  let count = 0;
  const name = node => `${count += 1} ${node.tagName} ${node.className} ${node.textContent.slice(0, 30)}`;
  document.addEventListener('focusin', event => stops.add(name(event.target)));
}"""


def test_an_injected_script_does_not_run(folder, url, pages, browser):
    """The same page with a script that somebody has put into it: the policy was made without it."""
    evil = pages["index.html"].replace("</body>", "<script>document.title = 'evil'</script></body>")
    (folder / "evil.html").write_text(evil)
    try:
        page = browser.new_page()
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.goto(f"{url}/evil.html")
        assert page.title() != "evil"
        assert any("Content Security Policy" in text for text in said)
    finally:
        (folder / "evil.html").unlink()


def test_the_zip_is_the_whole_site_and_works_with_no_server(folder, tmp_path, watched):
    with zipfile.ZipFile(folder / "pallas-from-the-inside.zip") as archive:
        archive.extractall(tmp_path)
    home = tmp_path / "pallas-from-the-inside"
    online = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.suffix != ".zip"}
    assert online <= {path.relative_to(home) for path in home.rglob("*")}
    page = watched.open(f"{home.as_uri()}/index.html", home=home.as_uri())
    page.locator("ol.track a").first.click()
    page.wait_for_load_state()
    assert page.url.startswith(home.as_uri())
    assert page.url != f"{home.as_uri()}/index.html"
    page.keyboard.press("f")  # the theme's key for searching
    page.keyboard.type("has_changed")
    page.locator(".md-search-result__link").first.wait_for()
    page.locator(".md-search-result__link").first.click()
    page.wait_for_load_state()
    assert "tpu/pipeline.html" in page.url
    assert page.locator("link[rel=stylesheet]").count() == page.evaluate("document.styleSheets.length")


def test_no_link_of_the_zip_is_broken(folder):
    """The one link that a page online has and a page offline cannot have is the one to the zip."""
    with zipfile.ZipFile(folder / "pallas-from-the-inside.zip") as archive:
        names = archive.namelist()
        pages = {name: archive.read(name).decode() for name in names if name.endswith(".html")}
    assert [name for name, page in pages.items() if Html(page).css("a[href$='.zip']")] == []
    scripts = {
        name: Html(page).css_first("script[src$='offline.js']").attributes["src"] for name, page in pages.items()
    }
    there = {"pallas-from-the-inside/assets/offline.js"}
    assert {resolved(name, str(src)) for name, src in scripts.items() if not name.endswith("404.html")} == there


def resolved(page: str, link: str) -> str:
    parts = page.split("/")[:-1]
    for part in link.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def test_in_firefox_a_line_that_is_linked_to_comes_to_lie_at_the_top(pages, url, largest, firefox, node):
    numbers = sorted(int(found.group().rpartition("L")[2]) for found in LINE.finditer(pages[largest]))
    asked = [numbers[0], numbers[len(numbers) // 2], numbers[-1]]
    found = node("anchors.cjs", firefox, f"{url}/{largest}", *asked, seconds=240)
    assert [line["line"] for line in found] == asked
    assert [line for line in found if abs(line["y"] - line["top"]) > line["height"] + 1] == []


def test_every_permalink_leads_to_a_known_file_to_lines_that_it_has_and_to_the_symbol(real, pages):
    """Known is what is pinned, and on the page of changes also what a release holds whose wheel names its commit."""
    sources = Sources(real.root)
    wrong, checked = [], 0
    for name, page in pages.items():
        for link in Html(page).css("a[href*='/blob/']"):
            found = PERMALINK.fullmatch(str(link.attributes["href"]))
            assert found, (name, link.attributes["href"])
            project, commit, path, first, last = found.groups()
            assert commit in sources.pinned or name == "reference/what-changed.html", (name, link.attributes["href"])
            lines = sources.lines(project, commit, path)
            if not 1 <= int(first or 1) <= int(last or first or 1) <= len(lines):
                wrong.append((name, found[0]))
            symbol = symbol_of(link)
            if first and symbol:
                checked += 1
                if symbol not in sources.names(project, commit, path, int(first)):
                    wrong.append((name, found[0], symbol))
    assert wrong == []
    assert checked > 50


def symbol_of(link: Node) -> str:
    """The last part of the name that a link shows, or that the head of a listing shows beside it."""
    text = link.text().removesuffix("()")
    head = link.parent
    if head is not None and "lst-head" in str(head.attributes.get("class")):
        title = head.css_first("b")
        text = re.split(r"[,… (]", title.text())[0] if title else ""
    return text.rpartition(".")[2] if re.fullmatch(r"[A-Za-z_][\w.]*", text) and not text.endswith(".py") else ""


class Sources:
    """The pinned sources and those of releases, as Python's own parser reads them."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "build" / "sources"
        pins = lock.read(root / "pins.toml").values()
        self.pinned = {pin.commit for pin in pins}
        self.wheels: dict[str, zipfile.ZipFile] = {}
        for path in sorted((root / "build" / "wheels").glob("*.whl")):
            wheel = zipfile.ZipFile(path)
            versions = [wheel.read(name).decode() for name in wheel.namelist() if name.endswith("/version.py")]
            named = re.findall(r"(?im)^\w*git\w*: .+ = ['\"](\w{40})['\"]", "\n".join(versions))
            known = [pin.commit for pin in pins if path.name.startswith(f"{pin.project}-{pin.release.version}-")]
            self.wheels |= dict.fromkeys([*named, *known], wheel)
        self.kept: dict[tuple[str, str], Mapping[int, set[str]]] = {}

    def text(self, project: str, commit: str, path: str) -> str:
        file = self.folder / f"{project}-{commit}" / path
        return file.read_text() if file.is_file() else self.wheels[commit].read(path).decode()

    def lines(self, project: str, commit: str, path: str) -> list[str]:
        return self.text(project, commit, path).splitlines()

    def names(self, project: str, commit: str, path: str, first: int) -> set[str]:
        """What is defined by the first statement at or after a line, comments passed over."""
        lines = self.lines(project, commit, path)
        while not lines[first - 1].strip() or lines[first - 1].lstrip().startswith("#"):
            first += 1
        if (commit, path) not in self.kept:
            starts: dict[int, set[str]] = {}
            for line, name in defined(ast.parse(self.text(project, commit, path))):
                starts.setdefault(line, set()).add(name)
            self.kept[commit, path] = starts
        return self.kept[commit, path].get(first, set())


def defined(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a file binds, with the line on which its statement begins, decorators included."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.name
            case ast.Assign() | ast.AnnAssign() | ast.TypeAlias():
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Name | ast.Attribute) and isinstance(inner.ctx, ast.Store):
                        yield node.lineno, inner.id if isinstance(inner, ast.Name) else inner.attr
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    yield node.lineno, alias.asname or alias.name
            case _:
                pass


def test_the_lines_on_the_front_page_run_on_a_laptop(real, pages, tmp_path):
    """In a fresh checkout, with the packages of this environment standing in for a download."""
    text = Html(pages["index.html"]).css_first("pre.laptop code").text()
    lines = text.strip().splitlines()
    assert len(lines) == 3
    shutil.copytree(real.root / "kernels", tmp_path / "kernels")
    bin_ = Path(__file__).parents[2] / ".venv" / "bin"
    environment = {"PATH": f"{bin_}:/usr/bin:/bin", "HOME": str(tmp_path), "JAX_PLATFORMS": "cpu", "PIP_NO_INDEX": "1"}
    for line in lines:
        run = subprocess.run(
            ["/bin/sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, (line, run.stderr)
        assert run.stdout.strip()
