"""Figures: equal bytes, bounded size, no color of their own, ids of their own, and no point above its roof."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from track.errors import BadInput, Finding
from track.evidence import Evidence, Record
from track.evidence.figures import Figure, roofline, timeline, trace
from track.evidence.record import Event, Work
from track.evidence.roofline import point, roof
from track.evidence.schedule import duration, flights, replay

Make = Callable[[str], Figure]
KINDS = ["timeline of scaled_copy", "timeline of revisit", "roofline"]


@pytest.fixture
def make(request: pytest.FixtureRequest, recorded: dict[str, Record], evidence: Evidence) -> Make:
    """A figure of the kind that the test asks for, with ids that begin as wished."""
    kind = request.param
    if kind == "roofline":
        return lambda prefix: roofline(list(recorded.values()), evidence.chips["v5e"], prefix)
    return lambda prefix: timeline(recorded[kind.split()[-1]], prefix)


@pytest.mark.parametrize("make", KINDS, indirect=True)
def test_equal_inputs_give_equal_bytes(make: Make) -> None:
    assert make("a").svg == make("a").svg


@pytest.mark.parametrize(
    ("make", "limit"), [*((kind, 120_000) for kind in KINDS[:2]), (KINDS[2], 40_000)], indirect=["make"]
)
def test_a_figure_is_small(make: Make, limit: int) -> None:
    assert len(make("a").svg.encode()) <= limit


@pytest.mark.parametrize("make", KINDS, indirect=True)
def test_every_color_is_a_variable_of_the_page(make: Make) -> None:
    known = {f"var(--fig-{name})" for name in ("ink", "soft", "grid", "in", "out", "compute", "wait", "roof")}
    used = set(re.findall(r'(?:fill|stroke)="([^"]*)"', make("a").svg))
    assert used - {"none"} <= known
    assert {"var(--fig-ink)", "var(--fig-soft)", "var(--fig-compute)"} <= used
    assert "style" not in make("a").svg
    assert "#" not in make("a").svg


@pytest.mark.parametrize("make", KINDS, indirect=True)
def test_ids_begin_with_the_prefix_so_that_two_figures_share_none(make: Make) -> None:
    ids = {prefix: re.findall(r'\bid="([^"]*)"', make(prefix).svg) for prefix in ("one", "two")}
    assert ids["one"] == ["one-title", "one-desc"]
    assert not set(ids["one"]) & set(ids["two"])


@pytest.mark.parametrize("make", KINDS, indirect=True)
def test_a_figure_says_in_words_what_it_shows(make: Make) -> None:
    figure = make("a")
    page = ET.fromstring(figure.svg)  # noqa: S314 - as above
    title, description = page[0], page[1]
    assert (title.text, description.text) == (figure.title, figure.description)
    assert page.get("aria-labelledby") == "a-title a-desc"
    assert "Across: " in figure.description
    assert 20 < len(figure.alt) < 150


def test_the_timeline_draws_every_copy_and_every_step(recorded: dict[str, Record]) -> None:
    page = timeline(recorded["revisit"], "a").svg
    copies = {color: page.count(f'fill="var(--fig-{color})" fill-opacity="0.28"') for color in ("in", "out")}
    assert copies == {"in": 4 + 1, "out": 8 + 1}  # and one of each in the key
    assert page.count('stroke="var(--fig-wait)"') == 12 + 1
    assert page.count('fill="var(--fig-compute)" fill-opacity="0.35"') == 8 + 1
    assert page.count('fill="var(--fig-compute)" fill-opacity="0.75"') == 16 + 1


def test_nothing_is_drawn_outside_the_picture(recorded: dict[str, Record]) -> None:
    page = ET.fromstring(timeline(recorded["scaled_copy"], "a").svg)  # noqa: S314 - as above
    _, _, width, height = map(float, page.attrib["viewBox"].split())
    places = [list(map(float, re.findall(r"-?[\d.]+", path.attrib["d"]))) for path in page.iter() if path.get("d")]
    assert width == 700
    assert all(0 <= x <= width for numbers in places for x in numbers[::2])
    assert all(0 <= y <= height for numbers in places for y in numbers[1::2])


def test_a_timeline_without_events_is_bad_input(evidence: Evidence) -> None:
    record = next(record for (_, _, lane), record in evidence.records.items() if lane == "hlo")
    with pytest.raises(BadInput, match="needs recorded events"):
        timeline(record, "a")


def test_a_copy_that_nothing_waits_for_is_a_finding() -> None:
    with pytest.raises(Finding, match="1 DMAs are started and never waited for"):
        flights([Event("dma_start", 0, direction="in", block=(0,), bytes=8, dma=0)])


def test_the_trace_has_a_row_for_each_slot_and_loads_as_chrome_json(recorded: dict[str, Record]) -> None:
    rows = json.loads(trace(recorded["revisit"]))["traceEvents"]
    names = {row["args"]["name"] for row in rows if row["name"] == "thread_name"}
    assert names == {
        "compute",
        *(f"copy {way}, {name}, slot {n}" for way, name in (("in", "x_hbm"), ("out", "o_hbm")) for n in (0, 1)),
    }
    lasting = [row for row in rows if row["ph"] == "X"]
    assert len(lasting) == 4 + 8 + 8
    assert all(row["dur"] > 0 and {"pid", "tid", "ts", "name"} <= set(row) for row in lasting)
    assert {row["ph"] for row in rows} == {"M", "X"}


def test_copies_in_flight_together_share_the_bandwidth() -> None:
    events = [
        Event("dma_start", 0, bytes=100, dma=0),
        Event("dma_start", 0, bytes=300, dma=1),
        Event("dma_wait", 0, bytes=100, dma=0),
        Event("dma_wait", 0, bytes=300, dma=1),
    ]
    assert replay(events, 100) == [0, 0, 2, 4]


def test_an_idle_memory_takes_longer() -> None:
    one = [Event("dma_start", 0, bytes=100, dma=0), Event("dma_wait", 0, bytes=100, dma=0)]
    two = [Event("dma_start", 0, bytes=100, dma=1), Event("dma_wait", 0, bytes=100, dma=1)]
    assert duration([*one, *two], 100) == 2


def test_a_point_is_the_work_over_the_replayed_time(recorded: dict[str, Record], evidence: Evidence) -> None:
    chip = evidence.chips["v5e"]
    found = point(recorded["revisit"], chip)
    assert found.intensity == Fraction(1, 6)
    assert found.flops_per_second == 8192 / duration(
        recorded["revisit"].measures.events or (), chip.hbm_bytes_per_second
    )
    assert found.flops_per_second <= roof(chip, found.intensity)


def test_a_point_above_its_roof_is_a_finding(recorded: dict[str, Record], evidence: Evidence) -> None:
    record = recorded["revisit"]
    work = record.measures.work
    assert work is not None
    less = replace(record.measures, work=Work(work.flops, work.bytes + 1))
    with pytest.raises(Finding, match="'revisit' lies above its roof"):
        roofline([replace(record, verdict=replace(record.verdict, measures=less))], evidence.chips["v5e"], "a")
