"""The line of source that each event comes from, and the order of events of each of several devices."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import jax
import pytest

from tests.evidence.helpers import PINS, PROJECT, copy_topic
from track.errors import BadInput
from track.evidence import Record, Runner, collect
from track.evidence.figures import timeline, trace
from track.evidence.record import Event, Source
from track.evidence.schedule import flights

DEVICES = 4
PIPELINE = "jax/_src/pallas/mosaic/pipeline.py"
COPY = 8 * 128 * 4
# What a device does, by the lines of the kernel: its barrier, its own block, and then a hop at every step.
STEPS = [
    *[("semaphore_signal", 'pl.semaphore_signal(ready, device_id={"x": neighbor})')] * 2,
    ("semaphore_wait", "pl.semaphore_wait(ready, 2)  # both have signaled; the semaphore is 0 again"),
    ("dma_start", "own.start()"),
    ("dma_wait", "own.wait()"),
    *[
        ("dma_start", "hop.start()"),
        *[("dma_wait", "hop.wait()  # until my block has left, and until the one from my left neighbor is here")] * 2,
    ]
    * (DEVICES - 1),
]


def ring_in(root: Path, runner: Runner) -> Record:
    """The ring all-gather, run afresh on four simulated devices."""
    copy_topic(root, "ring")
    records = collect(root, PINS, lane="tpu-interpret", runner=runner).records
    (record,) = [record for (_, _, lane, _), record in records.items() if lane == "tpu-interpret"]
    return record


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory, runner: Runner) -> Record:
    return ring_in(tmp_path_factory.mktemp("ring"), runner)


@pytest.fixture(scope="module")
def orders(ring: Record) -> tuple[tuple[Event, ...], ...]:
    assert ring.status == "ok", ring.error
    assert ring.measures.by_device is not None
    return ring.measures.by_device


def is_line(source: Source | None) -> bool:
    """Whether the file has this text on this line, inside a function of this name."""
    folder = PROJECT if source.file.startswith("kernels/") else Path(jax.__file__).parents[1]
    lines = (folder / source.file).read_text().splitlines()
    name = source.function.split(".")[-1]
    return lines[source.line - 1].strip() == source.code != "" and f"def {name}(" in "\n".join(lines[: source.line])


@pytest.mark.parametrize("kernel", ["scaled_copy", "revisit"])
def test_an_event_of_a_pipeline_names_the_line_of_the_pipeline_that_asked_for_it(
    recorded: dict[str, Record], kernel: str
) -> None:
    events = recorded[kernel].measures.events or ()
    sources = {event.source for event in events}
    assert all(map(is_line, sources))
    asked = {(event.op, event.direction, event.source.file, event.source.function) for event in events}
    assert asked == {
        ("dma_start", "in", PIPELINE, "BufferedRef.copy_in"),
        ("dma_wait", "in", PIPELINE, "BufferedRef.wait_in"),
        ("dma_start", "out", PIPELINE, "BufferedRef.copy_out"),
        ("dma_wait", "out", PIPELINE, "BufferedRef.wait_out"),
        ("compute", "", "kernels/pipeline/kernel.py", "double"),
    }
    assert {event.source.code for event in events if event.op == "compute"} == {"o_ref[...] = 2.0 * x_ref[...]"}


def test_an_event_of_a_kernel_that_copies_by_hand_names_its_own_line(orders: tuple[tuple[Event, ...], ...]) -> None:
    for order in orders:
        assert [(event.op, event.source.code) for event in order] == STEPS
        assert all(is_line(event.source) for event in order)
        assert {(event.source.file, event.source.function) for event in order} == {
            ("kernels/ring/kernel.py", "all_gather.<locals>.kernel")
        }


def test_every_device_sends_its_copies_to_its_right_neighbor(orders: tuple[tuple[Event, ...], ...]) -> None:
    assert len(orders) == DEVICES
    for me, order in enumerate(orders):
        right = (me + 1) % DEVICES
        assert {event.device for event in order} == {me}
        own, *hops = [event for event in order if event.op == "dma_start"]
        assert (own.operand, own.target, own.sent, own.bytes) == ("x_ref", -1, -1, COPY)
        assert [(hop.operand, hop.target, hop.bytes) for hop in hops] == [("o_ref", right, COPY)] * (DEVICES - 1)
        assert [hop.block[0] for hop in hops] == [(me - step) % DEVICES for step in range(DEVICES - 1)]
        assert sorted(event.target for event in order if event.op == "semaphore_signal") == sorted(
            ((me - 1) % DEVICES, right)
        )
        waited = Counter((event.semaphore, event.bytes) for event in order if event.op == "dma_wait")
        ends = [own.semaphore, *(hop.sent for hop in hops), *(hop.semaphore for hop in hops)]
        assert waited == Counter((semaphore, COPY) for semaphore in ends)


def test_the_order_of_each_device_is_the_same_in_a_second_run(
    orders: tuple[tuple[Event, ...], ...], runner: Runner, tmp_path: Path
) -> None:
    assert ring_in(tmp_path, runner).measures.by_device == orders


def test_no_order_of_all_devices_is_recorded_or_drawn(ring: Record, orders: tuple[tuple[Event, ...], ...]) -> None:
    assert ring.measures.events is None
    assert "each of the devices has its own" in ring.reason
    for draw in (lambda: timeline(ring, "a"), lambda: trace(ring), lambda: flights(orders[0] + orders[1])):
        with pytest.raises(BadInput, match="events of several devices have no one order to draw"):
            draw()


def test_a_kernel_of_one_device_that_is_no_pipeline_has_an_order_but_no_timeline(
    runner: Runner, tmp_path: Path
) -> None:
    copy_topic(tmp_path, "mistakes")
    records = collect(tmp_path, PINS, only="slot_race", lane="tpu-interpret", runner=runner).records
    record = next(record for (_, _, lane, _), record in records.items() if lane == "tpu-interpret")
    assert record.measures.by_device is not None
    (order,) = record.measures.by_device
    assert {event.op for event in order} == {"dma_start", "dma_wait"}
    assert {event.source.file for event in order} == {"kernels/mistakes/wrong/slot_race.py"}
    assert all(is_line(event.source) for event in order)
    with pytest.raises(BadInput, match="of a pipeline"):
        timeline(record, "a")
