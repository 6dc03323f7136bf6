"""Fences that show what the compilers said of a kernel: grids, ledgers, unit use, computed timelines, descents."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from track.errors import BadInput
from track.evidence import Record, doublebuffer
from track.evidence.lanes import LANES
from track.evidence.record import Event, Form, Grid
from track.evidence.schedule import costs_of
from track.pages import notebooks
from track.pages.context import Context, options
from track.pages.descent import Tab, descent
from track.pages.document import Fence

if TYPE_CHECKING:
    from track.evidence.figures import Figure

__all__ = ["FENCES"]

COMPILED = "tpu-aot"
LANGUAGES = {"jaxpr": "text", "mosaic": "llvm", "llvm": "llvm", "ptx": "text", "sass": "text"}


def grid(fence: Fence, context: Context) -> str:
    """Which block of which array each grid step touches."""
    from track.evidence import figures  # noqa: PLC0415 -- matplotlib costs half a second, needed by few pages

    given = options(fence, context, {"kernel"}, {"case", "caption"})
    name, case = _case(fence, context, given)
    found: tuple[Grid, ...] = context.evidence.grids.get((name, case), ())
    if not found:
        return _missing(name, "grid picture", "no grid could be traced on this case")
    with context.naming(fence):
        drawn = [figures.grid(one, name, f"fig{fence.line}-{number}") for number, one in enumerate(found)]
    origin = html.escape(f"Computed from the traced index maps of {name} on {case}.")
    return "\n\n".join(_figure(figure, given.get("caption", ""), origin) for figure in drawn)


def ledger(fence: Fence, context: Context) -> str:
    """What a kernel keeps in VMEM, against the size of some chips."""
    from track.evidence import figures  # noqa: PLC0415 -- as above

    given = options(fence, context, {"kernel"}, {"case", "chips", "caption"})
    name, case = _case(fence, context, given)
    chips = given.get("chips", "v4, v5e, v5p, v6e, 7x").split(",")
    found = {chip: _compiled(context, name, case, chip) for chip in map(str.strip, chips)}
    ledgers = {chip: r.measures.ledger for chip, r in found.items() if r is not None and r.measures.ledger is not None}
    if not ledgers:
        return _missing(name, "memory ledger", "no record of the TPU compiler has one")
    with context.naming(fence):
        figure = figures.ledger(ledgers, context.evidence.chips, name, f"fig{fence.line}")
    return _figure(figure, given.get("caption", ""), html.escape(f"Traced and compiled while this site was built: {case}."))


def units(fence: Fence, context: Context) -> str:
    """How the final program of a kernel uses the units of a core."""
    from track.evidence import figures  # noqa: PLC0415 -- as above

    given = options(fence, context, {"kernel", "chip"}, {"case", "caption"})
    name, case = _case(fence, context, given)
    record = _compiled(context, name, case, given["chip"])
    if record is None or not record.measures.regions:
        return _missing(name, "unit use", _told(record))
    measures = record.measures
    with context.naming(fence):
        figure = figures.units(measures.regions, measures.capacity, name, given["chip"], f"fig{fence.line}")
    return _figure(figure, given.get("caption", ""), _versions(record))


def computed_timeline(fence: Fence, context: Context) -> str:
    """The order of copies and compute at the times of a stated model, with its trace to download."""
    from track.evidence import figures  # noqa: PLC0415 -- as above

    given = options(fence, context, {"kernel", "chip"}, {"case", "caption"})
    name, case = _case(fence, context, given)
    record = _compiled(context, name, case, given["chip"])
    if record is None or not record.measures.regions:
        return _missing(name, "computed timeline", _told(record))
    with context.naming(fence):
        orders = doublebuffer.orders_of(_recorded(context, name, case), context.evidence.grids.get((name, case), ()))
        costs = costs_of(record.measures.regions, context.evidence.chips[given["chip"]], orders)
        figure = figures.computed_timeline(name, orders[0], costs[0], f"fig{fence.line}")
    trace = f"traces/{'-'.join(f'{name} {case}'.split())}-{given['chip']}.json"
    context.files[trace] = figures.computed_trace(name, orders[0], costs[0]).encode()
    download = f' <a href="{context.up}{trace}" download>Perfetto trace</a>, to open in ui.perfetto.dev.'
    return _figure(figure, given.get("caption", ""), _versions(record) + download)


def forms(fence: Fence, context: Context) -> str:
    """Every form that a kernel takes on its way to a chip, in tabs; `mark-KIND` lights the lines that it quotes."""
    marks = {key: value for key, value in fence.options.items() if key.startswith("mark-")}
    given = options(fence, context, {"kernel", "lane", "target"}, {"case", *marks})
    name, case = _case(fence, context, given)
    record = context.evidence.records.get((name, case, given["lane"], given["target"]))
    if record is None or not record.measures.forms:
        return _missing(name, "descent", _told(record))
    seen = {form.kind for form in record.measures.forms}
    for key in sorted(marks):
        if key.removeprefix("mark-") not in seen:
            expected = ", ".join(f"mark-{kind}" for kind in sorted(seen))
            raise BadInput(f"no form '{key.removeprefix('mark-')}'", {"page": context.place(fence), "expected": expected})
    tabs = [_tab(form, record.measures.forms, marks) for form in record.measures.forms if form.text]
    return descent(tabs, {"page": context.place(fence)}) + f"\n\n<p class='origin'>{_versions(record)}</p>"


def _tab(form: Form, every: tuple[Form, ...], marks: Mapping[str, str]) -> Tab:
    """One tab; its quotes light the last form of their kind, where the kernel is furthest down."""
    last = [other for other in every if other.kind == form.kind and other.text][-1]
    quote = marks.get(f"mark-{form.kind}", "") if form is last else ""
    cut = form.text.count("\n") + 1
    note = f"The first {cut} of {form.lines} lines." if cut < form.lines else ""
    name = f"{form.kind}: {form.stage}" if form.stage else form.kind
    return Tab(name, form.text, (quote,) if quote else (), LANGUAGES.get(form.kind, "text"), note)


def verdicts(fence: Fence, context: Context) -> str:
    """A row a kernel, a column a lane and target, a word a cell; what a kernel gets wrong on purpose stands under it."""
    given = options(fence, context, {"topics"})
    topics = [topic.strip() for topic in given["topics"].split(",")]
    found = [record for record in context.evidence.records.values() if record.topic in topics and record.lane]
    unknown = sorted(set(topics) - {record.topic for record in found})
    if unknown:
        known = ", ".join(sorted({record.topic for record in context.evidence.records.values()}))
        raise BadInput(f"no topic '{unknown[0]}'", {"page": context.place(fence), "expected": known})
    columns = [(lane, target) for lane, entry in LANES.items() for target in entry.targets]
    heads = "".join(f"<th>{lane}<br>{target}</th>" for lane, target in columns)
    names = dict.fromkeys(record.kernel for record in found)
    rows = "".join(_verdict_row(name, context, found, columns) for name in names)
    table = f"<thead><tr><th>kernel</th>{heads}</tr></thead><tbody>{rows}</tbody>"
    return f'<div class="wide" data-search-exclude><table class="verdicts">{table}</table></div>'


def _verdict_row(name: str, context: Context, found: Sequence[Record], columns: Sequence[tuple[str, str]]) -> str:
    mine = [record for record in found if record.kernel == name]
    cells: list[str] = []
    for lane, target in columns:
        records = [record for record in mine if (record.lane, record.target) == (lane, target)]
        cells.append(_verdict_cell(records))
    mistake = context.evidence.kernels[name].mistake
    told = f"<br><small>{html.escape(mistake)}</small>" if mistake else ""
    return f"<tr><th><code>{html.escape(name)}</code>{told}</th>{''.join(cells)}</tr>"


def _verdict_cell(records: Sequence[Record]) -> str:
    """The worst of the cases, with what was said of it as the cell's title."""
    worst = max(records, key=lambda record: record.status not in {"ok", "not-applicable"}, default=None)
    if worst is None:
        return "<td>–</td>"
    told = html.escape(" ".join((worst.error or worst.reason).split())[:300])
    word = "–" if worst.status == "not-applicable" else worst.status
    return f'<td class="v-{worst.status}" title="{told}">{word}</td>'


