"""Values for figures, written by hand: small enough to check every number on paper."""

from __future__ import annotations

import json
from fractions import Fraction

from track.evidence.clocks import Clock
from track.evidence.record import Buffer, Chip, Grid, Ledger, Region, Window
from track.evidence.schedule import Costs

SLOW = Chip("slow", "TPU slow", 1, 100, 1000, 1000)
"""A chip of 100 bytes and 1000 operations a second, and 1000 bytes of VMEM."""

V5E = Chip("v5e", "TPU v5 lite", 1, 820_000_000_000, 197_000_000_000_000, 134_217_728)


def costs(bundles: int, chip: Chip = SLOW) -> Costs:
    """A bundle a second."""
    return Costs(chip, Clock(1, "a test"), Fraction(bundles))


def window(role: str, array: tuple[int, ...], block: tuple[int, ...], *blocks: tuple[int, ...]) -> Window:
    """A double-buffered float32 array whose index map is in blocks."""
    name = "x" if role == "input" else "o"
    return Window(name, "input" if role == "input" else "output", array, block, block, 4, 2, blocks)


TILES = Grid(
    "tiles",
    (2, 2),
    (
        window("input", (16, 256), (8, 128), (0, 0), (1, 0), (0, 0), (1, 0)),
        window("output", (16, 256), (8, 128), (0, 0), (0, 0), (0, 1), (0, 1)),
    ),
)
"""The two input blocks come twice each, every output block stays for two steps."""

PARTS = (
    Region("start", 4, 0, {"SALU": 3}, {"SALU": "1110"}),
    Region("loop", 6, 1, {"VLOAD": 2, "VALU": 2}, {"VLOAD": "330000", "VALU": "004400"}, 6, "tiles.1"),
    Region("loop", 2, 2, {"MXU": 2}, {"MXU": "22"}, 3, "tiles.1"),
    Region("resume", 4, 1, {"VSTORE": 4, "VSTORE:SPILL": 1}, {"VSTORE": "1111", "VSTORE:SPILL": "1000"}, 6, "tiles.1"),
    Region("end", 2),
)
REGIONS = tuple(Region(one.name, one.bundles, one.depth, one.units, one.use, one.trips, "tiles.1") for one in PARTS)
CAPACITY = {"MXU": 4, "VALU": 4, "XLU": 3, "EUP": 1, "VLOAD": 3, "VSTORE": 1, "SALU": 2}

LEDGER = Ledger(
    (
        Buffer("x", "vmem", (8, 10), "bfloat16", 2, 320),
        Buffer("acc", "vmem", (10, 10), "float32", 1, 400),
        Buffer("order", "smem", (4,), "int32", 1, 16),
    ),
    720,
    16,
    {"vmem": 900},
)


def lasting(trace: str) -> list[dict]:
    """The stretches of a trace, after checking every row against the Trace Event Format, as Perfetto reads it.

    https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU: an event has `ph`, `pid`, `tid` and
    `name`; a complete one (X) also `ts` and `dur` in microseconds; metadata (M) has one of a few names, and `args`.
    """
    whole = json.loads(trace)
    assert set(whole) <= {"traceEvents", "displayTimeUnit", "otherData", "metadata", "stackFrames", "systemTraceEvents"}
    assert whole["displayTimeUnit"] in {"ms", "ns"}
    for row in whole["traceEvents"]:
        assert isinstance(row["pid"], int)
        assert isinstance(row["tid"], int)
        assert isinstance(row["name"], str)
        if row["ph"] == "M":
            key = {"process_name": "name", "thread_name": "name", "thread_sort_index": "sort_index"}[row["name"]]
            assert list(row["args"]) == [key]
        else:
            assert row["ph"] == "X"
            assert row["ts"] >= 0
            assert row["dur"] >= 0
            assert isinstance(row["args"], dict)
    return [row for row in whole["traceEvents"] if row["ph"] == "X"]
