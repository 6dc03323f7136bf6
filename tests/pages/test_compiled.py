"""Fences about what the compilers said, with evidence made by hand: what is known is shown, and what is not says so."""

from __future__ import annotations

import json
import re

import markdown
import msgspec
import pytest

from tests.pages.helpers import PAGE, context, document, dom, errors_of
from track.errors import BadInput, TrackError
from track.evidence import Evidence
from track.evidence.lanes import LANES
from track.evidence.record import (
    Buffer,
    Chip,
    Form,
    Grid,
    Ledger,
    Listed,
    Measures,
    Record,
    Region,
    Status,
    Verdict,
    Window,
)
from track.pages.compiled import WORST_LAST
from track.pages.context import Context
from track.pages.directives import DIRECTIVES

NASTY = 'bad <script>alert(1)</script> | *x* [y](javascript:z) `q` "r" {: .c }\nsecond \\| line'
EXTENSIONS = ["tables", "attr_list", "pymdownx.superfences", "pymdownx.highlight", "pymdownx.tabbed"]
GPU = ["kernel: copy", "lane: gpu-aot", "target: sm90"]


def window(operand: str, role) -> Window:
    return Window(operand, role, (16, 128), (8, 128), (8, 128), 4, 2, ((0, 0), (1, 0)))


GRIDS = (Grid("copy", (2,), (window("x", "input"), window("o", "output"))),)
LEDGER = Ledger((Buffer("x", "vmem", (8, 128), "float32", 2, 8192),), 8192, 0)
REGIONS = (
    Region("start", 3, units={"scalar": 3}, use={"scalar": "111"}, kernel="copy"),
    Region("loop", 4, 1, {"scalar": 2}, {"scalar": "1010"}, 2, "copy"),
    Region("end", 1, units={"scalar": 1}, use={"scalar": "1"}, kernel="copy"),
)
BUNDLES = Measures(ledger=LEDGER, regions=REGIONS, capacity={"scalar": 2})
FORMS = (
    Form("triton", "first", "a = load x\nb = load o\nstore a\n", 3),
    Form("triton", "idle", changed=False),
    Form("triton", "pass", "a = load x\nstore a\n[cut: the first 2 of 9 lines]\n", 9),
    Form("triton", "pass", "c = copy x <b>\n```\n", 2),
    Form("ptx", "", "ld.global;\nret;\n", 2),
)


def record(kernel: str, case: str, lane: str, target: str, verdict: Verdict, *, topic: str = "plain") -> Record:
    names = (topic, kernel, case, lane, target, "0" * 64, {"jax": "0.11.2"})
    return Record(*names, confined=True, output="printed <b>", verdict=verdict)


def evidence(*records: Record) -> Evidence:
    """What is known of `copy`, which works, `sums`, which crashed in two cases, and `flat`, of which nothing is."""
    known = [
        record("copy", "ones", "tpu-aot", "v5e", Verdict("ok", measures=BUNDLES)),
        record("copy", "ones", "gpu-aot", "sm90", Verdict("ok", measures=Measures(forms=FORMS))),
        record("copy", "ones", "hlo", "any", Verdict("ok")),
        record("sums", "small", "tpu-aot", "v5e", Verdict("crashed", error=NASTY)),
        record("sums", "small", "gpu-aot", "sm90", Verdict("crashed", error=NASTY)),
        *records,
    ]
    kernels = {"copy": ["ones"], "sums": ["small", "large"], "flat": ["all"]}
    chips = ("v5e", "TPU v5 lite"), ("v6e", "TPU v6 lite")
    return Evidence(
        records={(r.kernel, r.case, r.lane, r.target): r for r in known},
        tables={},
        grids={("copy", "ones"): GRIDS},
        work={},
        chips={name: Chip(name, kind, 1, 819 * 10**9, 197 * 10**12, 128 * 2**20) for name, kind in chips},
        kernels={name: Listed(name, dict.fromkeys(cases, ""), (), {}) for name, cases in kernels.items()},
        ran=0,
    )


@pytest.fixture
def site(tmp_path) -> Context:
    (tmp_path / "kernels" / "plain").mkdir(parents=True)
    (tmp_path / "kernels" / "plain" / "kernel.py").write_text("x = 1\n")
    (tmp_path / "kernels" / "mistakes").mkdir()
    return context(tmp_path, evidence())


def shown(site: Context, kind: str, *options: str) -> str:
    page = document("\n".join(["Text.", "", f"```{kind}", *options, "```", ""]), frozenset(DIRECTIVES))
    return DIRECTIVES[kind](page.fences[0], site.on(page))


