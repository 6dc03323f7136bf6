"""The page about interpret mode: its lists of wrong kernels, against the verdicts that these kernels are to get."""

from __future__ import annotations

import re
from collections.abc import Callable

from kernels.contract import Kernel
from kernels.mistakes.cases import KERNELS
from kernels.side_by_side.cases import KERNELS as ON_A_CHIP
from tests.pages.helpers import ROOT

PAGE = (ROOT / "docs" / "run-first" / "interpret.md").read_text("utf-8")


def named(first: str, last: str) -> set[str]:
    """The kernels in the text between two phrases, each of which the page has once."""
    assert PAGE.count(first) == PAGE.count(last) == 1
    return set(re.findall(r"`([a-z]\w*)`", PAGE.partition(first)[2].partition(last)[0]))


def those(noticed: Callable[[set[str]], bool]) -> set[str]:
    """The mistakes that are noticed in such lanes."""
    lanes = {kernel.name: {at.partition(":")[0] for at in kernel.expected} for kernel in KERNELS}
    return {name for name, at in lanes.items() if noticed(at)}


def test_the_kernels_that_only_the_simulated_tpu_notices() -> None:
    told = named("so for these the last word is the simulated one's.", "have the right numbers with `interpret=True`")
    assert told == those(lambda lanes: lanes == {"tpu-interpret"})


def test_the_kernels_that_show_what_the_simulated_tpu_does_not_have() -> None:
    told = named("has a row for each:", "It has no rounding of a matrix unit")
    assert told == those(lambda lanes: bool(lanes) and lanes <= {"tpu-aot", "gpu-aot"})


def test_the_kernels_that_a_chip_alone_finds_wrong() -> None:
    def judged(kernel: Kernel) -> bool:
        return bool({"hlo", "gpu-interpret"}.intersection(kernel.lanes)) and kernel.expected == {"h200": "wrong"}

    assert all(judged(kernel) for kernel in ON_A_CHIP)
    assert {kernel.name for kernel in ON_A_CHIP} <= set(re.findall(r"^symbol: (\w+)$", PAGE, re.MULTILINE))
