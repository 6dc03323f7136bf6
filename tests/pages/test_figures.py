"""Fences that show evidence, with evidence made by hand: what ran is shown, and what failed says so."""

from __future__ import annotations

import json
from typing import Literal

import markdown
import msgspec
import pytest

from tests.pages.helpers import PAGE, context, document, dom
from track.errors import BadInput
from track.evidence import Evidence
from track.evidence.record import Chip, Event, Measures, Numbers, Record, Region, TruthTable, Verdict, WindowTable, Work
from track.pages.context import Context
from track.pages.directives import DIRECTIVES

NASTY = "bad <script>alert(1)</script> | *x* [y](javascript:z) `q` {: .c }\nsecond \\| line"
NUMBERS = Numbers(0.5, 0, 2048, 0.001, 0.25, "sums of 8 <terms>")
EVENTS = (
    Event("dma_start", -1, direction="in", operand="x", slot=0, block=(0, 0), bytes=4096, dma=0),
    Event("dma_wait", 0, direction="in", operand="x", slot=0, block=(0, 0), bytes=4096, dma=0),
    Event("compute", 0),
)
RECORDED = Measures(NUMBERS, races=("a write <x>",), events=EVENTS, work=Work(64, 4096))


def record(kernel: str, case: str, lane: str, verdict: Verdict) -> Record:
    return Record(
        topic="topic" if lane else kernel,
        kernel=kernel,
        case=case,
        lane=lane,
        target="v5e" if lane == "tpu-interpret" else "any",
        key="0" * 64,
        versions={"jax": "0.11.2"},
        confined=True,
        output="printed <b>",
        verdict=verdict,
    )


def window(operand: str, role: Literal["input", "output"]) -> WindowTable:
    return WindowTable(
        operand=operand,
        role=role,
        buffers=2,
        blocks=((0, 0), (1, 0)),
        out_of_fetch=(False, True),
        has_changed=(True, True),
        will_change_current=(True, False),
        will_change_fetch=(True, False),
        copy_in=(True, False) if role == "input" else (),
        wait_in=(True, True) if role == "input" else (),
        copy_out=(False, True) if role == "output" else (),
        wait_out=(False, False) if role == "output" else (),
    )


RECORDS = [
    record("copy", "ones", "tpu-interpret", Verdict("ok", measures=RECORDED)),
    record("copy", "ones", "hlo", Verdict("ok", measures=Measures(NUMBERS))),
    record("sums", "small", "tpu-interpret", Verdict("crashed", error=NASTY)),
    record("sums", "large", "tpu-interpret", Verdict("timed-out", reason="still running after 60 seconds")),
    record("flat", "", "tpu-interpret", Verdict("not-applicable", reason="it has no <pipeline>")),
]
EVIDENCE = Evidence(
    {(r.kernel, r.case, r.lane, r.target): r for r in RECORDS},
    {("copy", "ones"): TruthTable((2,), 2, (window("x", "input"), window("<o>", "output")))},
    {},
    {},
    {"v5e": Chip("v5e", "TPU v5 lite", 1, 819 * 10**9, 197 * 10**12, 128 * 2**20)},
    {},
    0,
)

KERNEL = '"""A kernel."""\n\n\ndef one(x):\n    return x  # <b>\n\n\ndef two(x):\n    return x\n'


@pytest.fixture
def site(tmp_path) -> Context:
    (tmp_path / "kernels" / "pipeline").mkdir(parents=True)
    (tmp_path / "kernels" / "pipeline" / "kernel.py").write_text(KERNEL)
    return context(tmp_path, msgspec.structs.replace(EVIDENCE, records=dict(EVIDENCE.records)))


def shown(site: Context, kind: str, *options: str) -> str:
    page = document("\n".join(["Text.", "", f"```{kind}", *options, "```", ""]), frozenset(DIRECTIVES))
    return DIRECTIVES[kind](page.fences[0], site.on(page))


def parsed(site: Context, kind: str, *options: str):
    return dom(markdown.markdown(shown(site, kind, *options), extensions=["tables", "attr_list"]))


def refused(site: Context, kind: str, *options: str) -> BadInput:
    with pytest.raises(BadInput) as caught:
        shown(site, kind, *options)
    assert caught.value.details["page"] == f"{PAGE}:3"
    return caught.value


