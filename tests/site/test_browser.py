"""What a reader sees, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.site.conftest import contrast

SOURCE = (Path(__file__).parents[1] / "tinysite" / "source" / "tiny" / "box.py").read_text().splitlines()
TEXT = "self.things.append(thing)"
LINE = next(n for n, line in enumerate(SOURCE, 1) if line.strip() == TEXT)
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 375, "height": 800}


@pytest.fixture
def open_page(browser, serve, built):
    """Opens the annotated page of the tiny site; an error on the console or a call to another host fails the test."""
    url = serve(built.root / "build" / "site")
    contexts, errors = [], []

    def opened(size, *, script=True, scheme="light", fragment=""):
        context = browser.new_context(viewport=size, java_script_enabled=script, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: request.url.startswith((url, "data:")) or errors.append(request.url))
        page.goto(f"{url}/pages/box.html{fragment}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


def box(page, selector):
    found = page.locator(selector).first.bounding_box()
    assert found is not None
    return found


@pytest.mark.parametrize("script", [True, False])
def test_on_a_wide_screen_a_note_stands_beside_its_lines(open_page, script):
    page = open_page(WIDE, script=script)
    code, note = box(page, "pre.lst-on"), box(page, ".lst-notes")
    assert note["x"] >= code["x"] + code["width"] - 1
    assert abs(note["y"] - code["y"]) < 2


@pytest.mark.parametrize("script", [True, False])
def test_on_a_narrow_screen_a_note_stands_under_its_lines(open_page, script):
    page = open_page(NARROW, script=script)
    code, note = box(page, "pre.lst-on"), box(page, ".lst-notes")
    assert abs(note["x"] - code["x"]) < 2
    assert 0 <= note["y"] - (code["y"] + code["height"]) < 2
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_line_can_be_linked_to(open_page, size):
    page = open_page(size, fragment=f"#L{LINE}")
    page.wait_for_timeout(300)
    top = box(page, f"#L{LINE}")["y"]
    header = box(page, ".md-header")
    assert header["height"] <= top <= header["height"] + 100
    assert page.evaluate(f"document.querySelector('#L{LINE}').nextSibling.textContent").strip() == TEXT


def test_a_fold_opens_without_a_script(open_page):
    page = open_page(WIDE, script=False)
    fold = page.locator("details.lst-fold").first
    assert not fold.locator("pre").is_visible()
    fold.locator("summary").click()
    assert fold.locator("pre").is_visible()


def test_light_and_dark_differ_and_both_can_be_read(open_page):
    """Text and background of a line of code, as the browser computes them, have a contrast of at least 4.5."""
    seen = set()
    for scheme in ("light", "dark"):
        page = open_page(WIDE, scheme=scheme)
        for selector in ("pre.lst-on", "pre.lst-off", ".lst-note"):
            colors = page.evaluate(COLORS, selector)
            seen.add(tuple(colors[0]))
            assert contrast(*colors) >= 4.5, (scheme, selector, colors)
    assert len(seen) > 1


COLORS = """selector => {
  let node = document.querySelector(selector);
  const numbers = color => color.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const ink = numbers(getComputedStyle(node).color);
  while (getComputedStyle(node).backgroundColor === 'rgba(0, 0, 0, 0)') node = node.parentElement;
  return [ink, numbers(getComputedStyle(node).backgroundColor)];
}"""