def parsed(site: Context, kind: str, *options: str):
    settings = {"pymdownx.tabbed": {"alternate_style": True}}
    return dom(markdown.markdown(shown(site, kind, *options), extensions=EXTENSIONS, extension_configs=settings))


def refused(site: Context, kind: str, *options: str) -> TrackError:
    with pytest.raises(BadInput) as caught:
        shown(site, kind, *options)
    assert caught.value.details["page"] == f"{PAGE}:3"
    return caught.value


def lit(html) -> list[tuple[str, list[str]]]:
    """The lines that are lit, by the name of their tab."""
    names = [label.text() for label in html.css("label")]
    blocks = [[line.text().strip() for line in block.css(".hll")] for block in html.css(".tabbed-block")]
    return list(zip(names, blocks, strict=True))


@pytest.mark.parametrize(
    ("kind", "options", "what", "expected"),
    [
        ("grid", ["kernel: copi"], "no kernel 'copi'", "copy, flat, sums"),
        ("grid", ["kernel: copy", "case: twos"], "say which case of copy", "ones"),
        ("grid", ["kernel: sums"], "say which case of sums", "small, large"),
        ("grid", ["kernel: copy", "chip: v5e"], "unknown option 'chip' of grid", "caption, case, kernel"),
        ("ledger", ["kernel: copy", "chips: v5e, v9"], "no chip 'v9'", "v5e, v6e"),
        ("units", ["kernel: copy"], "missing option 'chip' of units", "caption, case, chip, kernel"),
        ("units", ["kernel: copy", "chip: v9"], "no chip 'v9'", "v5e, v6e"),
        ("computed-timeline", ["kernel: copy", "chip: v9"], "no chip 'v9'", "v5e, v6e"),
        ("descent", ["kernel: copy", "lane: cpu", "target: sm90"], "no lane 'cpu'", ", ".join(sorted(LANES))),
        ("descent", ["kernel: copy", "lane: gpu-aot", "target: v5e"], "no target 'v5e'", "sm100, sm90"),
        ("descent", [*GPU, "mark-sass: x"], "no option 'mark-sass'", "mark-ptx, mark-triton"),
        ("descent", [*GPU, "lit: x"], "unknown option 'lit' of descent", "case, kernel, lane, target"),
        ("units", ["kernel: copy", "chip: v5e", "mark-ptx: x"], "unknown option 'mark-ptx' of units", None),
        ("verdicts", ["topics: plain, fancy"], "no topic 'fancy'", "plain"),
        ("verdicts", ["topic: plain"], "unknown option 'topic' of verdicts", "search, topics"),
        ("run", ["topic: mistakes"], "no topic 'mistakes'", "plain"),
        ("run", ["topic: ../kernels/plain"], "no topic '../kernels/plain'", "plain"),
    ],
)
def test_what_a_fence_asks_for_in_vain_is_bad_input_with_what_there_is(site, kind, options, what, expected):
    error = refused(site, kind, *options)
    assert error.what == what
    assert expected is None or error.details["expected"] == expected


@pytest.mark.parametrize("kind", ["computed-timeline", "descent", "grid", "ledger", "units"])
@pytest.mark.parametrize("kernel", ["kernel: flat", "kernel: sums|case: small", "kernel: sums|case: large"])
def test_what_is_not_known_leaves_a_visible_stamp(site, kind, kernel):
    rest = {"units": ["chip: v5e"], "computed-timeline": ["chip: v5e"], "descent": GPU[1:]}.get(kind, [])
    chips = ["chips: v5e, v6e"] if kind == "ledger" else []
    html = parsed(site, kind, *kernel.split("|"), *rest, *chips)
    stamp = html.css_first("div.failure")
    assert stamp.css_first(".admonition-title").text().startswith("No ")
    assert stamp.css_first("code").text() in kernel
    assert html.css_first("svg, script, a, em, .c, p code ~ code") is None
    if "small" in kernel and kind != "grid":  # which belongs to no lane, so no record says why there is none
        assert f"says crashed: {' '.join(NASTY.split())}" in stamp.text()
    else:
        assert re.search(r"says unavailable: \w+", stamp.text())


def test_a_record_that_says_nothing_gets_the_reason_of_the_fence(site):
    site.evidence.records["copy", "ones", "tpu-aot", "v5e"] = record("copy", "ones", "tpu-aot", "v5e", Verdict("ok"))
    said = parsed(site, "units", "kernel: copy", "chip: v5e").css_first("div.failure").text()
    assert "says ok: no bundles are recorded for v5e" in said


def test_a_kernel_whose_order_of_copies_is_unknown_has_no_computed_timeline(site):
    site.evidence.grids.clear()
    said = parsed(site, "computed-timeline", "kernel: copy", "chip: v5e").css_first("div.failure").text()
    assert "no order of copies is known for v5e" in said