@pytest.mark.parametrize(
    ("kind", "options", "what", "expected"),
    [
        ("timeline", ["kernel: copi"], "no kernel 'copi'", "copy, flat, sums"),
        ("timeline", [], "missing option 'kernel' of timeline", "caption, case, kernel"),
        ("timeline", ["kernel: copy", "colour: red"], "unknown option 'colour' of timeline", "caption, case, kernel"),
        ("timeline", ["kernel: copy", "case: twos"], "say which case of copy", "ones"),
        ("timeline", ["kernel: sums"], "say which case of sums", "small, large"),
        ("truth-table", ["kernel: none", "operand: x"], "no kernel 'none'", "copy, flat, sums"),
        ("truth-table", ["kernel: copy", "operand: y"], "copy has no operand 'y'", "x, <o>"),
        ("truth-table", ["kernel: copy"], "missing option 'operand' of truth-table", "case, kernel, operand"),
        ("roofline", ["kernels: copy", "chip: v9"], "no chip 'v9'", "v5e"),
        ("roofline", ["kernels: copy, none", "chip: v5e"], "no kernel 'none'", "copy, flat, sums"),
        ("records", ["kernels: copy, none"], "no kernel 'none'", "copy, flat, sums"),
        ("records", ["kernel: copy"], "unknown option 'kernel' of records", "kernels"),
        ("track", ["depth: 2"], "unknown option 'depth' of track", "no option"),
        ("pins", ["project: jax"], "unknown option 'project' of pins", "no option"),
        ("upstream", ["project: pgk", "file: LICENSE"], "no pinned project 'pgk'", "pkg"),
        ("upstream", ["project: pkg"], "missing option 'file' of upstream", "file, project"),
        ("kernel", ["path: x"], "unknown option 'path' of kernel", "file, symbol"),
    ],
)
def test_what_a_fence_asks_for_in_vain_is_bad_input_with_what_there_is(site, kind, options, what, expected):
    error = refused(site, kind, *options)
    assert error.what == what
    assert error.details["expected"] == expected


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("kernel", ["file: pipeline/none.py"]),
        ("kernel", ["file: pipeline/kernel.py", "symbol: three"]),
        ("upstream", ["project: pkg", "file: LICENSE"]),
    ],
)
def test_a_file_or_symbol_that_is_not_there_is_bad_input_with_the_place(site, kind, options):
    assert refused(site, kind, *options).what


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("timeline", ["kernel: sums", "case: small"]),
        ("truth-table", ["kernel: sums", "case: small", "operand: x"]),
        ("roofline", ["kernels: copy, sums", "chip: v5e"]),
    ],
)
def test_a_kernel_that_failed_leaves_a_visible_stamp_and_no_figure(site, kind, options):
    if kind == "roofline":  # which takes no case, so that a kernel needs to have just one
        del site.evidence.records["sums", "large", "tpu-interpret", "v5e"]
    html = parsed(site, kind, *options)
    stamp = html.css_first("div.failure")
    assert html.css_first("svg, table, script, a") is None
    assert stamp.css_first("code").text() == "sums"
    assert "says crashed: bad <script>alert(1)</script> | *x* [y](javascript:z)" in stamp.text()


@pytest.mark.parametrize("status", ["wrong", "refused"])
def test_a_kernel_with_wrong_numbers_has_no_timeline_although_it_was_recorded(site, status):
    recorded = Verdict(status, error="not equal", measures=Measures(NUMBERS, events=EVENTS))
    site.evidence.records["copy", "ones", "tpu-interpret", "v5e"] = record("copy", "ones", "tpu-interpret", recorded)
    html = parsed(site, "timeline", "kernel: copy")
    assert html.css_first("svg") is None
    assert f"says {status}: not equal" in html.css_first("div.failure").text()


def test_a_stamp_says_the_reason_where_there_was_no_error(site):
    assert "timed-out: still running after 60 seconds" in parsed(site, "timeline", "kernel: sums", "case: large").text()
    assert "not-applicable: it has no <pipeline>" in parsed(site, "timeline", "kernel: flat").text()


def test_a_topic_that_cannot_be_listed_leaves_a_stamp_for_its_kernels(tmp_path):
    broken = record("pipeline", "", "", Verdict("crashed", error="no <module>"))
    site = context(tmp_path, Evidence({("pipeline", "", "", ""): broken}, {}, {}, {}, {}, {}, 0))
    assert "says crashed: no <module>" in parsed(site, "timeline", "kernel: copy").text()


def test_what_a_figure_cannot_draw_is_an_error_with_the_place(site):
    copy = site.evidence.records["copy", "ones", "tpu-interpret", "v5e"]
    idle = Verdict("ok", measures=Measures(events=EVENTS, work=Work(0, 4096)))
    site.evidence.records["copy", "ones", "tpu-interpret", "v5e"] = msgspec.structs.replace(copy, verdict=idle)
    program = Verdict("ok", measures=Measures(regions=(Region("loop", 10),)))
    compiled = msgspec.structs.replace(copy, lane="tpu-aot", verdict=program)
    site.evidence.records["copy", "ones", "tpu-aot", "v5e"] = compiled
    assert "operations" in refused(site, "roofline", "kernels: copy", "chip: v5e").what


