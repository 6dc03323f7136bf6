"""The recorded order of events, against a schedule worked out from the index maps alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.evidence.helpers import PINS
from tests.evidence.model import INPUT_MAPS, STEPS, Act, schedule
from track.evidence import Evidence, Record, Runner, collect
from track.evidence.record import Event


def acts(events: tuple[Event, ...] | None) -> list[Act]:
    """The events without what the model does not know."""
    return [Act(event.op, event.direction, event.block[0] if event.block else -1, event.slot) for event in events or ()]


@pytest.mark.parametrize("kernel", list(INPUT_MAPS))
def test_the_recorded_order_is_the_schedule(recorded: dict[str, Record], kernel: str) -> None:
    assert acts(recorded[kernel].measures.events) == list(schedule(INPUT_MAPS[kernel]))


def test_a_second_run_records_the_same_events(
    recorded: dict[str, Record], root: Path, runner: Runner, tmp_path: Path
) -> None:
    shutil.copytree(root / "kernels", tmp_path / "kernels")
    again = collect(tmp_path, PINS, only="revisit", runner=runner)
    assert again.ran > 0
    (record,) = [record for (_, _, lane, _), record in again.records.items() if lane == "tpu-interpret"]
    assert record == recorded["revisit"]


@pytest.mark.parametrize("kernel", list(INPUT_MAPS))
def test_the_body_reads_the_slot_that_holds_its_block_and_writes_the_slot_that_leaves(
    recorded: dict[str, Record], kernel: str
) -> None:
    events = recorded[kernel].measures.events or ()
    arrived: dict[int, int] = {}
    for event in events:
        if event.op == "dma_wait" and event.direction == "in":
            arrived[event.slot] = event.block[0]
        if event.op == "compute":
            read, written = event.touches
            assert arrived[read.slot] == INPUT_MAPS[kernel](event.step)
            assert (read.operand, written.operand, written.slot) == ("x_hbm", "o_hbm", event.step % 2)


@pytest.mark.parametrize("kernel", list(INPUT_MAPS))
def test_events_know_their_step_and_the_function_that_made_them(recorded: dict[str, Record], kernel: str) -> None:
    events = list(recorded[kernel].measures.events or ())
    assert [event.step for event in events] == sorted(event.step for event in events)
    assert [event.step for event in events if event.op == "compute"] == list(range(STEPS))
    assert [event.step for event in events if event.direction == "out" and event.op == "dma_start"] == list(
        range(STEPS)
    )
    assert events[0].calls == ("BufferedRef.copy_in", "Scheduler.initialize_step")
    assert events[-1].calls == ("BufferedRef.wait_out", "Scheduler.finalize")
    assert {event.bytes for event in events if event.op.startswith("dma")} == {8 * 128 * 4}


@pytest.mark.parametrize("kernel", list(INPUT_MAPS))
def test_the_truth_table_is_what_the_index_maps_say(evidence: Evidence, kernel: str) -> None:
    (table,) = [table for (name, _), table in evidence.tables.items() if name == kernel]
    steps = range(STEPS)
    assert table.grid == (STEPS,)
    for window, read in zip(table.windows, (INPUT_MAPS[kernel], lambda i: i), strict=True):
        blocks = [read(step) for step in steps]
        changes_next = tuple(blocks[step] != blocks[(step + 1) % STEPS] for step in steps)
        assert window.blocks == tuple((block, 0) for block in blocks)
        assert window.buffers == 2
        assert window.out_of_fetch == tuple(step == STEPS - 1 for step in steps)
        assert window.has_changed == tuple(blocks[step] != blocks[step - 1] for step in steps)
        assert window.will_change_current == changes_next
        assert window.will_change_fetch == changes_next


@pytest.mark.parametrize("kernel", list(INPUT_MAPS))
def test_the_verbs_of_the_table_happened_at_those_steps(
    evidence: Evidence, recorded: dict[str, Record], kernel: str
) -> None:
    (table,) = [table for (name, _), table in evidence.tables.items() if name == kernel]
    read, written = table.windows
    events = recorded[kernel].measures.events or ()

    def happened(op: str, direction: str) -> tuple[bool, ...]:
        found = {event.step for event in events if (event.op, event.direction) == (op, direction)}
        return tuple(step in found for step in range(STEPS))

    assert read.copy_in == happened("dma_start", "in")
    assert read.wait_in == happened("dma_wait", "in")
    assert written.copy_out == happened("dma_start", "out")
    assert written.wait_out == happened("dma_wait", "out")
    assert (read.before, read.after, written.before, written.after) == ((True,), False, (), True)
