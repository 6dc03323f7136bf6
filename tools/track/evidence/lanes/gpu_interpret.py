"""Lane `gpu-interpret`: the kernel on a simulated GPU, with its memories, warpgroups, barriers, bulk copies and races.

The interpreter takes what `plgpu.kernel` makes, and a `pallas_call` only where every operand comes as a whole.
It runs the blocks of a grid one after the other, so a race is seen between the warpgroups and copies of one block, or
of one cluster, and not between blocks.
"""

from __future__ import annotations

import re
import traceback
from typing import TYPE_CHECKING

from jax._src.pallas.mosaic.interpret import race_detection_state as shared
from jax._src.pallas.mosaic_gpu.interpret import race_detection_state as own
from jax._src.pallas.mosaic_gpu.interpret.shared_memory import get_memory_space_idx
from jax.experimental.pallas import mosaic_gpu as plgpu
from msgspec.structs import replace

from track.evidence.lanes.compare import run, verdict_on
from track.evidence.lanes.extracts import checkout
from track.evidence.lanes.races import going_on, noted_by
from track.evidence.record import Verdict
from track.evidence.texts import clean

if TYPE_CHECKING:
    from kernels.contract import Case, Kernel

__all__ = ["judge"]

KEY = re.compile(r"HostAllocationKey\(memory_space_id=(\d+).*?buffer_id=(\d+)\)")


def judge(kernel: Kernel, case: Case, target: str) -> Verdict:
    """Run the kernel, compare its numbers, and report its races."""
    races = noted_races()
    params = plgpu.InterpretGPUParams(detect_races=True, **going_on(plgpu.InterpretGPUParams))
    try:
        found = run(kernel, case, interpret=params)
    except AssertionError as error:
        say_what(error)
        raise
    return raced(verdict_on(kernel, case, found), sorted(set(races)))  # threads find them in any order


def noted_races() -> list[str]:
    """From now on, what the interpreter says of races is noted in this list, without the clocks."""
    races: list[str] = []

    def note(text: str) -> None:
        lines = [line.strip() for line in text.splitlines() if "clock:" not in line]
        races.append(clean(KEY.sub(named_buffer, " ".join(filter(None, lines))), checkout()))

    noted_by(note, shared, own)
    return races


def named_buffer(key: re.Match[str]) -> str:
    """A buffer by its space and number."""
    space = next((space.name for space in plgpu.MemorySpace if get_memory_space_idx(space) == int(key[1])), "?")
    return f"{space} buffer {key[2]}"


def say_what(error: AssertionError) -> None:
    """Give a bare assertion of the interpreter its own line as its text, which is all that it says of its reason."""
    if not error.args:
        error.args = (traceback.extract_tb(error.__traceback__)[-1].line or "",)


def raced(verdict: Verdict, races: list[str]) -> Verdict:
    """A race makes numbers wrong: where they are right, by luck, which another run need not have."""
    verdict = replace(verdict, measures=replace(verdict.measures, races=tuple(races)))
    if not races:
        return verdict
    reason = "accesses race, and the numbers differ"
    if verdict.status == "ok":
        reason = "the numbers agree, but accesses race"
    return replace(verdict, status="wrong", error=races[0], reason=reason)
