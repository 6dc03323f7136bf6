"""Figures: equal bytes, bounded size, no color of their own, ids of their own, words, and nothing off the page."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from tests.evidence.made import CAPACITY, LEDGER, REGIONS, TILES, V5E, costs, lasting
from track.errors import BadInput, Finding
from track.evidence import Evidence, Record, doublebuffer
from track.evidence.figures import (
    Figure,
    computed_timeline,
    computed_trace,
    grid,
    ledger,
    roofline,
    timeline,
    trace,
    units,
)
from track.evidence.record import Event, Work
from track.evidence.roofline import point
from track.evidence.schedule import flights

Make = Callable[[str], Figure]
TIMELINES = ["timeline of scaled_copy", "timeline of revisit", "computed timeline"]
OTHERS = ["roofline", "grid", "ledger", "units"]
ORDER = doublebuffer.events_of(TILES)


def still(kind: str, prefix: str) -> Figure:
    """A figure that needs no record."""
    if kind == "computed timeline":
        return computed_timeline("tiles", ORDER, costs(3), prefix)
    if kind == "roofline":
        points = [point(name, Work(flops, 40960), [ORDER], REGIONS, V5E) for name, flops in (("a", 4096), ("b", 512))]
        return roofline(points, V5E, prefix)
    if kind == "grid":
        return grid(TILES, "tiles", prefix)
    if kind == "ledger":
        return ledger({"v5e": LEDGER}, {"v5e": V5E}, "tiles", prefix)
    return units(REGIONS, CAPACITY, "tiles", "v5e", prefix)


@pytest.fixture
def make(request: pytest.FixtureRequest) -> Make:
    """A figure of the kind that the test asks for, with ids that begin as wished."""
    kind = request.param
    if kind.startswith("timeline"):
        recorded = request.getfixturevalue("recorded")
        return lambda prefix: timeline(recorded[kind.split()[-1]], prefix)
    return lambda prefix: still(kind, prefix)


@pytest.mark.parametrize("make", [*TIMELINES, *OTHERS], indirect=True)
def test_equal_inputs_give_equal_bytes(make: Make) -> None:
    assert make("a").svg == make("a").svg


@pytest.mark.parametrize(
    ("make", "limit"),
    [*((kind, 120_000) for kind in TIMELINES), *((kind, 40_000) for kind in OTHERS)],
    indirect=["make"],
)
def test_a_figure_is_small(make: Make, limit: int) -> None:
    assert len(make("a").svg.encode()) <= limit


@pytest.mark.parametrize("make", [*TIMELINES, *OTHERS], indirect=True)
def test_every_color_is_a_variable_of_the_page(make: Make) -> None:
    known = {f"var(--fig-{name})" for name in ("ink", "soft", "grid", "in", "out", "compute", "wait", "roof")}
    used = set(re.findall(r'(?:fill|stroke)="([^"]*)"', make("a").svg))
    assert used - {"none"} <= known
    assert {"var(--fig-ink)", "var(--fig-soft)", "var(--fig-grid)"} <= used
    assert "style" not in make("a").svg
    assert "#" not in make("a").svg


@pytest.mark.parametrize("make", [*TIMELINES, *OTHERS], indirect=True)
def test_ids_begin_with_the_prefix_so_that_two_figures_share_none(make: Make) -> None:
    ids = {prefix: re.findall(r'\bid="([^"]*)"', make(prefix).svg) for prefix in ("one", "two")}
    assert ids["one"] == ["one-title", "one-desc"]
    assert not set(ids["one"]) & set(ids["two"])


@pytest.mark.parametrize("make", [*TIMELINES, *OTHERS], indirect=True)
def test_a_figure_says_in_words_what_it_shows(make: Make) -> None:
    figure = make("a")
    page = ET.fromstring(figure.svg)  # noqa: S314 - as above
    title, description = page[0], page[1]
    assert (title.text, description.text) == (figure.title, figure.description)
    assert page.get("aria-labelledby") == "a-title a-desc"
    assert "Across: " in figure.description
    assert 20 < len(figure.alt) < 150


@pytest.mark.parametrize("make", [*TIMELINES, *OTHERS], indirect=True)
def test_nothing_is_drawn_outside_the_picture(make: Make) -> None:
    page = ET.fromstring(make("a").svg)  # noqa: S314 - as above
    _, _, width, height = map(float, page.attrib["viewBox"].split())
    places = [list(map(float, re.findall(r"-?[\d.]+", path.attrib["d"]))) for path in page.iter() if path.get("d")]
    assert width == 700
    assert all(0 <= x <= width for numbers in places for x in numbers[::2])
    assert all(0 <= y <= height for numbers in places for y in numbers[1::2])


@pytest.mark.parametrize("make", [*TIMELINES, *OTHERS], indirect=True)
def test_words_can_be_read_at_the_width_of_a_page(make: Make) -> None:
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', make("a").svg)]
    assert sizes
    assert min(sizes) >= 10


def test_the_timeline_draws_every_copy_and_every_step(recorded: dict[str, Record]) -> None:
    page = timeline(recorded["revisit"], "a").svg
    copies = {color: page.count(f'fill="var(--fig-{color})" fill-opacity="0.28"') for color in ("in", "out")}
    assert copies == {"in": 4 + 1, "out": 8 + 1}  # and one of each in the key
    assert page.count('stroke="var(--fig-wait)"') == 12 + 1
    assert page.count('fill="var(--fig-compute)" fill-opacity="0.35"') == 8 + 1
    assert page.count('fill="var(--fig-compute)" fill-opacity="0.75"') == 16 + 1


def test_the_computed_timeline_has_the_same_marks_and_says_that_it_is_computed(recorded: dict[str, Record]) -> None:
    figure = computed_timeline("revisit", recorded["revisit"].measures.events or (), costs(3), "a")
    copies = {color: figure.svg.count(f'fill="var(--fig-{color})" fill-opacity="0.28"') for color in ("in", "out")}
    assert copies == {"in": 4 + 1, "out": 8 + 1}
    assert figure.svg.count('fill="var(--fig-compute)" fill-opacity="0.75"') == 16 + 1
    assert figure.title == "Computed timeline of revisit on one slow core"
    assert "Computed, not measured, for one slow core" in figure.svg
    assert "3 bundles a step at an assumed 1e-09 GHz" in figure.svg


def test_of_very_many_steps_the_first_are_drawn_and_the_picture_says_so() -> None:
    blocks = tuple((step, 0) for step in range(64))
    many = type(TILES)("many", (64,), tuple(replace_blocks(window, blocks) for window in TILES.windows))
    figure = computed_timeline("many", doublebuffer.events_of(many), costs(3), "a")
    assert len(figure.svg.encode()) < 120_000
    assert "64 grid steps, 64 copies in, 64 copies out" in figure.alt
    assert re.search(r"The first (\d+) steps", figure.svg)


def replace_blocks(window, blocks):
    return type(window)(window.operand, window.role, (512, 256), (8, 128), (8, 128), 4, 2, blocks)


def test_a_timeline_without_events_is_bad_input(evidence: Evidence) -> None:
    record = next(record for (_, _, lane, _), record in evidence.records.items() if lane == "hlo")
    with pytest.raises(BadInput, match="needs recorded events"):
        timeline(record, "a")


def test_a_copy_that_nothing_waits_for_is_a_finding() -> None:
    with pytest.raises(Finding, match="1 DMAs are started and never waited for"):
        flights([Event("dma_start", 0, direction="in", block=(0,), bytes=8, dma=0)])


def test_the_trace_has_a_row_for_each_slot_and_is_what_perfetto_reads(recorded: dict[str, Record]) -> None:
    text = trace(recorded["revisit"])
    names = set(re.findall(r'"name": "(compute|copy [^"]*)"', text))
    assert names == {
        "compute",
        *(f"copy {way}, {name}, slot {n}" for way, name in (("in", "x_hbm"), ("out", "o_hbm")) for n in (0, 1)),
    }
    assert len(lasting(text)) == 4 + 8 + 8
    assert "recorded order" in text


def test_the_computed_trace_has_the_times_of_the_model() -> None:
    events = [
        Event("dma_start", -1, direction="in", operand="x", slot=0, block=(0,), bytes=200, dma=0),
        Event("dma_wait", 0, direction="in", operand="x", slot=0, block=(0,), bytes=200, dma=0),
        Event("compute", 0),
    ]
    text = computed_trace("copy", events, costs(3))
    copy, body = lasting(text)
    assert (copy["ts"], copy["dur"]) == (0, 2_000_000)
    assert (body["ts"], body["dur"]) == (2_000_000, 3_000_000)
    assert "copy: computed for one slow core" in text


@pytest.mark.parametrize("kind", ["recorded", "computed"])
def test_stretches_of_a_row_do_not_overlap_for_perfetto_would_drop_them(recorded: dict[str, Record], kind: str) -> None:
    record = recorded["scaled_copy"]
    text = trace(record) if kind == "recorded" else computed_trace("x", record.measures.events or (), costs(40))
    rows: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for row in lasting(text):
        rows[row["tid"]].append((row["ts"], row["ts"] + row["dur"]))
    assert len(rows) == 5
    for stretches in rows.values():
        ordered = sorted(stretches)
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ordered))
