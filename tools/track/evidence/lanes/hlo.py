"""Lane `hlo`: the kernel as plain XLA operations, with `interpret=True`. It knows no memories, copies or time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from track.evidence.lanes.compare import pretend_tpu, run, verdict_on
from track.evidence.record import Verdict

if TYPE_CHECKING:
    from kernels.contract import Case, Kernel

__all__ = ["judge"]


def judge(kernel: Kernel, case: Case, target: str) -> Verdict:
    """Run the kernel and compare its numbers with the reference."""
    pretend_tpu()
    return verdict_on(kernel, case, run(kernel, case, interpret=True))