@pytest.mark.parametrize("kind", ["grid", "descent"])
def test_a_topic_that_cannot_be_listed_leaves_a_stamp_for_its_kernels(site, kind):
    site.evidence.records["new", "", "", ""] = record("new", "", "", "", Verdict("crashed", error=NASTY), topic="new")
    html = parsed(site, kind, "kernel: newest", *(GPU[1:] if kind == "descent" else []))
    assert "says crashed: bad <script>" in html.css_first("div.failure").text()
    assert html.css_first("script") is None


def test_a_grid_is_drawn_and_says_what_it_comes_from(site):
    html = parsed(site, "grid", "kernel: copy", "caption: Two <b> blocks.")
    assert html.css_first("figure.fig svg") is not None
    origin = "Two <b> blocks. Computed from the traced index maps of copy on ones."
    assert html.css_first("figcaption").text() == origin


def test_every_grid_of_a_kernel_is_drawn_and_they_share_no_id(site):
    site.evidence.grids["copy", "ones"] = GRIDS * 2
    html = parsed(site, "grid", "kernel: copy")
    ids = [node.attributes["id"] for node in html.css("[id]")]
    assert len(html.css("figure")) == 2
    assert ids
    assert len(ids) == len(set(ids))


def test_a_ledger_names_the_chips_that_it_has_no_record_of(site):
    html = parsed(site, "ledger", "kernel: copy", "chips: v5e, v6e")
    said = html.css_first("figcaption").text()
    assert html.css_first("svg") is not None
    assert said == "Made while this site was built: copy on ones, tpu-aot v5e, jax 0.11.2. Not compiled for v6e."
    assert "Not compiled" not in parsed(site, "ledger", "kernel: copy", "chips: v5e").text()


def test_units_are_drawn_with_the_versions_that_they_come_from(site):
    html = parsed(site, "units", "kernel: copy", "chip: v5e", "caption: A.")
    assert html.css_first("svg") is not None
    origin = "A. Made while this site was built: copy on ones, tpu-aot v5e, jax 0.11.2."
    assert html.css_first("figcaption").text() == origin


def test_a_committed_record_says_where_it_comes_from(site):
    key = "copy", "ones", "tpu-aot", "v5e"
    stamped = msgspec.structs.replace(site.evidence.records[key], stamp="recorded on a TPU, 2026-01-02")
    site.evidence.records[key] = stamped
    said = parsed(site, "units", "kernel: copy", "chip: v5e").css_first("figcaption").text()
    assert said == "Recorded on a TPU, 2026-01-02: copy on ones, tpu-aot v5e, jax 0.11.2."


def test_a_computed_timeline_comes_with_its_trace_to_download(site):
    html = parsed(site, "computed-timeline", "kernel: copy", "chip: v5e")
    assert html.css_first("figure svg") is not None
    assert html.css_first("a[download]").attributes["href"] == "../traces/copy-ones-v5e.json"
    assert json.loads(site.files["traces/copy-ones-v5e.json"])["traceEvents"]


@pytest.mark.parametrize("kind", ["grid", "ledger", "units", "computed-timeline"])
def test_a_figure_is_one_line_so_that_markdown_takes_it_for_one_block(site, kind):
    rest = {"ledger": ["chips: v5e"], "grid": []}.get(kind, ["chip: v5e"])
    assert "\n" not in shown(site, kind, "kernel: copy", *rest)


def test_a_descent_has_a_tab_for_each_form_that_changed_the_text(site):
    html = parsed(site, "descent", *GPU)
    tabs = ["triton: first", "triton: pass", "triton: pass (2)", "ptx"]
    assert [label.text() for label in html.css("label")] == tabs
    assert html.css("pre")[2].text() == "c = copy x <b>\n```\n"
    assert html.css("pre")[1].text().endswith("[cut: the first 2 of 9 lines]\n")
    origin = "Made while this site was built: copy on ones, gpu-aot sm90, jax 0.11.2."
    assert html.css_first("p.origin").text() == origin


def test_a_quote_is_lit_in_every_form_of_its_kind_that_has_it(site):
    html = parsed(site, "descent", *GPU, "mark-triton: store a | load", "mark-ptx: ld.global")
    assert lit(html) == [
        ("triton: first", ["a = load x", "b = load o", "store a"]),
        ("triton: pass", ["a = load x", "store a"]),
        ("triton: pass (2)", []),
        ("ptx", ["ld.global;"]),
    ]


def test_no_mark_lights_nothing(site):
    assert [lines for _, lines in lit(parsed(site, "descent", *GPU))] == [[], [], [], []]


