"""Fences that hold code and run while the site is built: what they print or raise stands under them.

python setup    runs before every later run of the page
python run      has to end well; what it prints is shown
python raises   has to raise; the error is shown, with the line of jax that raised it
"""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from track.errors import Finding
from track.evidence.snippets import Snippet, results
from track.evidence.store import Stored
from track.pages.context import Context
from track.pages.document import RAISES, RUN, SETUP, Fence
from track.spans import Span

__all__ = ["FENCES", "snippets_of"]


def setup(fence: Fence, _: Context) -> str:
    """The code alone."""
    return _code(fence)


def run(fence: Fence, context: Context) -> str:
    """The code and what it printed; Finding where it raised."""
    result = _result(fence, context)
    if result.verdict.status != "ok":
        details = {"page": context.place(fence), "found": result.verdict.error}
        raise Finding("code that was to run did not", details, "mend it, or show the error with: python raises")
    return "\n\n".join([_code(fence), *([_printed(result.output, "Printed")] if result.output else [])])


def raises(fence: Fence, context: Context) -> str:
    """The code and its error; Finding where it ended well."""
    result = _result(fence, context)
    if result.verdict.status != "crashed":
        found = "it ended well" if result.verdict.status == "ok" else result.verdict.error
        raise Finding("code that was to raise did not", {"page": context.place(fence), "found": found})
    text = "\n".join(filter(None, [result.output, result.verdict.error]))
    return "\n\n".join([_code(fence), _printed(text, "Raised" + _where(result.verdict.where, context))])


def _result(fence: Fence, context: Context) -> Stored:
    """What came of a fence; all of its page are run together."""
    snippets = snippets_of(context.document.fences if context.document else (fence,))
    pins = tuple((name, tree.pin.commit) for name, tree in context.library.trees.items())
    return _results(context.root, pins, tuple(snippets.values()))[snippets[fence.line]]


def snippets_of(fences: Iterable[Fence]) -> dict[int, Snippet]:
    """What the fences of a page ask to run, each after all set-up above it, by the line of the fence."""
    snippets: dict[int, Snippet] = {}
    before: tuple[str, ...] = ()
    for fence in fences:
        if fence.kind == SETUP:
            before += (fence.code,)
        elif fence.kind in {RUN, RAISES}:
            snippets[fence.line] = Snippet(fence.code, before)
    return snippets


@functools.lru_cache(maxsize=1)  # one page is woven at a time, and what failed on it is not run again for each fence
def _results(root: Path, pins: tuple[tuple[str, str], ...], code: tuple[Snippet, ...]) -> dict[Snippet, Stored]:
    return results(root, dict(pins), code)


def _code(fence: Fence) -> str:
    return f"```python\n{fence.code}```"


def _printed(text: str, how: str) -> str:
    shown = f"<pre><code>{html.escape(text)}</code></pre>"
    return f'<div class="ran no-copy"><p>{how} while this site was built:</p>{shown}</div>'


def _where(frames: str, context: Context) -> str:
    """Where in jax it was raised, and from which line of the file that the page is about; HTML."""
    rows = [(file, int(line), name) for file, line, name in (row.split("\t") for row in frames.splitlines())]
    if not rows:
        return ""
    shown = context.document.front.get("file", "") if context.document else ""
    mine = [row for row in rows if row[0] == shown]
    parts = [_link(*rows[-1], context, shown)]
    if mine and mine[-1] is not rows[-1]:
        parts.append(f"reached from {_link(*mine[-1], context, shown)}")
    return f" by {', '.join(parts)},"


def _link(file: str, line: int, name: str, context: Context, shown: str) -> str:
    """A line of jax: on this page, or at the pin, or only named where the file is not pinned."""
    said = f"<code>{html.escape(name)}</code>, {html.escape(file)}, line {line}"
    if file == shown:
        return f'<a href="#L{line}"><code>{html.escape(name)}</code>, line {line}</a>'
    pinned = any(file in tree.pin.files for tree in context.library.trees.values())
    return f'<a href="{context.library.tree(file).permalink(file, Span(line, line))}">{said}</a>' if pinned else said


FENCES: Mapping[str, Callable[[Fence, Context], str]] = {SETUP: setup, RUN: run, RAISES: raises}
