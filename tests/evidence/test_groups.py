"""The sums of groups, whose blocks have the size that a table says: every lane's verdict, and the grid picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evidence.helpers import of_topics, printed_by_itself
from track.evidence import Evidence, lanes

pytestmark = pytest.mark.timeout(300)  # the first test waits for the verdicts of all


@pytest.fixture(scope="module")
def found(everything: Evidence) -> Evidence:
    """What is known of the topic."""
    return of_topics(everything, "groups")


def test_the_interpreter_and_the_compiler_take_it(found: Evidence) -> None:
    verdicts = {(lane, target): record.status for (_, _, lane, target), record in found.records.items()}
    compiled = "unavailable" if lanes.missing(lanes.LANES["tpu-aot"].packages) else "ok"
    assert verdicts.pop(("tpu-interpret", "v5e")) == "ok"
    assert [verdicts.pop(("tpu-aot", chip)) for chip in lanes.LANES["tpu-aot"].targets] == [compiled] * 5
    assert {*verdicts.values()} == {"not-applicable"}


def test_a_copy_is_rounded_up_to_whole_tiles_which_is_why_the_body_masks(found: Evidence) -> None:
    (events,) = [r.measures.events for r in found.records.values() if r.lane == "tpu-interpret"]
    assert [e.bytes for e in events or () if e.op == "dma_start" and e.direction == "in"] == [
        rows * 128 * 4
        for rows in (8, 8, 16)  # of groups of 5, 8 and 16
    ]


def test_the_picture_has_the_starts_and_the_sizes_of_the_table(found: Evidence) -> None:
    ((grid,),) = [grids for (kernel, _), grids in found.grids.items() if kernel == "group_sums"]
    read, written = grid.windows
    assert (read.array, read.block, read.blocks) == ((32, 128), (16, 128), ((0, 0), (8, 0), (16, 0)))
    assert read.sizes == ((5, 128), (8, 128), (16, 128))
    assert (written.blocks, written.sizes) == (((0, 0), (1, 0), (2, 0)), ())


def test_a_reader_runs_the_file_itself(tmp_path: Path) -> None:
    assert printed_by_itself("groups", tmp_path) == (
        "group_sums: 3 groups of [32, 128] -> [24, 128], interpreted, largest error 0\n"
    )
