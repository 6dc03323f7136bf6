"""Listings as a reader uses them, on the notes of a real page and on the largest file as a whole, in a real browser."""

from __future__ import annotations

import dataclasses
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages.helpers import NOTHING_KNOWN, ROOT, dom, pinned
from tests.site.conftest import contrast
from track.facts import book
from track.pages.context import Context
from track.pages.document import BOUND, Fence
from track.pages.ids import Ids
from track.pages.layout import Bound, Fold, Listing
from track.pages.listing import render, render_header
from track.pages.locks import read_lock
from track.pages.sources import Role, bodies, outline, spoken
from track.pages.weave import open_page, weave
from track.spans import Span

LARGEST = "jax/_src/pallas/mosaic/lowering.py"
NOTED = "tpu/pipeline"
SIZES = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 375, "height": 800}}
FIGURE = (
    '<figure class="fig"><div class="wide"><svg viewBox="0 0 900 300" role="img" aria-labelledby="t d"><title id="t">'
    'Two</title><desc id="d">Two boxes.</desc><text x="9" y="40">inside</text></svg></div></figure>'
)


@dataclasses.dataclass(frozen=True)
class Pages:
    """A folder of built pages, and the source lines that one of them shows whole."""

    folder: Path
    lines: tuple[str, ...]

    def text(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Pages:
    """The site's theme around two pages: the listings of a page with its notes, and a file with every symbol folded."""
    work = tmp_path_factory.mktemp("pages")
    woven = work / "build" / "pages"
    shutil.copytree(ROOT / "docs" / "assets", woven / "assets")
    (woven / "assets" / "names.js").write_text('window.trackNames={"whole.html#Lowered":["Lowered(x)","What it is."]};')
    config = (ROOT / "tests" / "tinysite" / "mkdocs.yml").read_text()
    (work / "mkdocs.yml").write_text(re.sub(r"(?m)^(nav|  nav):.*\n", "", config))
    (woven / "noted.md").write_text(noted())
    (woven / "whole.md").write_text(whole())
    (woven / "index.md").write_text(f"# A figure\n\n{FIGURE}\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(work / "mkdocs.yml")]
    subprocess.run(command, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True, capture_output=True)
    return Pages(work / "build" / "site", pinned().module(LARGEST).lines)


def noted() -> str:
    """The page with all its notes; its figures need evidence, so their fences stay as they are written."""
    path = ROOT / "docs" / f"{NOTED}.md"
    bound = open_page(path, ROOT / "docs", pinned(), read_lock(path))
    fences = tuple(fence for fence in bound.document.fences if fence.kind in BOUND)
    bare = Bound(dataclasses.replace(bound.document, fences=fences), bound.listings)
    given = Context(ROOT, pinned(), book.of_checkout(ROOT, pinned()), NOTHING_KNOWN, ())
    return weave(bare, given).replace("](../", "](")


def whole() -> str:
    """The largest file, each symbol folded, every name that the file defines a link."""
    module, tree = pinned().module(LARGEST), pinned().tree(LARGEST)
    roles = [Role(s, f"Lowers what {s.name} is a rule for to the dialect", "page") for s in spoken(module)]
    folds = [Fold(span, f"<p>{r.text}</p>", r.symbol.selector, 1) for span, r in bodies(roles, module)]
    names = {symbol.qualname for symbol in module.symbols}
    fence = Fence("source", (), {}, (), 1, 1)
    shown = Listing(fence, module, ("",), (Span(1, len(module.lines)),), (), tuple(folds))
    body = render(shown, tree, Ids(), lambda name, _: f"#{name}" if name in names else None)
    front = "---\nhide:\n  - navigation\n  - toc\n---\n\n# A whole file\n\n"
    named = '<p><a class="name" href="#Lowered">x</a></p>'
    return "\n\n".join([front, render_header(shown, tree), outline(roles, lambda role: role.text), body, named, ""])


@pytest.fixture
def opened(browser, serve, pages):
    """Opens a page; an error on the console or a call to another host fails the test."""
    url = serve(pages.folder)
    contexts, errors = [], []

    def opened(name, size="wide", *, fragment="", **options):
        made = browser.new_context(viewport=SIZES[size], **options)
        contexts.append(made)
        page = made.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: request.url.startswith((url, "data:")) or errors.append(request.url))
        page.goto(f"{url}/{name}.html{fragment}")
        page.wait_for_timeout(200)
        return page

    yield opened
    for made in contexts:
        made.close()
    assert errors == []


def lit(page, css="on") -> list[int]:
    return page.evaluate(f"[...document.querySelectorAll('.lst pre u.{css}')].map(a => Number(a.id.slice(1)))")


def below_the_head(page, line: int) -> float:
    """How far the top of a line is below the head of its listing, in lines."""
    return page.evaluate(
        """line => {
          const at = document.getElementById('L' + line), box = at.getBoundingClientRect();
          return (box.top - at.closest('.lst').querySelector('.lst-head').getBoundingClientRect().bottom) / box.height;
        }""",
        line,
    )


# Weight


def test_a_whole_file_has_few_elements_and_few_bytes(pages):
    text = pages.text("whole.html")
    page = dom(text)
    assert len(page.css("pre a[href]")) > 500
    assert len(page.css("*")) <= 2.5 * len(pages.lines)
    assert len(gzip.compress(text.encode(), 9)) <= 150_000


def test_a_whole_file_is_all_there(pages):
    shown = [line for block in dom(pages.text("whole.html")).css(".lst pre") for line in block.text().split("\n")]
    assert shown == list(pages.lines)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["noted", "whole"])