def run_it(fence: Fence, context: Context) -> str:
    """How to run a topic's kernels: the command, and the same file as a notebook."""
    given = options(fence, context, {"topic"})
    topic = given["topic"]
    if not (context.root / "kernels" / topic / "kernel.py").is_file():
        known = ", ".join(sorted(path.parent.name for path in (context.root / "kernels").glob("*/kernel.py")))
        raise BadInput(f"no topic '{topic}'", {"page": context.place(fence), "expected": known})
    name = f"notebooks/{topic}.ipynb"
    context.files[name] = notebooks.notebook(context.root, topic)
    site = os.environ.get("TRACK_SITE_URL", "").rstrip("/")
    opened = f', <a href="{notebooks.open_in_colab(f"{site}/{name}")}">open it in Colab</a>' if site else ""
    return (
        f"```sh\npip install jax numpy\npython kernels/{topic}/kernel.py\n```\n\n"
        f'<p>The same file as a notebook: <a href="{context.up}{name}" download>{topic}.ipynb</a>{opened}.</p>'
    )


FENCES: Mapping[str, Callable[[Fence, Context], str]] = {
    "computed-timeline": computed_timeline,
    "descent": forms,
    "grid": grid,
    "ledger": ledger,
    "run": run_it,
    "units": units,
    "verdicts": verdicts,
}


