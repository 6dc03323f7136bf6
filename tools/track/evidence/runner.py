"""Running jobs in child processes, without importing jax here.

A `Runner` keeps its server (see `server.py`) alive between jobs, so the second run of anything costs no import of jax.
It starts nothing before the first job, and `close` ends everything.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from track.evidence import lanes
from track.evidence.confine import child_environment
from track.evidence.record import Job, Outcome, Verdict
from track.evidence.server import Reply, Request

__all__ = ["Runner"]

LIMIT = 60.0  # seconds for a job that is not a lane's
AT_ONCE = max(1, min(2, os.cpu_count() or 1))
ATTEMPTS = 2


class Server:
    """A server process, its two pipes, and the folder that it calls home."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="evidence-"))
        with (self.home / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "track.evidence.server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=child_environment(os.environ, self.home),
                cwd=self.home,
            )

    def ask(self, request: Request) -> None:
        """Hand over a request."""
        if self.process.stdin:
            with contextlib.suppress(BrokenPipeError):  # it is gone, which waiting for its reply will show
                self.process.stdin.write(msgspec.json.encode(request) + b"\n")
                self.process.stdin.flush()

    def reply(self) -> Reply | None:
        """The next reply, or None where the server is gone."""
        line = self.process.stdout.readline() if self.process.stdout else b""
        return msgspec.json.decode(line, type=Reply) if line.endswith(b"\n") else None

    def last_words(self) -> str:
        """The last line that it wrote to its standard error, if it did."""
        lines = (self.home / "stderr").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def close(self) -> None:
        """End it, and with it every child."""
        with self.process:  # which closes the other pipe, too, and waits
            try:
                if self.process.stdin:
                    self.process.stdin.close()
                self.process.wait(timeout=5)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self.process.kill()
        shutil.rmtree(self.home, ignore_errors=True)


class Runner:
    """One server and the jobs that go through it. `limit`, in seconds, replaces every job's own."""

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self.server: Server | None = None
        self.numbers = itertools.count()

    def outcomes(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
        """Run the jobs, a few at a time, and yield each with its outcome as it ends."""
        waiting = [(job, ATTEMPTS) for job in reversed(list(jobs))]
        asked: dict[int, tuple[Job, int]] = {}
        try:
            while waiting or asked:
                while waiting and len(asked) < AT_ONCE:
                    job, attempts = waiting.pop()
                    asked[self.ask(job)] = job, attempts - 1
                reply = self.server.reply() if self.server else None
                if reply is None:
                    yield from self.given_up(asked, waiting)
                elif reply.number in asked:
                    job, _ = asked.pop(reply.number)
                    yield job, reply.outcome
        finally:
            if asked:  # interrupted: the children that still run are nobody's now
                self.close()

    def given_up(
        self, asked: dict[int, tuple[Job, int]], waiting: list[tuple[Job, int]]
    ) -> Iterator[tuple[Job, Outcome]]:
        """The server died: put its jobs back in line, but for those that it died over twice, which is no verdict."""
        reason = self.server.last_words() if self.server else ""
        self.close()
        for job, attempts in asked.values():
            if attempts:
                waiting.append((job, attempts))
            else:
                verdict = Verdict("harness-error", "the runner died", reason=reason)
                yield job, Outcome(verdict, confined=False, output="", seconds=0.0)
        asked.clear()

    def ask(self, job: Job) -> int:
        """Hand a job to the server, which is started if there is none, and return the number of its reply."""
        self.server = self.server or Server()
        request = Request(next(self.numbers), job, self.limit or limit_of(job))
        self.server.ask(request)
        return request.number

    def close(self) -> None:
        """End every process."""
        server, self.server = self.server, None
        if server:
            server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def limit_of(job: Job) -> float:
    """The seconds that a job may take."""
    return lanes.LANES[job.lane].limit if job.task == "judge" else LIMIT