def test_tab_stops_are_few(opened, name, size):
    page = opened(name, size)
    notes = page.locator(".lst-note").count()
    assert tab_stops(page, notes + 21) <= notes + 20


def tab_stops(page, most: int) -> int:
    """How often Tab has to be pressed to come around, given up after `most`."""
    for count in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("() => { const e = document.activeElement, s = e.seen; e.seen = true; return !!s; }"):
            return count
    return most


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["noted", "whole"])
def test_nothing_moves_while_a_page_loads(opened, name, size):
    page = opened(name, size)
    moved = page.evaluate(
        """() => new Promise(done => {
          let sum = 0;
          new PerformanceObserver(list => list.getEntries().forEach(entry => { sum += entry.value; }))
            .observe({ type: 'layout-shift', buffered: true });
          setTimeout(() => done(sum), 300);
        })"""
    )
    assert moved == 0


# Addresses


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("place", [0, 0.5, 1])
def test_a_line_that_is_linked_to_comes_to_the_top_even_out_of_a_fold(opened, pages, size, place, script):
    line = max(1, round(place * len(pages.lines)))
    page = opened("whole", size, fragment=f"#L{line}", java_script_enabled=script)
    assert -0.1 <= below_the_head(page, line) <= 1
    background = f"getComputedStyle(document.getElementById('L{line}'), '::after').backgroundColor"
    assert page.evaluate(background) != "rgba(0, 0, 0, 0)"


@pytest.mark.parametrize("size", SIZES)
def test_a_range_is_lit_and_comes_to_the_top(opened, size):
    page = opened("whole", size, fragment="#L2010-L2016")
    assert lit(page) == list(range(2010, 2017))
    assert -0.1 <= below_the_head(page, 2010) <= 1
    page.evaluate("location.hash = '#L3003-L3001'")
    page.wait_for_timeout(100)
    assert lit(page) == [3001, 3002, 3003]


@pytest.mark.parametrize("size", SIZES)
def test_a_symbol_that_is_linked_to_comes_to_the_top(opened, size):
    page = opened("noted", size, fragment="#Scheduler.out_of_fetch")
    line = page.evaluate("Number(document.getElementById('Scheduler.out_of_fetch').nextSibling.id.slice(1))")
    assert -0.1 <= below_the_head(page, line) <= 1


def test_a_click_on_a_number_chooses_a_line_and_with_shift_a_range(opened):
    page = opened("noted", fragment="#Scheduler.has_changed")
    first = page.evaluate("Number(document.getElementById('Scheduler.has_changed').nextSibling.id.slice(1))")
    before = page.evaluate("scrollY")
    page.locator(f"#L{first + 3}").click()
    assert (lit(page), page.evaluate("location.hash")) == ([first + 3], f"#L{first + 3}")
    page.locator(f"#L{first + 1}").click(modifiers=["Shift"])
    assert lit(page) == [first + 1, first + 2, first + 3]
    assert page.evaluate("location.hash") == f"#L{first + 1}-L{first + 3}"
    assert page.evaluate("scrollY") == before