def _case(fence: Fence, context: Context, given: Mapping[str, str]) -> tuple[str, str]:
    """The kernel and the case that a fence asks for; the only case, unless one is named."""
    listed = context.evidence.kernels.get(given["kernel"])
    if listed is None:
        known = ", ".join(sorted(context.evidence.kernels)) or "no kernel at all"
        raise BadInput(f"no kernel '{given['kernel']}'", {"page": context.place(fence), "expected": known})
    cases = list(listed.cases)
    case = given.get("case", cases[0] if len(cases) == 1 else "")
    if case not in cases:
        details = {"page": context.place(fence), "expected": ", ".join(cases), "found": case or "no case named"}
        raise BadInput(f"say which case of {given['kernel']}", details)
    return given["kernel"], case


def _compiled(context: Context, name: str, case: str, chip: str) -> Record | None:
    return context.evidence.records.get((name, case, COMPILED, chip))


def _recorded(context: Context, name: str, case: str) -> tuple[Event, ...] | None:
    record = context.evidence.records.get((name, case, "tpu-interpret", "v5e"))
    return record.measures.events if record else None


def _told(record: Record | None) -> str:
    if record is None:
        return "there is no such record"
    return f"the record says {record.status}: {' '.join((record.error or record.reason).split())}"


def _versions(record: Record) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(record.versions.items()))
    return html.escape(f"Made while this site was built: {record.kernel} on {record.case}, {record.lane} {record.target}, {versions}.")


def _missing(name: str, what: str, why: str) -> str:
    return (
        f'<div class="admonition failure"><p class="admonition-title">No {what}</p>'
        f"<p>Of <code>{html.escape(name)}</code> {html.escape(why)}.</p></div>"
    )


def _figure(figure: Figure, caption: str, origin: str) -> str:
    svg = " ".join(figure.svg.split("\n"))
    words = f"{html.escape(caption)} " if caption else ""
    picture = f'<div class="wide">{svg}</div><figcaption>{words}{origin}</figcaption>'
    return f'<figure class="fig" data-search-exclude>{picture}</figure>'