@pytest.mark.parametrize("mark", ["mark-triton: stora", "mark-triton: load | ld.global", "mark-ptx: load"])
def test_a_quote_that_stands_in_no_form_of_its_kind_is_an_error(site, mark):
    error = refused(site, "descent", *GPU, mark)
    assert error.what == "a quote of a descent is not there"
    assert error.details["quote"] in mark


def test_an_empty_mark_is_an_error_and_all_errors_are_shown_together(site):
    assert refused(site, "descent", *GPU, "mark-ptx:").what == "a quote of a descent is empty"
    with pytest.raises(TrackError) as caught:
        shown(site, "descent", *GPU, "mark-ptx: gone", "mark-triton: lost")
    assert len(errors_of(caught.value)) == 2


def cells(html, kernel: str) -> dict[str, tuple[str, str]]:
    """Word and title of each cell of a kernel's row, by lane and target."""
    heads = [head.html for head in html.css("thead th")][1:]
    columns = [re.sub(r"</?th>", "", head).replace("<br>", " ") for head in heads]
    row = next(row for row in html.css("tbody tr") if row.css_first("code").text() == kernel)
    words = [(cell.text(), cell.attributes.get("title") or "") for cell in row.css("td")]
    return dict(zip(columns, words, strict=True))


def test_verdicts_have_a_column_for_every_lane_and_target(site):
    found = cells(parsed(site, "verdicts", "topics: plain"), "copy")
    assert list(found) == [f"{name} {target}" for name, lane in LANES.items() for target in lane.targets]
    assert [name for name, cell in found.items() if cell == ("ok", "")] == ["hlo any", "tpu-aot v5e", "gpu-aot sm90"]
    assert found["h200 H200"] == ("–", "")


def test_every_status_has_its_place_among_the_verdicts():
    assert sorted(WORST_LAST) == sorted(Status.__args__)


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        (("ok", "wrong", "ok"), "wrong"),
        (("unavailable", "crashed"), "crashed"),
        (("wrong", "refused"), "wrong"),
        (("unavailable", "ok"), "unavailable"),
        (("not-applicable", "ok"), "ok"),
        (("not-applicable",), "–"),
    ],
)
@pytest.mark.parametrize("turn", [1, -1])
def test_a_cell_shows_the_worst_of_the_cases(tmp_path, statuses, worst, turn):
    records = [record("copy", f"{n}", "hlo", "any", Verdict(s, reason=s)) for n, s in enumerate(statuses[::turn])]
    site = context(tmp_path, evidence(*records))
    del site.evidence.records["copy", "ones", "hlo", "any"]
    word, title = cells(parsed(site, "verdicts", "topics: plain"), "copy")["hlo any"]
    assert word == worst
    assert title == ("not-applicable" if worst == "–" else worst)


def test_what_a_record_says_is_shown_and_never_read(site):
    mistaken = msgspec.structs.replace(site.evidence.kernels["sums"], mistake=f"It {NASTY}")
    site.evidence.kernels["sums"] = mistaken
    html = parsed(site, "verdicts", "topics: plain")
    assert cells(html, "sums")["tpu-aot v5e"] == ("crashed", " ".join(NASTY.split()))
    assert html.css_first("small").text() == f"It {' '.join(NASTY.split())}"
    assert html.css_first("script, em, a, .c") is None


def test_a_topic_that_cannot_be_listed_is_stamped_above_the_verdicts(site):
    site.evidence.records["new", "", "", ""] = record(
        "new", "", "", "", Verdict("crashed", error="no <b>"), topic="new"
    )
    html = parsed(site, "verdicts", "topics: plain, new")
    assert "says crashed: no <b>" in html.css_first("div.failure").text()
    assert html.css_first("table.verdicts") is not None
    assert parsed(site, "verdicts", "topics: new").css_first("table") is None


def test_run_says_the_command_and_links_the_notebook(site, monkeypatch):
    monkeypatch.delenv("TRACK_SITE_URL", raising=False)
    html = parsed(site, "run", "topic: plain")
    assert html.css_first("pre").text() == "pip install jax numpy\npython kernels/plain/kernel.py\n"
    assert [link.attributes["href"] for link in html.css("a")] == ["../notebooks/plain.ipynb"]
    assert json.loads(site.files["notebooks/plain.ipynb"])["cells"]


def test_run_links_colab_where_the_site_has_an_address(site, monkeypatch):
    monkeypatch.setenv("TRACK_SITE_URL", "https://example.org/site/")
    link = parsed(site, "run", "topic: plain").css("a")[1].attributes["href"]
    assert link.endswith("#fileId=https%3A%2F%2Fexample.org%2Fsite%2Fnotebooks%2Fplain.ipynb")
