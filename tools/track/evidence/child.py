"""What happens in a child process: do one job, and hand the verdict over through a file.

A forked child calls `run`; a fresh interpreter runs this file as a script, in a folder that holds its job.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import msgspec
from msgspec.structs import replace

from track.evidence import keys, lanes, topics
from track.evidence.confine import confine
from track.evidence.lanes.stopped import Stopped
from track.evidence.record import Job, Status, Verdict
from track.evidence.texts import OURS, Fault, clean, fault_of

__all__ = ["JOB", "RESULT", "run"]

JOB, RESULT = "job", "verdict"
# What is said when the simulated chip was not set up or two compilers met: our fault, not the kernel's.
NOT_A_VERDICT = ("Unsupported TPU device kind", "libtpu multi-process lockfile")


def run(job: Job, work: Path) -> None:
    """Do the job and write its verdict to `work`; the file is there whole or not at all."""
    confine(work)
    if job.lane:
        os.environ.update({name: value.format(work=work) for name, value in lanes.LANES[job.lane].environment.items()})
    try:
        verdict = perform(job)
    except BaseException as error:  # noqa: BLE001 - whatever a kernel raises, SystemExit included, is its verdict
        verdict = verdict_of(error, Path(job.root))
    sys.stdout.flush()
    sys.stderr.flush()
    partial = work / f"{RESULT}.partial"
    partial.write_bytes(msgspec.json.encode(verdict))
    partial.replace(work / RESULT)


def perform(job: Job) -> Verdict:
    """Import the module of the job's task and call it."""
    module = importlib.import_module(keys.task_module(job))
    return module.judge(*topics.find(job), job.target) if job.task == "judge" else module.perform(job)


def verdict_of(error: BaseException, root: Path) -> Verdict:
    """The verdict that an exception is, with what the lane had measured before it."""
    if isinstance(error, Stopped) and error.__cause__:
        verdict = verdict_on(fault_of(error.__cause__, root), root)
        return replace(verdict, where=verdict.where or clean(error.where, root), measures=error.measures)
    return verdict_on(fault_of(error, root), root)


def verdict_on(fault: Fault, root: Path) -> Verdict:
    """Whose exception it was decides: ours is no verdict, the kernel's is a crash, jax's is a refusal."""
    file = Path(fault.file)
    status: Status
    if any(words in fault.text for words in NOT_A_VERDICT) or file.is_relative_to(OURS):
        status, reason = "harness-error", "the tool's own code failed"
    elif not fault.of_jax and (file.is_relative_to(root / "kernels") or not fault.through_jax):
        status, reason = "crashed", "the kernel's own Python raised"
    else:
        status, reason = "refused", "jax raised while it traced, compiled or ran the kernel"
    return Verdict(status, fault.text, fault.where, reason)


if __name__ == "__main__":
    run(msgspec.json.decode(Path(JOB).read_bytes(), type=Job), Path.cwd())
