"""What happens in a child process: do one job, and hand the verdict over through a file."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import msgspec

from track.evidence import keys, topics
from track.evidence.confine import confine
from track.evidence.record import Job, Status, Verdict
from track.evidence.texts import OURS, Fault, fault_of

__all__ = ["RESULT", "run"]

RESULT = "verdict"
NOT_A_VERDICT = "Unsupported TPU device kind"  # the simulated chip was not set up: our fault, not the kernel's


def run(job: Job, work: Path) -> None:
    """Do the job and write its verdict to `work`; the file is there whole or not at all."""
    confine(work)
    try:
        verdict = perform(job)
    except BaseException as error:  # noqa: BLE001 - whatever a kernel raises, SystemExit included, is its verdict
        verdict = verdict_on(fault_of(error, Path(job.root)), Path(job.root))
    sys.stdout.flush()
    sys.stderr.flush()
    partial = work / f"{RESULT}.partial"
    partial.write_bytes(msgspec.json.encode(verdict))
    partial.replace(work / RESULT)


def perform(job: Job) -> Verdict:
    """Import the module of the job's task and call it."""
    module = importlib.import_module(keys.task_module(job))
    return module.judge(*topics.find(job)) if job.task == "judge" else module.perform(job)


def verdict_on(fault: Fault, root: Path) -> Verdict:
    """Whose exception it was decides: ours is no verdict, the kernel's is a crash, jax's is a refusal."""
    file = Path(fault.file)
    status: Status
    if NOT_A_VERDICT in fault.text or file.is_relative_to(OURS):
        status, reason = "harness-error", "the tool's own code failed"
    elif file.is_relative_to(root / "kernels") or not fault.through_jax:
        status, reason = "crashed", "the kernel's own Python raised"
    else:
        status, reason = "refused", "jax raised while it traced, compiled or ran the kernel"
    return Verdict(status, fault.text, fault.where, reason)
