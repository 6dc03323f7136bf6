"""Fences that show what the compilers said of a kernel: grids, ledgers, unit use, computed timelines, descents.

What is not known does not stop the build: the place of the figure says so, in the words of the record if there is one.
"""

from __future__ import annotations

import dataclasses
import html
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from track.errors import BadInput
from track.evidence import Record, doublebuffer
from track.evidence.lanes import LANES
from track.evidence.record import Form, Grid, Verdict
from track.evidence.schedule import costs_of
from track.pages import notebooks
from track.pages.context import Context, options
from track.pages.descent import Tab, descent, lines_of, shown
from track.pages.document import Fence
from track.pages.figures import figure_html, stamp_html
from track.pages.search import verdict_id

if TYPE_CHECKING:
    from track.evidence.figures import Figure

__all__ = ["FENCES"]

COMPILED, RECORDED = "tpu-aot", ("tpu-interpret", "v5e")
LANGUAGES = {"mosaic": "llvm", "llvm": "llvm"}
"""Pygments lexers by kind of form; the others are shown as text."""
SEPARATOR = " | "
"""Between two quotes of one mark."""
WORST_LAST = ("not-applicable", "ok", "unavailable", "harness-error", "timed-out", "refused", "crashed", "wrong")


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a fence asks for: a kernel that exists, a case that it has, and what else the fence says."""

    fence: Fence
    context: Context
    kernel: str
    case: str
    given: Mapping[str, str]

    @property
    def at(self) -> str:
        """The place of the fence, for errors."""
        return self.context.place(self.fence)

    def record(self, lane: str, target: str) -> Record | None:
        """The record of the case in a lane."""
        return self.context.evidence.records.get((self.kernel, self.case, lane, target))

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The grids of the case; none where they could not be traced."""
        return self.context.evidence.grids.get((self.kernel, self.case), ())

    @property
    def chip(self) -> str:
        """The chip that is asked for, which is one that is known."""
        return _one_of("chip", self.given["chip"], self.context.evidence.chips, self.at)

    @property
    def prefix(self) -> str:
        """What the ids of a figure begin with, unique on the page."""
        return f"fig{self.fence.line}"

    def figure(self, figure: Figure, origin: str) -> str:
        """The HTML of a figure, with the fence's caption; `origin` is HTML."""
        return figure_html(figure, self.given.get("caption", ""), origin)

    def nothing(self, what: str, record: Record | None, why: str) -> str:
        """The stamp in place of what is not known: in the words of the record, or `why` where it has none."""
        if record is None:
            told = Verdict("unavailable", reason=why)
            record = Record("", self.kernel, self.case, "", "", "", {}, confined=False, output="", verdict=told)
        elif not (record.error or record.reason):
            record = msgspec.structs.replace(record, verdict=Verdict(record.status, reason=why))
        return stamp_html(record, what)


@dataclasses.dataclass(frozen=True)
class KernelFence:
    """A fence that shows one kernel on one case; `marks` says that it takes options that begin with `mark-`."""

    what: str
    draw: Callable[[Asked], str]
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset({"caption"})
    marks: bool = False

    def __call__(self, fence: Fence, context: Context) -> str:
        """Check what is asked for, and show it, or a stamp where the kernel's topic cannot even be listed."""
        marks = {key for key in fence.options if self.marks and key.startswith("mark-")}
        given = options(fence, context, {"kernel", *self.required}, {"case", *self.optional, *marks})
        name, kernels = given["kernel"], context.evidence.kernels
        broken = [record for record in context.evidence.records.values() if not record.lane]
        if name not in kernels and broken:
            return stamp_html(broken[0], self.what)
        cases = kernels[_one_of("kernel", name, kernels, context.place(fence))].cases
        case = given.get("case", next(iter(cases)) if len(cases) == 1 else "")
        if case not in cases:
            details = {"page": context.place(fence), "expected": ", ".join(cases), "found": case or "no case named"}
            raise BadInput(f"say which case of {name}", details)
        return self.draw(Asked(fence, context, name, case, given))


def grid(asked: Asked) -> str:
    """Which block of which array each grid step touches."""
    from track.evidence import figures  # noqa: PLC0415 -- matplotlib costs half a second, needed by few pages

    if not asked.grids:
        return asked.nothing("grid picture", None, f"no grid could be traced on {asked.case}")
    with asked.context.naming(asked.fence):
        drawn = [figures.grid(one, asked.kernel, f"{asked.prefix}-{n}") for n, one in enumerate(asked.grids)]
    origin = html.escape(f"Computed from the traced index maps of {asked.kernel} on {asked.case}.")
    return "\n\n".join(asked.figure(figure, origin) for figure in drawn)


