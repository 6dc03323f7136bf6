"""A process that has imported jax and started no backend, and forks a child for every job.

Requests come in on standard input, a line of JSON each; a reply goes out on standard output when its child has ended.
The process ends with its standard input, and takes its children along. It is started by `runner.py`.
"""

from __future__ import annotations

import importlib
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

import msgspec

from track.evidence import child, lanes
from track.evidence.confine import end_group
from track.evidence.record import Job, Outcome, Verdict
from track.evidence.texts import clean

__all__ = ["Reply", "Request", "serve"]

# What the children need; the first run of any interpreter imports the second of these, Mosaic GPU and all.
IMPORTED = (
    "jax._src.pallas.mosaic.interpret.interpret_pallas_call",
    "jax._src.pallas.mosaic_gpu.interpret.interpret_pallas_call",
    "jax._src.pallas.mosaic_gpu.pallas_call_registration",
    "jax._src.pallas.triton.pallas_call_registration",
    "jax.experimental.pallas.tpu",
)
KEPT_OUTPUT = 64 * 1024
TICK = 0.01


class Request(msgspec.Struct, frozen=True):
    """A job, the seconds that it may take, and a number to answer to."""

    number: int
    job: Job
    limit: float


class Reply(msgspec.Struct, frozen=True):
    """The outcome of a request."""

    number: int
    outcome: Outcome


class Child:
    """A child process at work on a request."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.work = Path(tempfile.mkdtemp(prefix="verdict-"))
        self.started = time.monotonic()
        self.printed = bytearray()
        self.open = True
        self.reader, writer = os.pipe()
        self.leader = os.fork()
        if self.leader == 0:
            become_child(request.job, self.work, writer)
        os.close(writer)

    def read(self) -> None:
        """Take in what it printed, and keep the first of it."""
        chunk = os.read(self.reader, 1 << 16)
        self.printed += chunk[: KEPT_OUTPUT - len(self.printed)]
        self.open = bool(chunk)

    def outcome(self) -> Outcome | None:
        """How it ended, or None while it may go on."""
        ended, status = os.waitpid(self.leader, os.WNOHANG)
        if not ended and time.monotonic() - self.started < self.request.limit:
            return None
        self.end(reaped=bool(ended))
        text = clean(self.printed.decode(errors="replace"), Path(self.request.job.root), self.work)
        code = os.waitstatus_to_exitcode(status) if ended else None
        verdict = handed_over(self.work) if code == 0 else None
        verdict = verdict or without_result(code, text, self.request.limit)
        confined = (self.work / "confined").exists()
        shutil.rmtree(self.work, ignore_errors=True)
        return Outcome(verdict, confined, text, time.monotonic() - self.started)

    def end(self, *, reaped: bool) -> None:
        """Kill what is left of it, and read what is left of its output."""
        end_group(self.leader)
        if not reaped:
            os.waitpid(self.leader, 0)
        while self.open and select.select([self.reader], [], [], 0)[0]:
            self.read()
        os.close(self.reader)


def serve() -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us; it then closes our input
    for module in IMPORTED:
        importlib.import_module(module)
    children: list[Child] = []
    unread = b""
    while True:
        ready, _, _ = select.select([0, *(child.reader for child in children if child.open)], [], [], wait(children))
        if 0 in ready:
            received = os.read(0, 1 << 16)
            if not received:  # whoever wanted the verdicts is gone
                abandon(children)
            *lines, unread = (unread + received).split(b"\n")
            children += [Child(msgspec.json.decode(line, type=Request)) for line in lines]
        for running in list(children):
            if running.reader in ready:
                running.read()
            if outcome := running.outcome():
                children.remove(running)
                sys.stdout.buffer.write(msgspec.json.encode(Reply(running.request.number, outcome)) + b"\n")
                sys.stdout.buffer.flush()


def wait(children: list[Child]) -> float | None:
    """How long to wait for something to read: without children for ever, else until it is time to look after them."""
    return TICK if children else None


def abandon(children: list[Child]) -> NoReturn:
    """End, with every child."""
    for running in children:
        running.end(reaped=False)
        shutil.rmtree(running.work, ignore_errors=True)
    sys.exit(0)


def become_child(job: Job, work: Path, writer: int) -> NoReturn:
    """Point the standard streams away from the server's, do the job, and end without jax's tear-down."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (writer, 1), (writer, 2)):
            os.dup2(source, target)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if job.lane and lanes.LANES[job.lane].fresh:
            start_afresh(job, work)
        child.run(job, work)
        code = 0
    finally:
        os._exit(code)  # never back into the server's loop, whatever was raised


def start_afresh(job: Job, work: Path) -> NoReturn:
    """Become a new interpreter that does the job."""
    (work / child.JOB).write_bytes(msgspec.json.encode(job))
    os.chdir(work)
    os.execv(sys.executable, [sys.executable, "-P", "-m", "track.evidence.child"])  # noqa: S606 - no shell, on purpose


def handed_over(work: Path) -> Verdict | None:
    """The verdict that the child left, if it did."""
    try:
        return msgspec.json.decode((work / child.RESULT).read_bytes(), type=Verdict)
    except (OSError, msgspec.DecodeError):
        return None


def without_result(code: int | None, printed: str, limit: float) -> Verdict:
    """The verdict on a child that left none."""
    if code is None:
        return Verdict("timed-out", f"still running after {limit:g} s", reason="the time limit is part of the verdict")
    ending = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    last_words = next((line for line in printed.splitlines() if line.strip()), "")
    error = f"{ending}: {last_words}" if last_words else ending
    return Verdict("crashed", error, reason="the process died before it had a verdict")


if __name__ == "__main__":
    serve()
