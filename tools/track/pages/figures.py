"""Fences that show evidence: timelines, truth tables, rooflines, verdicts, and the kernels themselves.

A kernel that failed does not stop the build: the place of its figure says so, in the words of the record.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from track.anchors import symbols
from track.errors import BadInput
from track.evidence import Record, doublebuffer
from track.evidence.record import Chip, TruthTable, WindowTable
from track.evidence.roofline import Point, point
from track.pages.context import Context, options
from track.pages.document import Fence

if TYPE_CHECKING:
    from track.evidence.figures import Figure
from track.spans import Span

__all__ = ["figure_html", "kernel", "records", "roofline", "stamp_html", "timeline", "truth_table"]

RECORDING_LANE = "tpu-interpret"
_MARKDOWN = str.maketrans({c: f"&#{ord(c)};" for c in "\\`*_{}[]()!|~"})


def timeline(fence: Fence, context: Context) -> str:
    """The recorded order of one kernel's copies and compute, with its trace to download."""
    from track.evidence import figures  # noqa: PLC0415 -- matplotlib costs half a second, needed by few pages

    given = options(fence, context, {"kernel"}, {"case", "caption"})
    record = _record(fence, context, given["kernel"], given.get("case"))
    if record.measures.events is None or record.status != "ok":
        return stamp_html(record, "timeline")
    name = "-".join(f"{record.kernel} {record.case}".split())
    trace = f"traces/{name}.json"
    context.files[trace] = figures.trace(record).encode()
    download = f'<a href="{context.up}{trace}" download>Perfetto trace</a>'
    with context.naming(fence):
        figure = figures.timeline(record, f"fig{fence.line}")
        context.files[f"figures/{name}.svg"] = figures.timeline(record, "figure").alone.encode()
    return figure_html(figure, given.get("caption", ""), f"{_origin([record])} {download}, to open in ui.perfetto.dev.")


def roofline(fence: Fence, context: Context) -> str:
    """Some kernels under the roofs of a chip."""
    from track.evidence import figures  # noqa: PLC0415 -- as above

    given = options(fence, context, {"kernels", "chip"}, {"caption"})
    found = [_record(fence, context, name, None) for name in _names(given["kernels"])]
    failed = [record for record in found if record.status != "ok"]
    if failed:
        return stamp_html(failed[0], "roofline")
    chip = context.evidence.chips.get(given["chip"])
    if chip is None:
        known = ", ".join(sorted(context.evidence.chips))
        raise BadInput(f"no chip '{given['chip']}'", {"page": context.place(fence), "expected": known})
    compiled = [context.evidence.records.get((one.kernel, one.case, "tpu-aot", chip.name)) for one in found]
    for record, program in zip(found, compiled, strict=True):
        if program is None or program.measures.regions is None:
            return stamp_html(program or record, "roofline")
    with context.naming(fence):
        points = [_point(record, chip, context) for record in found]
        figure = figures.roofline(points, chip, f"fig{fence.line}")
    return figure_html(figure, given.get("caption", ""), _origin([one for one in compiled if one], "Computed"))


def _point(record: Record, chip: Chip, context: Context) -> Point:
    """A kernel on a roofline: in its recorded order, or in the one of its grids, and with its bundles for the chip."""
    case = (record.kernel, record.case)
    orders = doublebuffer.orders_of(record.measures.events, context.evidence.grids.get(case, ()))
    work = record.measures.work or context.evidence.work.get(case)
    regions = context.evidence.records[*case, "tpu-aot", chip.name].measures.regions
    return point(record.kernel, work, orders, regions, chip)


def truth_table(fence: Fence, context: Context) -> str:
    """The four predicates of a kernel's windows at every step, and what the schedule does about them."""
    given = options(fence, context, {"kernel", "operand"}, {"case"})
    record = _record(fence, context, given["kernel"], given.get("case"))
    table = context.evidence.tables.get((record.kernel, record.case))
    if table is None:
        return stamp_html(record, "truth table")
    windows = {window.operand: window for window in table.windows}
    if given["operand"] not in windows:
        details = {"page": context.place(fence), "expected": ", ".join(windows)}
        raise BadInput(f"{record.kernel} has no operand '{given['operand']}'", details)
    return _table(record, table, windows[given["operand"]])


def records(fence: Fence, context: Context) -> str:
    """The verdict of every lane on some kernels."""
    given = options(fence, context, {"kernels"})
    names = _names(given["kernels"])
    known = {record.kernel for record in context.evidence.records.values()}
    _known(fence, context, names, known)
    rows = [
        "| kernel | case | lane | target | verdict | races | compared with NumPy |",
        "|---|---|---|---|---|---|---|",
    ]
    for record in context.evidence.records.values():
        if record.kernel in names and record.lane:
            told = ". ".join(filter(None, (record.error or record.reason or _numbers(record), _times(record))))
            cells = [record.case, record.lane, record.target, record.status, _races(record), " ".join(told.split())]
            rows.append(f"| <code>{_cell(record.kernel)}</code> | {' | '.join(map(_cell, cells))} |")
    return "\n".join(rows)