def ledger(asked: Asked) -> str:
    """What a kernel keeps in VMEM, against the size of some chips; chips without a record are named."""
    from track.evidence import figures  # noqa: PLC0415 -- as above

    known = asked.context.evidence.chips
    listed = [chip.strip() for chip in asked.given.get("chips", ",".join(LANES[COMPILED].targets)).split(",")]
    chips = [_one_of("chip", chip, known, asked.at) for chip in listed]
    records = {chip: asked.record(COMPILED, chip) for chip in chips}
    found = {chip: record for chip, record in records.items() if record and record.measures.ledger}
    if not found:
        return asked.nothing("memory ledger", records[chips[0]], "no record of the TPU compiler has one")
    ledgers = {chip: record.measures.ledger for chip, record in found.items() if record.measures.ledger}
    with asked.context.naming(asked.fence):
        figure = figures.ledger(ledgers, known, asked.kernel, asked.prefix)
    lacking = ", ".join(chip for chip in chips if chip not in found)
    missing = html.escape(f" Not compiled for {lacking}.") if lacking else ""
    return asked.figure(figure, _made(list(found.values())) + missing)


def units(asked: Asked) -> str:
    """How the final program of a kernel uses the units of a core."""
    from track.evidence import figures  # noqa: PLC0415 -- as above

    record = asked.record(COMPILED, asked.chip)
    if record is None or not record.measures.regions:
        return asked.nothing("unit use", record, f"no bundles are recorded for {asked.chip}")
    measures = record.measures
    with asked.context.naming(asked.fence):
        figure = figures.units(measures.regions, measures.capacity, asked.kernel, asked.chip, asked.prefix)
    return asked.figure(figure, _made([record]))


def computed_timeline(asked: Asked) -> str:
    """The order of copies and compute at the times of a stated model, with its trace to download; one for each grid."""
    from track.evidence import figures  # noqa: PLC0415 -- as above

    record, recorded = asked.record(COMPILED, asked.chip), asked.record(*RECORDED)
    orders = doublebuffer.orders_of(recorded.measures.events if recorded else None, asked.grids)
    if record is None or not record.measures.regions or not orders:
        lacks = "no order of copies is known" if record and record.measures.regions else "no bundles are recorded"
        return asked.nothing("computed timeline", record, f"{lacks} for {asked.chip}")
    parts: list[str] = []
    with asked.context.naming(asked.fence):
        costs = costs_of(record.measures.regions, asked.context.evidence.chips[asked.chip], orders)
        for number, (order, cost) in enumerate(zip(orders, costs, strict=True), 1):
            figure = figures.computed_timeline(asked.kernel, order, cost, f"{asked.prefix}-{number}")
            name = "-".join(f"{asked.kernel} {asked.case} {asked.chip}".split()) + (f"-{number}" if orders[1:] else "")
            trace = f"traces/{name}.json"
            asked.context.files[trace] = figures.computed_trace(asked.kernel, order, cost).encode()
            link = f'<a href="{html.escape(asked.context.up + trace)}" download>Perfetto trace</a>'
            origin = f"{_made([record])} {link}, to open in ui.perfetto.dev."
            parts.append(asked.figure(figure, origin))
    return "\n\n".join(parts)


def forms(asked: Asked) -> str:
    """Every form that a kernel takes on its way to a chip, in tabs, with the lines lit that `mark-KIND` quotes.

    A mark's quotes light every form of that kind in which they stand, and must stand in one.
    """
    lane = _one_of("lane", asked.given["lane"], LANES, asked.at)
    target = _one_of("target", asked.given["target"], LANES[lane].targets, asked.at)
    record = asked.record(lane, target)
    texts = [form for form in (record.measures.forms or () if record else ()) if form.text]
    if record is None or not texts:
        return asked.nothing("descent", record, f"no form is recorded in {lane} for {target}")
    marks = {key.removeprefix("mark-"): value for key, value in asked.given.items() if key.startswith("mark-")}
    for kind in sorted(marks):
        _one_of("option", f"mark-{kind}", {f"mark-{form.kind}" for form in texts}, asked.at)
    tabs = _lit(_tabs(texts), [form.kind for form in texts], marks)
    return descent(tabs, {"page": asked.at}) + f'\n\n<p class="origin">{_made([record])}</p>'


def _tabs(texts: Sequence[Form]) -> list[Tab]:
    """A tab a form; passes that run several times are numbered."""
    seen: Counter[str] = Counter()
    tabs: list[Tab] = []
    for form in texts:
        name = f"{form.kind}: {form.stage}" if form.stage else form.kind
        seen[name] += 1
        numbered = f"{name} ({seen[name]})" if seen[name] > 1 else name
        tabs.append(Tab(numbered, form.text, language=LANGUAGES.get(form.kind, "text")))
    return tabs


def _lit(tabs: Sequence[Tab], kinds: Sequence[str], marks: Mapping[str, str]) -> list[Tab]:
    """The tabs with their quotes; one that stands nowhere is given to the last of its kind, whose error it will be."""
    quotes: list[list[str]] = [[] for _ in tabs]
    for kind, mark in marks.items():
        mine = [place for place, other in enumerate(kinds) if other == kind]
        for quote in mark.split(SEPARATOR):
            for place in [at for at in mine if lines_of(shown(tabs[at]), quote)] or mine[-1:]:
                quotes[place].append(quote)
    return [msgspec.structs.replace(tab, quotes=tuple(lit)) for tab, lit in zip(tabs, quotes, strict=True)]