def test_what_is_searched_for_is_found_inside_of_a_fold(opened, pages):
    page = opened("whole")
    text = next(line.strip() for line in pages.lines[3000:] if "raise NotImplementedError(" in line)
    assert not page.evaluate("document.querySelector('.lst-fold[open]') !== null")
    assert page.evaluate("text => window.find(text)", text)


# Copies


def test_a_copy_of_selected_code_is_the_code(opened, pages):
    page = opened("whole")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.lst pre'))")
    count = page.locator(".lst pre").first.locator("u[id]").count()
    assert page.evaluate("getSelection().toString()").split("\n") == list(pages.lines[:count])


def test_the_buttons_copy_code_and_addresses(opened, pages):
    page = opened("whole", fragment="#L2010-L2012", permissions=["clipboard-read", "clipboard-write"])
    copied = []
    for label in ("Copy code", "Copy a link to these lines", "Copy the upstream permalink"):
        page.get_by_label(label, exact=True).click()
        page.wait_for_timeout(100)
        copied.append(page.evaluate("navigator.clipboard.readText()"))
    code, here, upstream = copied
    assert code == "\n".join(pages.lines[2009:2012]) + "\n"
    assert here == page.url
    assert upstream == pinned().tree(LARGEST).permalink(LARGEST, Span(2010, 2012)).replace("-L2012", "-L2012")