def kernel(fence: Fence, context: Context) -> str:
    """A companion kernel as its file has it: the whole file, or one symbol."""
    given = options(fence, context, {"file"}, {"symbol"})
    path = context.root / "kernels" / given["file"]
    if not path.is_file():
        raise BadInput("no such kernel file", {"page": context.place(fence), "file": f"kernels/{given['file']}"})
    with context.naming(fence):
        module = symbols.parse(f"kernels/{given['file']}", path.read_text("utf-8"))
        span = symbols.find(module, given["symbol"]).owned if "symbol" in given else Span(1, len(module.lines))
    lines = module.lines[span.first - 1 : span.last]
    return "\n".join([f'```python title="{module.path}"', *lines, "```"])


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _known(fence: Fence, context: Context, names: Sequence[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            details = {"page": context.place(fence), "expected": ", ".join(sorted(known)) or "no kernel at all"}
            raise BadInput(f"no kernel '{name}'", details, "the kernels are those of kernels/*/cases.py")


def _record(fence: Fence, context: Context, name: str, case: str | None) -> Record:
    """The recording lane's record of a kernel; its only case, unless one is named."""
    found = {r.case: r for r in context.evidence.records.values() if r.kernel == name and r.lane == RECORDING_LANE}
    broken = [r for r in context.evidence.records.values() if r.topic == r.kernel and not r.lane]
    if not found and broken:
        return broken[0]
    _known(fence, context, [name], {r.kernel for r in context.evidence.records.values() if r.lane == RECORDING_LANE})
    if case is None and len(found) == 1:
        return next(iter(found.values()))
    if case not in found:
        details = {"page": context.place(fence), "expected": ", ".join(found), "found": case or "no case named"}
        raise BadInput(f"say which case of {name}", details)
    return found[case]


def figure_html(figure: Figure, caption: str, origin: str) -> str:
    """A picture with its caption, which is text, and its origin, which is HTML."""
    svg = " ".join(figure.svg.split("\n"))
    words = f"{html.escape(caption)} " if caption else ""
    picture = f'<div class="wide">{svg}</div><figcaption>{words}{origin}</figcaption>'
    return f'<figure class="fig" data-search-exclude>{picture}</figure>'


def _origin(shown: Sequence[Record], how: str = "Recorded") -> str:
    """What was run: kernels and cases, the lane, and the versions, which all records of a build share."""
    runs = ", ".join(f"{record.kernel} on {record.case}" for record in shown)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(shown[0].versions.items()))
    return html.escape(f"{how} while this site was built: {runs}, lane {shown[0].lane}, {versions}.")


def stamp_html(record: Record, what: str) -> str:
    """What stands in the place of a figure that a record cannot give, in the record's words."""
    told = html.escape(" ".join((record.error or record.reason).split()))
    name = html.escape(record.kernel)
    return (
        f'<div class="admonition failure"><p class="admonition-title">No {what}</p>'
        f"<p>The record of <code>{name}</code> says {record.status}: {told}</p></div>"
    )


def _table(record: Record, table: TruthTable, window: WindowTable) -> str:
    predicates = ("out_of_fetch", "has_changed", "will_change_current", "will_change_fetch")
    verbs = ("wait_in", "copy_in") if window.role == "input" else ("wait_out", "copy_out")
    heads = "".join(f"<th><code>{name}</code></th>" for name in predicates)
    heads += "".join(f'<th class="does">{verb.replace("_", " ")}</th>' for verb in verbs)
    rows = "".join(_row(window, step, predicates, verbs) for step in range(table.steps))
    title = (
        f"<code>{html.escape(record.kernel)}</code>, {window.role} <code>{html.escape(window.operand)}</code>, "
        f"{window.buffers} buffers: "
        "the pinned Scheduler, asked at every step"
    )
    body = f"<thead><tr><th>step</th><th>block</th>{heads}</tr></thead><tbody>{rows}</tbody>"
    return f'<div class="wide" data-search-exclude><table class="truth"><caption>{title}</caption>{body}</table></div>'


def _row(window: WindowTable, step: int, predicates: Sequence[str], verbs: Sequence[str]) -> str:
    block = ", ".join(map(str, window.blocks[step]))
    cells = [_yes(getattr(window, name)[step]) for name in predicates]
    cells += [_yes(getattr(window, name)[step], "does") for name in verbs]
    return f"<tr><td>{step}</td><td>({block})</td>{''.join(cells)}</tr>"


def _yes(value: bool, css: str = "") -> str:  # noqa: FBT001 -- a cell of a truth table
    kind = " ".join(filter(None, (css, "yes" if value else "no")))
    return f'<td class="{kind}">{"yes" if value else "–"}</td>'


def _races(record: Record) -> str:
    """How many races the lane saw, where it looks for them."""
    return "not looked for" if record.measures.races is None else str(len(record.measures.races) or "none")


def _times(record: Record) -> str:
    """What a chip measured, with the machine and the date, for a record that has times."""
    timing = record.measures.timing
    if timing is None:
        return ""
    rate = f", {timing.teraflops:.4g} TFLOP/s" if timing.flops else ""
    return f"{timing.seconds * 1e6:.4g} µs{rate}, {timing.gigabytes:.4g} GB/s, median of {timing.runs}. {record.stamp}"


def _numbers(record: Record) -> str:
    numbers = record.measures.numbers
    if numbers is None:
        return ""
    allowed = f"{numbers.absolute:g} + {numbers.relative:g}·|expected| allowed"
    return f"largest error {numbers.largest_error:g} over {numbers.elements:,} elements, {allowed}: {numbers.reason}"


def _cell(text: str) -> str:
    """Text in a cell of a Markdown table: what came from a run is shown, never read."""
    return html.escape(" ".join(text.split()), quote=False).translate(_MARKDOWN)