def verdicts(fence: Fence, context: Context) -> str:
    """A row a kernel, a column a lane and target, a word a cell; a mistake made on purpose stands under its kernel.

    With `search: no` its errors are searched on another page, which tells more of them.
    """
    given = options(fence, context, {"topics"}, {"search"})
    _one_of("search", given.get("search", "no"), {"no"}, context.place(fence))
    every = context.evidence.records.values()
    known = {record.topic for record in every}
    topics = [_one_of("topic", topic.strip(), known, context.place(fence)) for topic in given["topics"].split(",")]
    stamps = [stamp_html(record, "verdicts") for record in every if record.topic in topics and not record.lane]
    found = [record for record in every if record.topic in topics and record.lane]
    if not found:
        return "\n\n".join(stamps)
    columns = [(lane, target) for lane, entry in LANES.items() for target in entry.targets]
    heads = "".join(f"<th>{lane}<br>{target}</th>" for lane, target in columns)
    rows = "".join(_verdict_row(name, context, found, columns) for name in dict.fromkeys(r.kernel for r in found))
    table = f"<thead><tr><th>kernel</th>{heads}</tr></thead><tbody>{rows}</tbody>"
    shown_ = f'<div class="wide" data-search-exclude><table class="verdicts">{table}</table></div>'
    return "\n\n".join([*stamps, shown_])


def _verdict_row(name: str, context: Context, found: Sequence[Record], columns: Sequence[tuple[str, str]]) -> str:
    mine = [record for record in found if record.kernel == name]
    cells = (_verdict_cell([r for r in mine if (r.lane, r.target) == column]) for column in columns)
    mistake = context.evidence.kernels[name].mistake
    told = f"<br><small>{html.escape(' '.join(mistake.split()))}</small>" if mistake else ""
    return f"<tr><th><code>{html.escape(name)}</code>{told}</th>{''.join(cells)}</tr>"


def _verdict_cell(records: Sequence[Record]) -> str:
    """The worst of the cases, with what was said of it as the cell's title."""
    if not records:
        return "<td>–</td>"
    worst = max(records, key=lambda record: WORST_LAST.index(record.status))
    told = html.escape(" ".join((worst.error or worst.reason).split())[:300])
    word = "–" if worst.status == "not-applicable" else worst.status
    name = f' id="{verdict_id(worst)}"' if told else ""  # a search leads to it
    return f'<td{name} class="v-{worst.status}" title="{told}">{word}</td>'


def run_it(fence: Fence, context: Context) -> str:
    """How to run a topic's kernels: the command, and the same file as a notebook."""
    given = options(fence, context, {"topic"})
    known = {path.parent.name for path in (context.root / "kernels").glob("*/kernel.py")}
    topic = _one_of("topic", given["topic"], known, context.place(fence))
    name = f"notebooks/{topic}.ipynb"
    context.files[name] = notebooks.notebook(context.root, topic)
    site = os.environ.get("TRACK_SITE_URL", "").rstrip("/")
    colab = html.escape(notebooks.open_in_colab(f"{site}/{name}"))
    opened = f', <a href="{colab}">open it in Colab</a>' if site else ""
    return (
        f"```sh\npip install jax numpy\npython kernels/{topic}/kernel.py\n```\n\n"
        f'<p>The same file as a notebook: <a href="{context.up}{name}" download>{topic}.ipynb</a>{opened}.</p>'
    )


_CHIP = frozenset({"chip"})
FENCES: Mapping[str, Callable[[Fence, Context], str]] = {
    "computed-timeline": KernelFence("computed timeline", computed_timeline, _CHIP),
    "descent": KernelFence("descent", forms, frozenset({"lane", "target"}), frozenset(), marks=True),
    "grid": KernelFence("grid picture", grid),
    "ledger": KernelFence("memory ledger", ledger, optional=frozenset({"caption", "chips"})),
    "run": run_it,
    "units": KernelFence("unit use", units, _CHIP),
    "verdicts": verdicts,
}


def _one_of(what: str, name: str, known: Iterable[str], at: str) -> str:
    """The name, if it is one that is known; BadInput with those that are, if not."""
    names = sorted(known)
    if name not in names:
        raise BadInput(f"no {what} '{name}'", {"page": at, "expected": ", ".join(names) or f"no {what} at all"})
    return name


def _made(records: Sequence[Record]) -> str:
    """What was run, for which targets, in which versions: those of one lane share them."""
    first = records[0]
    targets = ", ".join(record.target for record in records)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(first.versions.items()))
    when = first.stamp[:1].upper() + first.stamp[1:] or "Made while this site was built"
    return html.escape(f"{when}: {first.kernel} on {first.case}, {first.lane} {targets}, {versions}.")
