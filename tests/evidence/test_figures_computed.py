"""The model behind computed times: shared bandwidth, bundles over a clock, and no point that beats its chip."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given

from tests.evidence.made import CAPACITY, LEDGER, REGIONS, SLOW, TILES, V5E, costs
from track.errors import BadInput, Finding
from track.evidence import Evidence, doublebuffer
from track.evidence.clocks import CLOCKS, clock_of
from track.evidence.figures import ledger, roofline, units
from track.evidence.record import Chip, Event, Ledger, Region, Work
from track.evidence.roofline import Point, point, roof
from track.evidence.schedule import bundles_of, costs_of, duration, replay


def start(dma: int, count: int) -> Event:
    return Event("dma_start", 0, bytes=count, dma=dma)


def wait(dma: int) -> Event:
    return Event("dma_wait", 0, dma=dma)


BODY = Event("compute", 0)


def ends(events: list[Event], bundles: int) -> list[Fraction]:
    """When each event is over, at 100 bytes and one bundle a second."""
    return [end for _, end in replay(events, costs(bundles)).spans]


def test_copies_in_flight_together_share_the_bandwidth() -> None:
    assert ends([start(0, 100), start(1, 300), wait(0), wait(1)], 0) == [0, 0, 2, 4]


def test_a_copy_goes_on_while_the_body_runs() -> None:
    assert ends([start(0, 200), BODY, wait(0)], 3) == [0, 3, 3]
    assert ends([start(0, 200), BODY, wait(0)], 1) == [0, 1, 2]


def test_what_is_left_after_the_body_is_waited_for() -> None:
    # One second of half the bandwidth each leaves 50 and 250 bytes; then 1 s for the first, 2 s alone for the rest.
    times = replay([start(0, 100), start(1, 300), BODY, wait(0), wait(1)], costs(1))
    assert [end for _, end in times.spans] == [0, 0, 1, 2, 4]
    assert times.done == {0: 2, 1: 4}


def test_an_idle_memory_takes_longer() -> None:
    assert duration([start(0, 100), wait(0), start(1, 100), wait(1)], costs(0)) == 2


def test_a_copy_that_outlasts_the_last_event_counts() -> None:
    assert duration([BODY, start(0, 500)], costs(1)) == 6


@given(st.lists(st.tuples(st.integers(0, 900), st.booleans()), min_size=1, max_size=12), st.integers(0, 9))
def test_an_order_takes_no_less_than_its_copies_or_its_bodies_and_no_more_than_both(steps, bundles) -> None:
    events: list[Event] = []
    for dma, (count, at_once) in enumerate(steps):
        events += [start(dma, count), *([wait(dma)] if at_once else []), BODY, *([] if at_once else [wait(dma)])]
    copies = Fraction(sum(count for count, _ in steps), 100)
    bodies = Fraction(bundles * len(steps))
    assert max(copies, bodies) <= duration(events, costs(bundles)) <= copies + bodies


def test_a_run_of_the_body_is_the_loop_over_the_grid_with_its_inner_loops() -> None:
    assert bundles_of(REGIONS, 4) == 6 + 2 * 3 + 4


def test_all_steps_are_one_cores_also_where_the_compiler_gave_it_half_of_them() -> None:
    assert bundles_of(REGIONS, 8) == bundles_of(REGIONS, 4)


def test_a_shorter_loop_before_the_grid_is_not_the_body() -> None:
    assert bundles_of((Region("loop", 3, 1), Region("end", 4), *REGIONS), 4) == 16


def test_a_program_without_a_loop_is_shared_out_among_the_steps() -> None:
    assert bundles_of((Region("start", 10),), 4) == Fraction(10, 4)


def test_a_single_step_is_the_whole_program() -> None:
    assert bundles_of(REGIONS, 1) == 4 + 6 * (6 + 2 * 3 + 4) + 2


def test_a_loop_that_turns_nobody_knows_how_often_is_not_guessed() -> None:
    with pytest.raises(BadInput, match="how often each loop of the body turns"):
        bundles_of((Region("loop", 3, 1, trips=6), Region("loop", 2, 2)), 4)


def test_each_grid_is_paired_with_a_compiled_kernel() -> None:
    order = doublebuffer.events_of(TILES)
    other = tuple(Region(one.name, 2 * one.bundles, one.depth, trips=one.trips, kernel="tiles.2") for one in REGIONS)
    assert [found.bundles for found in costs_of((*REGIONS, *other), V5E, [order, order])] == [16, 32]
    with pytest.raises(BadInput, match="the bundles of each grid"):
        costs_of(REGIONS, V5E, [order, order])


def test_kernels_are_paired_with_grids_in_program_order_and_not_as_they_were_compiled() -> None:
    order = doublebuffer.events_of(TILES)
    regions = [Region("loop", 10 * number, 1, trips=6, kernel=f"f.{number}") for number in (1, 10, 2)]
    assert [found.bundles for found in costs_of(regions, V5E, [order] * 3)] == [10, 20, 100]


@pytest.mark.parametrize("chip", list(CLOCKS))
def test_a_clock_is_what_the_peak_of_tpu_info_asks_for(evidence: Evidence, chip: str) -> None:
    of_a_cycle = 2 * 2 * 2 * 256 * 256 if chip in {"v6e", "7x"} else 4 * 2 * 128 * 128
    asked = evidence.chips[chip].bf16_flops_per_second / of_a_cycle
    assert CLOCKS[chip].hertz == pytest.approx(asked, rel=0.005)
    assert CLOCKS[chip].source


def test_every_chip_of_the_evidence_has_a_clock_and_no_other(evidence: Evidence) -> None:
    assert set(CLOCKS) == set(evidence.chips)
    with pytest.raises(BadInput, match="no clock is known for 'v9'"):
        clock_of("v9")


ORDER = doublebuffer.events_of(TILES)


def test_a_point_is_the_work_over_the_computed_time() -> None:
    found = point("tiles", Work(4096, 8192), [ORDER], REGIONS, V5E)
    assert found.intensity == Fraction(1, 2)
    assert found.flops_per_second == 4096 / duration(ORDER, costs_of(REGIONS, V5E, [ORDER])[0])


def test_more_bundles_lower_a_point() -> None:
    longer = tuple(Region(one.name, 9 * one.bundles, one.depth, trips=one.trips, kernel=one.kernel) for one in REGIONS)
    low, high = (point("tiles", Work(4096, 8192), [ORDER], regions, V5E) for regions in (longer, REGIONS))
    assert low.intensity == high.intensity
    assert low.flops_per_second < high.flops_per_second / 2


def test_grids_after_each_other_take_their_times_together() -> None:
    other = tuple(Region(one.name, one.bundles, one.depth, trips=one.trips, kernel="tiles.2") for one in REGIONS)
    one = point("one", Work(4096, 8192), [ORDER], REGIONS, V5E)
    two = point("two", Work(4096, 8192), [ORDER, ORDER], (*REGIONS, *other), V5E)
    assert two.flops_per_second * 2 == one.flops_per_second


@pytest.mark.parametrize("regions", [None, ()])
def test_without_bundles_there_is_no_point(regions) -> None:
    with pytest.raises(BadInput, match="needs the kernel's bundles"):
        point("tiles", Work(4096, 8192), [ORDER], regions, V5E)


@pytest.mark.parametrize(("work", "orders"), [(None, [ORDER]), (Work(0, 8), [ORDER]), (Work(8, 8), [])])
def test_without_work_or_order_there_is_no_point(work, orders) -> None:
    with pytest.raises(BadInput, match="needs operations, bytes and an order"):
        point("tiles", work, orders, REGIONS, V5E)


def test_a_point_above_its_roof_is_a_finding() -> None:
    with pytest.raises(Finding, match="'tiles' lies above its roof"):
        point("tiles", Work(10**9, 8192), [ORDER], REGIONS, V5E)


def test_a_picture_takes_no_point_above_its_roof() -> None:
    with pytest.raises(Finding, match="'x' lies above its roof"):
        roofline([Point("x", Fraction(1), Fraction(101))], SLOW, "a")


@pytest.mark.parametrize(("intensity", "expected"), [(Fraction(1, 2), 50), (Fraction(10), 1000), (Fraction(99), 1000)])
def test_the_roof_is_the_lower_of_bandwidth_and_peak(intensity: Fraction, expected: int) -> None:
    assert roof(SLOW, intensity) == expected


def test_every_point_is_drawn_and_named_and_the_picture_says_whose_roof_it_is() -> None:
    points = [Point(f"kernel {n}", Fraction(1, 2 + n % 3), Fraction(10**9 * (1 + n % 3))) for n in range(9)]
    figure = roofline(points, V5E, "a")
    assert figure.svg.count('fill="var(--fig-compute)"') == 9
    assert all(figure.svg.count(f">{found.name}<") == 1 for found in points)
    assert figure.title == "Roofline of one v5e core"
    assert "assumed 1.5 GHz" in figure.svg
    assert CLOCKS["v5e"].source in figure.description
    with pytest.raises(BadInput, match="1 to 16 points"):
        roofline(points * 2, V5E, "a")


def test_real_kernels_lie_under_the_roof_of_every_chip(evidence: Evidence) -> None:
    for (kernel, case, lane, chip), record in evidence.records.items():
        if lane == "tpu-aot" and record.status == "ok":
            recorded = evidence.records[kernel, case, "tpu-interpret", "v5e"].measures
            orders = doublebuffer.orders_of(recorded.events, evidence.grids[kernel, case])
            found = point(kernel, recorded.work, orders, record.measures.regions, evidence.chips[chip])
            limit = roof(evidence.chips[chip], found.intensity)
            assert limit / 100 < found.flops_per_second <= limit


def test_the_ledger_has_the_buffers_of_vmem_alone_and_what_does_not_fit_is_said() -> None:
    small = Chip("small", "", 1, 1, 1, 500)
    figure = ledger({"slow": LEDGER, "small": LEDGER}, {"slow": SLOW, "small": small}, "tiles", "a")
    assert "2 buffers of 8 × 10 bfloat16" in figure.svg
    assert "One buffer is counted where a block's index map reads no grid index that changes" in figure.description
    assert "order" not in figure.svg
    assert all(text in figure.svg for text in (">720 B<", ">72 %<", ">220 B too much<"))
    assert "small: 720 B of 500 B, which is too much" in figure.description
    assert "slow: 900 B" in figure.description


def test_what_compilers_set_aside_is_told_from_the_least_to_the_most() -> None:
    said = {"a": 1 << 20, "b": 2 << 20, "c": 992 << 10}
    ledgers = {name: msgspec.structs.replace(LEDGER, compiler={"vmem": count}) for name, count in said.items()}
    figure = ledger(ledgers, dict.fromkeys(said, SLOW), "tiles", "a")
    assert ">992 KiB to 2 MiB<" in figure.svg


def test_no_ledger_is_bad_input_and_many_buffers_are_summed() -> None:
    with pytest.raises(BadInput, match="needs a tpu-aot record"):
        ledger({}, {}, "tiles", "a")
    buffers = tuple(type(LEDGER.buffers[0])(f"b{n}", "vmem", (n + 1,), "int8", 1, n + 1) for n in range(40))
    figure = ledger({"slow": Ledger(buffers, 820, 0)}, {"slow": SLOW}, "tiles", "a")
    assert ">27 smaller ones<" in figure.svg
    assert ">378 B<" in figure.svg  # 1 + 2 + ... + 27


def test_unit_use_is_of_the_slots_of_the_bundles_in_loops() -> None:
    said = units(REGIONS, CAPACITY, "tiles", "v5e", "a").description
    assert "12 bundles lie in loops" in said
    # 4 of 12·4 slots, 8 of 12·4, 6 of 12·3, 4 of 12·1
    assert "MXU 8 %, VALU 17 %, XLU 0 %, EUP 0 %, load 17 %, store 33 %, scalar 0 %" in said


def test_spills_are_drawn_within_what_they_are_part_of() -> None:
    page = units(REGIONS, CAPACITY, "tiles", "v5e", "a").svg
    assert page.count('fill="var(--fig-wait)"') == 1 + 1  # and one in the key


def test_of_a_long_program_the_share_of_bundles_is_drawn_and_the_picture_says_so() -> None:
    coarse = tuple(Region(one.name, one.bundles, one.depth, one.units) for one in REGIONS)
    figure = units(coarse, CAPACITY, "tiles", "v5e", "a")
    assert "the share of the bundles of a region in which the compiler counts the unit as in use" in figure.svg
    assert "MXU 17 %, VALU 17 %, XLU 0 %, EUP 0 %, load 17 %, store 33 %, scalar 0 %" in figure.description


def test_a_program_of_thousands_of_bundles_stays_small() -> None:
    digits = "".join(str(number * 7919 % 4) for number in range(4000))
    region = Region("loop", 4000, 1, {}, dict.fromkeys(("VLOAD", "VALU", "MXU", "SALU", "XLU", "VSTORE"), digits))
    assert len(units((region,), dict.fromkeys(CAPACITY, 3), "long", "v5e", "a").svg.encode()) < 40_000


def test_unit_use_without_bundles_is_bad_input() -> None:
    with pytest.raises(BadInput, match="needs the bundles"):
        units(None, None, "tiles", "v5e", "a")
