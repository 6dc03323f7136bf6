"""Code of a page: it runs in a child, its output stands under it, and a page that says otherwise does not build."""

from __future__ import annotations

import pytest

from tests.pages.helpers import PAGE, ROOT, context, document, dom, pinned, refused_by
from track.errors import Finding
from track.evidence import snippets
from track.evidence.snippets import Snippet
from track.pages import site
from track.pages.context import Context
from track.pages.runs import FENCES

SETUP = 'import jax\nimport jax.numpy as jnp\nfrom jax.experimental import pallas as pl\n\nprefix = "<b>"\n'
CAPTURE = """\
w = jnp.ones(8)
def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * w
pl.pallas_call(kernel, out_shape=w, interpret=True)(w)
"""
TEXT = f"""\
---
file: jax/_src/pallas/pallas_call.py
---

```python run
print("before", "prefix" in globals())
```

```python setup
{SETUP}```

```python run
print(prefix, 6 * 7)
kept = 1
```

```python run
print("kept" in globals())
```

```python raises
print("so far")
{CAPTURE}```

```python raises
1 / 0
```

```python run
1 / 0
```

```python raises
pass
```

```python run
import os
os.abort()
```
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Context:
    """A page whose fences have run, against the pinned sources."""
    site = context(tmp_path_factory.mktemp("root"))
    read = document(TEXT, frozenset(FENCES))
    return Context(site.root, pinned(), {}, site.evidence, (), document=read)


def shown(page: Context, number: int) -> str:
    assert page.document
    fence = page.document.fences[number]
    return FENCES[fence.kind](fence, page)


def printed(page: Context, number: int) -> str:
    return dom(shown(page, number)).css_first("pre code").text()


def test_code_is_shown_as_python_with_its_output_escaped_under_it(page):
    text = shown(page, 2)
    assert text.startswith('```python\nprint(prefix, 6 * 7)\nkept = 1\n```\n\n<div class="ran no-copy">')
    assert printed(page, 2) == "<b> 42"


def test_setup_shows_its_code_and_runs_before_what_follows_it_alone(page):
    assert shown(page, 1) == f"```python\n{SETUP}```"
    assert printed(page, 0) == "before False"


def test_no_run_sees_what_another_run_did(page):
    assert printed(page, 3) == "False"


def test_an_error_is_shown_with_what_was_printed_and_the_line_of_the_page_that_raised_it(page):
    text = dom(shown(page, 4))
    assert text.css_first("pre code").text() == (
        "so far\nValueError: The kernel function in the pallas_call kernel at example.py:3 captures constants"
        " [f32[8]]. You should pass them as inputs."
    )
    link = text.css_first(".ran p a")
    line = int(link.attributes["href"].removeprefix("#L"))
    source = pinned().module("jax/_src/pallas/pallas_call.py").lines
    assert source[line - 1].strip() == "raise ValueError("
    assert "captures constants" in "".join(source[line : line + 4])
    assert link.text() == f"_trace_kernel_to_jaxpr, line {line}"


def test_an_error_that_jax_has_no_part_in_names_no_line(page):
    assert dom(shown(page, 5)).css_first(".ran p").text() == "Raised while this site was built:"


@pytest.mark.parametrize(
    ("number", "what", "found"),
    [
        (6, "code that was to run did not", "ZeroDivisionError: division by zero"),
        (7, "code that was to raise did not", "it ended well"),
        (8, "code that was to run did not", "the process died before it had a result"),
    ],
)
def test_what_does_not_do_as_the_page_says_is_a_finding_with_its_place(page, number, what, found):
    assert page.document
    error = refused_by(lambda: shown(page, number))
    assert isinstance(error, Finding)
    assert error.what == what
    assert error.details == {"page": f"{PAGE}:{page.document.fences[number].line}", "found": found}


def test_nothing_runs_twice_until_code_setup_or_pins_change(page, monkeypatch):
    snippet, pins = Snippet("print(x)", ("x = 1",)), {"jax": "a" * 40}
    first = snippets.results(page.root, pins, [snippet])[snippet]
    assert first.output == "1"
    ran: list[Snippet] = []

    def outcomes(batch):
        ran.extend(batch.snippets)
        raise Finding("ran")

    monkeypatch.setattr(snippets, "outcomes", outcomes)
    assert snippets.results(page.root, pins, [snippet])[snippet] == first
    other = Snippet("print(x)", ("x = 2",))
    for changed, commit in ((other, "a"), (Snippet("print(x) ", ("x = 1",)), "a"), (snippet, "b")):
        with pytest.raises(Finding):
            snippets.results(page.root, {"jax": commit * 40}, [changed])
    assert len(ran) == 3


def test_pruning_keeps_what_the_pages_ask_for_as_they_stand(tmp_path):
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "index.md"
    first = "# One\n\n```python setup\nx = 1\n```\n\n```python run\nprint(x)\n```\n"
    page.write_text(first)
    pins = {"jax": "a" * 40}
    asked = site.snippets(tmp_path)
    assert asked == {Snippet("print(x)\n", ("x = 1\n",))}
    snippets.results(tmp_path, pins, asked)
    kept = {*(tmp_path / "build" / "examples").iterdir()}
    assert {path.suffix for path in kept} == {".evidence", ".seconds"}
    assert snippets.prune(tmp_path, pins, site.snippets(tmp_path)) == 0
    page.write_text(first.replace("x = 1", "x = 2"))
    snippets.results(tmp_path, pins, site.snippets(tmp_path))
    assert snippets.prune(tmp_path, pins, asked) == 1
    assert {*(tmp_path / "build" / "examples").iterdir()} == kept


def test_code_that_never_ends_is_ended_and_not_kept(tmp_path):
    snippet = Snippet("while True: pass")
    result = snippets.results(tmp_path, {}, [snippet], limit=0.2)[snippet]
    assert result.verdict.status == "timed-out"
    assert result.verdict.error == "still running after 0.2 s"
    assert not (tmp_path / "build").exists()


def test_the_writing_guide_shows_fences_that_are_read_as_it_says():
    guide = (ROOT / "docs/contributing/writing.md").read_text()
    example = guide.split("````markdown\n```python setup", 1)[1].split("````", 1)[0]
    kinds = [fence.kind for fence in document("```python setup" + example, frozenset(FENCES)).fences]
    assert kinds == ["python setup", "python run", "python raises"]
