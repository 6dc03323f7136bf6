"""The topics as a child process sees them: their modules imported, their kernels and cases at hand."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from track.evidence.record import Job, Listed, Verdict

if TYPE_CHECKING:
    from kernels.contract import Case, Kernel

__all__ = ["find", "load", "perform"]


def load(root: Path, topic: str) -> tuple[Kernel, ...]:
    """The kernels of a topic. This runs the topic's code."""
    sys.path.insert(0, str(root))
    return importlib.import_module(f"kernels.{topic}.cases").KERNELS


def find(job: Job) -> tuple[Kernel, Case]:
    """The kernel and the case that a job names."""
    kernel = next(kernel for kernel in load(Path(job.root), job.topic) if kernel.name == job.kernel)
    return kernel, next(case for case in kernel.cases if case.name == job.case)


def perform(job: Job) -> Verdict:
    """List the topic's kernels with their cases and lanes."""
    return Verdict("ok", listed=tuple(map(listed, load(Path(job.root), job.topic))))


def listed(kernel: Kernel) -> Listed:
    """What the parent has to know of a kernel."""
    cases = {
        case.name: " ".join(f"{array.dtype}{list(array.shape)}" for array in case.inputs()) for case in kernel.cases
    }
    return Listed(
        kernel.name,
        cases,
        tuple(kernel.lanes),
        dict(sorted(kernel.not_applicable.items())),
        kernel.devices,
        kernel.mistake,
        dict(sorted(kernel.expected.items())),
    )
