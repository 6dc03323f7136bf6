"""One line of a kernel, all the way down: what becomes of it in each form, on the way to two chips.

It is the short of two `descent` fences: of each form that a mark quotes, the line and its neighbors.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from track.anchors import symbols
from track.errors import BadInput
from track.evidence import Record
from track.evidence.lanes import LANES
from track.evidence.record import Form
from track.pages.compiled import SEPARATOR, Asked, KernelFence
from track.pages.descent import Tab, lines_of, shown

__all__ = ["LINE_DESCENT"]

NAMES = {
    "jaxpr": "jaxpr",
    "llo": "TPU bundles",
    "llvm": "LLVM IR",
    "mosaic": "Mosaic",
    "ptx": "PTX",
    "sass": "SASS",
    "triton": "Triton IR",
    "ttgir": "TritonGPU IR",
}
"""What a kind of form is called."""
AROUND = 1
"""Lines shown before and after the one that is lit."""


class Step(NamedTuple):
    """A form's name and stage, and its lines around the one that is lit, with what of it is lit."""

    name: str
    stage: str
    lines: tuple[str, ...]
    lit: int
    quote: str


def line_descent(asked: Asked) -> str:
    """The source line, and under it a column of forms for each of two lanes."""
    given = asked.given
    unknown = {key for key in given if key.startswith("mark-")} - {f"mark-{kind}" for kind in ("source", *NAMES)}
    if unknown:
        expected = ", ".join(f"mark-{kind}" for kind in ("source", *NAMES))
        raise BadInput("no form is called so", {"page": asked.at, "found": min(unknown), "expected": expected})
    columns = [_column(asked, given[side]) for side in ("left", "right")]
    source = _source(asked, given["file"], given["symbol"], given["mark-source"])
    sides = "".join(
        f'<div class="side"><p class="chip">{html.escape(title)}</p>{body}</div>' for title, body in columns
    )
    caption = html.escape(given.get("caption", ""))
    return (
        f'<figure class="fall no-copy" data-search-exclude><div class="top">{_step(source)}</div>'
        f'<div class="sides">{sides}</div><figcaption>{caption}</figcaption></figure>'
    )


def _column(asked: Asked, side: str) -> tuple[str, str]:
    """The title of a column, and its forms; or the stamp, where there is no record of them."""
    lane, _, target = side.partition(" ")
    if lane not in LANES or target not in LANES[lane].targets:
        expected = ", ".join(f"{name} {chip}" for name in ("tpu-aot", "gpu-aot") for chip in LANES[name].targets)
        raise BadInput(f"no lane and target '{side}'", {"page": asked.at, "expected": expected})
    record = asked.record(lane, target)
    forms = [form for form in (record.measures.forms or () if record else ()) if form.text]
    if record is None or not forms:
        return side, asked.nothing("forms", record, f"no form is recorded in {lane} for {target}")
    return _title(record), f"<ol>{''.join(f'<li>{_step(step)}</li>' for step in _steps(asked, forms))}</ol>"


def _title(record: Record) -> str:
    chip = f"{record.lane.partition('-')[0].upper()} {record.target}"
    compilers = [f"{name} {record.versions[name]}" for name in ("libtpu", "jaxlib") if name in record.versions]
    return f"{chip}, compiled by {compilers[0]}" if compilers else chip


def _steps(asked: Asked, forms: Sequence[Form]) -> Iterator[Step]:
    """For every quote of every kind, in the order of the forms: the first form in which it stands."""
    for kind in dict.fromkeys(form.kind for form in forms):
        for quote in filter(None, asked.given.get(f"mark-{kind}", "").split(SEPARATOR)):
            found = ((form, lines_of(_text(form), quote)) for form in forms if form.kind == kind)
            lit = next(((form, lines[0]) for form, lines in found if lines), None)
            if lit is None:
                about = {"page": asked.at, "form": kind, "quote": quote, "found": "nothing like it"}
                raise BadInput("a quote of a descent is not there", about)
            yield _around(lit[0], lit[1], quote)


def _text(form: Form) -> str:
    return shown(Tab(form.kind, form.text))


def _source(asked: Asked, file: str, symbol: str, quote: str) -> Step:
    """The line of the kernel's own file."""
    path = asked.context.root / "kernels" / file
    if not path.is_file():
        raise BadInput("no such kernel file", {"page": asked.at, "file": f"kernels/{file}"})
    with asked.context.naming(asked.fence):
        module = symbols.parse(f"kernels/{file}", path.read_text("utf-8"))
        owned = symbols.find(module, symbol).owned
    lines = module.lines[owned.first - 1 : owned.last]
    found = lines_of("\n".join(lines), quote)
    if not found:
        raise BadInput("a quote of a descent is not there", {"page": asked.at, "form": "source", "quote": quote})
    return Step("Python", module.path, (lines[found[0] - 1].strip(),), 0, quote)


def _around(form: Form, line: int, quote: str) -> Step:
    """The step of a form, lit at a line, which counts from 1."""
    lines = _text(form).split("\n")
    first = max(0, line - 1 - AROUND)
    near = tuple(" ".join(text.split()) for text in lines[first : line + AROUND])
    return Step(NAMES.get(form.kind, form.kind), form.stage, near, line - 1 - first, quote)


def _step(step: Step) -> str:
    rows = "\n".join(
        _row(text, step.quote) if at == step.lit else html.escape(text) for at, text in enumerate(step.lines)
    )
    stage = f" <small>{html.escape(step.stage)}</small>" if step.stage else ""
    return f"<p>{html.escape(step.name)}{stage}</p><pre><code>{rows}</code></pre>"


def _row(text: str, quote: str) -> str:
    """The lit line, with the quote in it brighter still, where it stands in it letter by letter."""
    before, found, after = text.partition(quote)
    bright = f"<b>{html.escape(found)}</b>" if found else ""
    return f"<mark>{html.escape(before)}{bright}{html.escape(after)}</mark>"


_OPTIONS = frozenset({"file", "symbol", "left", "right", "mark-source"})
LINE_DESCENT = KernelFence("descent of a line", line_descent, _OPTIONS, marks=True)
