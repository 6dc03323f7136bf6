"""How fast the cores are clocked: one value a chip, each with its source, and all of them assumed.

`tpu_info` has no clock, and neither does the compiler say one. What is computed with these numbers says so.
"""

from __future__ import annotations

from msgspec import Struct

from track.errors import BadInput

__all__ = ["CLOCKS", "Clock", "clock_of"]

SCALING_BOOK = "How to Scale Your Model, part 2, https://jax-ml.github.io/scaling-book/tpus"
PEAK = "derived: the bf16 peak of tpu_info over the {flops} operations of a cycle, of {how}"
ISSUE = "two MXUs of 256 x 256 that take 16 rows in 8 bundles, as libtpu issues them"


class Clock(Struct, frozen=True):
    """Cycles a second, of which each issues one bundle, and who says so."""

    hertz: int
    source: str


CLOCKS = {
    "v4": Clock(1_050_000_000, "Jouppi et al., TPU v4, ISCA 2023, table 4, https://arxiv.org/abs/2304.01433"),
    "v5e": Clock(1_500_000_000, SCALING_BOOK),
    "v5p": Clock(1_750_000_000, SCALING_BOOK),
    "v6e": Clock(1_750_000_000, PEAK.format(flops="524,288", how=ISSUE)),
    "7x": Clock(2_200_000_000, PEAK.format(flops="524,288", how=ISSUE)),
}


def clock_of(chip: str) -> Clock:
    """The assumed clock of a chip."""
    if chip not in CLOCKS:
        raise BadInput(f"no clock is known for {chip!r}", {"expected": ", ".join(CLOCKS)})
    return CLOCKS[chip]