def test_with_nothing_chosen_the_buttons_speak_of_the_whole_listing(opened, pages):
    page = opened("whole", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_label("Copy code", exact=True).click()
    page.wait_for_timeout(200)
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(pages.lines) + "\n"


# Keys


@pytest.mark.parametrize("size", SIZES)
def test_n_walks_over_every_note_and_p_walks_back(opened, size):
    page = opened("noted", size)
    ids = page.evaluate("[...document.querySelectorAll('.lst-note')].map(note => note.id)")
    seen = [step(page, "n") for _ in ids]
    assert [found["id"] for found in seen] == ids
    assert [found for found in seen if not found["visible"] or not found["lit"]] == []
    assert step(page, "n")["id"] == ids[-1]
    assert [step(page, "p")["id"] for _ in range(3)] == ids[-2:-5:-1]


def step(page, key):
    """Press a key; the note that has the focus then, whether one sees it, and whether its lines are lit."""
    page.keyboard.press(key)
    return page.evaluate(
        """() => {
          const note = document.activeElement, { top, bottom } = note.getBoundingClientRect();
          const lit = [...document.querySelectorAll('.lst pre u.lit')].map(a => Number(a.id.slice(1)));
          const { from, to } = note.dataset;
          return { id: note.id, visible: top < innerHeight - 20 && bottom > 80,
                   lit: lit[0] === Number(from) && lit.at(-1) === Number(to) && lit.length === to - from + 1 };
        }"""
    )


def test_the_walk_begins_where_one_reads(opened):
    page = opened("noted", fragment="#Scheduler.has_changed")
    assert step(page, "n")["id"] == "note-scheduler-has-changed-1"


def test_on_a_page_without_notes_the_keys_walk_over_symbols(opened):
    page = opened("whole")
    names = []
    for _ in range(3):
        page.keyboard.press("n")
        names.append(page.evaluate("document.activeElement.querySelector('code').textContent"))
    assert names == page.locator(".lst-fold > summary > code").all_inner_texts()[:3]
    page.keyboard.press("Enter")
    assert page.locator(".lst-fold[open] > summary > code").all_inner_texts() == names[-1:]


def test_s_goes_to_a_symbol_by_a_part_of_its_name(opened):
    page = opened("noted")
    page.keyboard.press("s")
    page.keyboard.type("out_of_fetch")
    assert page.get_by_role("option", selected=True).inner_text().startswith("Scheduler.out_of_fetch")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#Scheduler.out_of_fetch"
    line = page.evaluate("Number(document.activeElement.id.slice(1))")
    assert -0.1 <= below_the_head(page, line) <= 1
    assert page.get_by_role("dialog", name="Go to a symbol").count() == 0


def test_keys_that_are_typed_into_the_search_stay_letters(opened):
    page = opened("noted")
    page.locator(".md-search__input").click()
    page.keyboard.type("span")
    assert page.locator(".md-search__input").input_value() == "span"
    assert page.locator(".lst-jump").count() == 0


def test_the_head_names_what_one_is_reading(opened):
    page = opened("whole", fragment="#L2010")
    page.wait_for_timeout(200)
    assert page.locator(".lst-head b").inner_text() == "_index_to_start_size_stride"
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(200)
    assert page.locator(".lst-head b").inner_text() == "lowering.py"


# Looks


def test_a_note_that_is_pointed_at_lights_its_lines(opened):
    page = opened("noted", fragment="#Scheduler.out_of_fetch")
    note = page.locator("#note-scheduler-out-of-fetch-1")
    assert lit(page, "lit") == []
    note.hover()
    first, last = (int(note.get_attribute(f"data-{end}")) for end in ("from", "to"))
    assert lit(page, "lit") == list(range(first, last + 1))


def test_a_name_tells_its_signature(opened):
    page = opened("whole", fragment="#L5981")
    page.locator("a.name").hover()
    page.locator(".lst-card").wait_for(state="visible")
    assert page.locator(".lst-card code").inner_text() == "Lowered(x)"
    assert page.locator(".lst-card p").inner_text() == "What it is."


def test_in_print_every_note_and_every_folded_line_is_there(opened):
    page = opened("noted")
    page.emulate_media(media="print")
    hidden = page.evaluate(
        """() => [...document.querySelectorAll('.lst-note, .lst pre, .lst-head')].filter(part =>
          !part.checkVisibility({ contentVisibilityAuto: true }) || !part.getBoundingClientRect().height).length"""
    )
    assert hidden == 0
    assert page.evaluate("getComputedStyle(document.querySelector('.lst-head')).position") == "static"


def test_without_scripts_code_and_notes_read(opened):
    page = opened("noted", java_script_enabled=False)
    assert page.locator(".lst-note").first.is_visible()
    assert page.locator(".lst pre").first.is_visible()
    assert not page.locator(".lst-keys").is_visible()
    assert page.locator(".lst-tools button").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_color_of_code_can_be_read_on_every_background(opened, scheme):
    page = opened("whole", fragment="#L1", color_scheme=scheme)
    inks, papers = page.evaluate(INKS_AND_PAPERS)
    assert len(inks) >= 8
    assert len(papers) == 4
    poor = [(ink, paper) for ink in inks for paper in papers if contrast(ink, paper) < 4.5]
    assert poor == []


INKS_AND_PAPERS = """() => {
  const block = document.querySelector('.lst pre');
  const color = (node, what, pseudo) => getComputedStyle(node, pseudo)[what].match(/[\\d.]+/g).slice(0, 3).map(Number);
  const made = (tag, css) => { const e = document.createElement(tag); e.className = css; block.append(e); return e; };
  const line = made('u', '');
  line.id = 'L0';
  const parts = [block, line, ...[...'kscmfb'].map(css => made('i', css))];
  const link = made('a', '');
  link.href = '#';
  const inks = [...parts, link].map(node => color(node, 'color'));
  const papers = [color(block, 'backgroundColor')];
  for (const css of ['lit', 'on']) {
    line.className = css;
    papers.push(color(line, 'backgroundColor', '::after'));
    inks.push(color(line, 'color'));
  }
  block.className = 'lst-on';
  papers.push(color(block, 'backgroundColor'));
  return [inks, papers];
}"""


def test_with_forced_colors_what_is_chosen_and_what_is_noted_still_shows(opened):
    page = opened("noted", forced_colors="active", fragment="#Scheduler.out_of_fetch")
    page.locator(".lst pre.lst-on u[id]").first.click()
    style = "getComputedStyle(document.querySelector('.lst pre u.on'), '::after').outlineStyle"
    assert page.evaluate(style) == "solid"
    edges = (
        "[...new Set(['.lst-on', '.lst-off'].map(c => getComputedStyle(document.querySelector(c)).borderLeftColor))]"
    )
    assert len(page.evaluate(edges)) == 2


# Figures


def test_a_figure_opens_large_and_comes_back(opened):
    page = opened("index")
    small = page.locator("figure.fig svg").bounding_box()["width"]
    page.get_by_role("button", name="Enlarge").click()
    dialog = page.get_by_role("dialog", name="Figure, large")
    assert dialog.locator("svg").bounding_box()["width"] > small
    assert page.locator("#t").count() == 1
    assert dialog.get_by_role("img", name="Two").count() == 1
    page.keyboard.press("Escape")
    page.locator("figure.fig .wide > svg").click()
    assert dialog.locator("svg").is_visible()
    dialog.get_by_role("button", name="Close").click()
    page.locator("figure.fig .wide > svg").wait_for(state="visible")
    assert page.locator("svg[aria-labelledby]").count() == 1