def test_records_are_a_table_of_every_lane(site):
    rows = [[cell.text() for cell in row.css("td")] for row in parsed(site, "records", "kernels: copy").css("tbody tr")]
    told = "largest error 0.5 over 2,048 elements, 0.25 + 0.001·|expected| allowed: sums of 8 <terms>"
    assert rows == [
        ["copy", "ones", "tpu-interpret", "v5e", "ok", "1", told],
        ["copy", "ones", "hlo", "any", "ok", "not looked for", told],
    ]


def test_an_error_in_a_table_is_shown_and_never_read(site):
    html = parsed(site, "records", "kernels: sums")
    cells = [cell.text() for cell in html.css("tbody tr")[0].css("td")]
    assert cells == ["sums", "small", "tpu-interpret", "v5e", "crashed", "not looked for", " ".join(NASTY.split())]
    assert html.css_first("script, em, a, td code ~ code, .c") is None


def test_a_timeline_comes_with_its_trace_to_download(site):
    html = parsed(site, "timeline", "kernel: copy", "caption: Two <b> steps.")
    assert html.css_first("figure svg") is not None
    assert (
        html.css_first("figcaption")
        .text()
        .startswith("Two <b> steps. Recorded while this site was built: copy on ones")
    )
    assert html.css_first("a[download]").attributes["href"] == "../traces/copy-ones.json"
    assert json.loads(site.files["traces/copy-ones.json"])["traceEvents"]


def test_a_figure_is_one_line_so_that_markdown_takes_it_for_one_block(site):
    assert "\n" not in shown(site, "timeline", "kernel: copy")
    assert "\n" not in shown(site, "roofline", "kernels: copy", "chip: v5e")


def test_two_figures_of_a_page_share_no_id(site):
    timeline, roofline = "```timeline\nkernel: copy\n```\n\n", "```roofline\nkernels: copy\nchip: v5e\n```\n\n"
    read = document(timeline + timeline + roofline + roofline, frozenset(DIRECTIVES))
    html = dom("".join(DIRECTIVES[fence.kind](fence, site.on(read)) for fence in read.fences))
    ids = [node.attributes["id"] for node in html.css("[id]")]
    assert ids
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("operand", "does", "rows"),
    [
        (
            "x",
            ["wait in", "copy in"],
            [
                ["0", "(0, 0)", "–", "yes", "yes", "yes", "yes", "yes"],
                ["1", "(1, 0)", "yes", "yes", "–", "–", "yes", "–"],
            ],
        ),
        (
            "<o>",
            ["wait out", "copy out"],
            [["0", "(0, 0)", "–", "yes", "yes", "yes", "–", "–"], ["1", "(1, 0)", "yes", "yes", "–", "–", "–", "yes"]],
        ),
    ],
)
def test_a_truth_table_has_a_row_for_every_step(site, operand, does, rows):
    html = parsed(site, "truth-table", "kernel: copy", f"operand: {operand}")
    predicates = ["out_of_fetch", "has_changed", "will_change_current", "will_change_fetch"]
    assert [head.text() for head in html.css("th")] == ["step", "block", *predicates, *does]
    assert [[cell.text() for cell in row.css("td")] for row in html.css("tbody tr")] == rows
    assert html.css("caption code")[1].text() == operand


def test_a_kernel_is_shown_as_its_file_has_it(site):
    assert shown(site, "kernel", "file: pipeline/kernel.py").split("\n")[1:-1] == KERNEL.splitlines()
    lines = shown(site, "kernel", "file: pipeline/kernel.py", "symbol: one").split("\n")
    assert lines == ['```python title="kernels/pipeline/kernel.py"', "def one(x):", "    return x  # <b>", "```"]


def test_a_text_of_a_pin_is_shown_whole_and_escaped(site):
    html = dom(shown(site, "upstream", "project: pkg", "file: pkg/box.py"))
    assert html.css_first("pre").text() == site.library.tree("pkg/box.py").text("pkg/box.py")
    assert html.css_first("script") is None


def test_pins_are_a_table_with_a_link_to_the_full_commit(site):
    pin = site.library.trees["pkg"].pin
    html = parsed(site, "pins")
    cells = [cell.text() for cell in html.css("tbody td")]
    assert cells == ["pkg", "1.0", pin.commit, str(len(pin.files)), f"file at commit {pin.commit[:7]}"]
    assert html.css_first("a").attributes["href"] == f"https://example.org/pkg/tree/{pin.commit}"
