"""Gathering the evidence: what is known is read, what is not is run, and nothing is run twice."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from track.errors import BadInput
from track.evidence import keys, lanes
from track.evidence.record import Chip, Job, Listed, Record, Status, TruthTable, Verdict
from track.evidence.runner import Runner
from track.evidence.store import Store, Stored

__all__ = ["Evidence", "collect"]

Progress = Callable[[int, int, str], None]


class Evidence(Struct, frozen=True):
    """Everything that is known of the kernels.

    `records` are by (kernel, case, lane); a topic that could not even be listed has one, under (topic, "", "").
    `tables` are by (kernel, case), `chips` by name. `ran` is the number of child verdicts that this collecting took.
    """

    records: dict[tuple[str, str, str], Record]
    tables: dict[tuple[str, str], TruthTable]
    chips: dict[str, Chip]
    ran: int


def quiet(done: int, total: int, what: str) -> None:
    """Tell nobody."""


class Collector:
    """One collecting: a store, a runner, and a count of what had to run."""

    def __init__(self, root: Path, pins: Mapping[str, str], runner: Runner, progress: Progress | None) -> None:
        self.root, self.pins, self.runner = root, pins, runner
        self.progress = progress or quiet
        self.store = Store(root / "build" / "evidence")
        self.ran = 0

    def results(self, jobs: Iterable[Job]) -> dict[Job, Stored]:
        """The result of every job, from the store where it is there; in the order of the jobs."""
        names = {job: keys.key_of(job, self.pins) for job in jobs}
        found = {job: kept for job, key in names.items() if (kept := self.store.get(key))}
        missing = [job for job in names if job not in found]
        for done, (job, outcome) in enumerate(self.runner.outcomes(missing) if missing else (), start=1):
            self.ran += 1
            if outcome.verdict.status == "harness-error":
                found[job] = Stored(outcome.verdict, outcome.confined, outcome.output)  # no verdict: not kept
            else:
                found[job] = self.store.put(names[job], outcome)
            self.progress(done, len(missing), " ".join(filter(None, (job.task, job.kernel or job.topic, job.lane))))
        return {job: found[job] for job in names}

    def record(self, job: Job, result: Stored) -> Record:
        """A result with the names it goes by."""
        target = lanes.LANES[job.lane].target if job.lane else ""
        key = keys.key_of(job, self.pins)
        names = (job.topic, job.kernel or job.topic, job.case, job.lane, target, key)
        return Record(*names, keys.versions(), result.confined, result.output, result.verdict)


def collect(
    root: Path,
    pins: Mapping[str, str],
    only: str | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
) -> Evidence:
    """The evidence for every kernel under `root`/kernels, or for `only` one kernel or topic.

    `pins` names what is pinned, and is part of every key.
    `progress` is told (done, of how many, what) after each job that ran.
    A `runner` that is passed in stays open; otherwise one is made if it is needed, and closed.
    """
    own = None if runner else Runner()
    try:
        return gather(Collector(root.resolve(), pins, runner or own or Runner(), progress), only)
    finally:
        if own:
            own.close()


def gather(collector: Collector, only: str | None) -> Evidence:
    """List the topics, then run what they ask for."""
    root = str(collector.root)
    lists = collector.results(Job("list", root, topic) for topic in keys.topics_in(collector.root))
    records = {
        (job.topic, "", ""): collector.record(job, got) for job, got in lists.items() if got.verdict.status != "ok"
    }
    wanted = [
        (job.topic, kernel)
        for job, got in lists.items()
        for kernel in got.verdict.listed
        if only in (None, job.topic, kernel.name)
    ]
    check(wanted)
    if only and not wanted and (only, "", "") not in records:
        raise BadInput(f"no kernel or topic is called {only!r}", {"topics": ", ".join(keys.topics_in(collector.root))})
    judged = [job for topic, kernel in wanted for job in jobs_of(root, topic, kernel)]
    peaks = Job("peaks", root)
    results = collector.results([*(job for job in judged if not unavailable(job)), peaks])
    tables: dict[tuple[str, str], TruthTable] = {}
    for job in judged:
        result = results.get(job) or without_run("unavailable", unavailable(job))
        if job.task == "judge":
            records[job.kernel, job.case, job.lane] = collector.record(job, result)
        elif result.verdict.table:
            tables[job.kernel, job.case] = result.verdict.table
    for topic, kernel in wanted:
        for lane, reason in kernel.not_applicable.items():
            job = Job("judge", root, topic, kernel.name, "", lane)
            records[kernel.name, "", lane] = collector.record(job, without_run("not-applicable", reason))
    chips = {chip.name: chip for chip in results[peaks].verdict.chips}
    return Evidence(records, tables, chips, collector.ran)


def without_run(status: Status, reason: str) -> Stored:
    """A verdict for which nothing had to run."""
    return Stored(Verdict(status, reason=reason), confined=False, output="")


def jobs_of(root: str, topic: str, kernel: Listed) -> list[Job]:
    """What there is to run for a kernel: every case in every lane, and the predicates of every case."""
    judged = [Job("judge", root, topic, kernel.name, case, lane) for case in kernel.cases for lane in kernel.lanes]
    return judged + [Job("predicates", root, topic, kernel.name, case) for case in kernel.cases]


def unavailable(job: Job) -> str:
    """Why a lane cannot run here, or nothing."""
    needed = lanes.LANES[job.lane].packages if job.task == "judge" else ()
    missing = [package for package in needed if importlib.util.find_spec(package) is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


def check(kernels: Iterable[tuple[str, Listed]]) -> None:
    """Every kernel says of every lane that it runs there or why not, and of no other."""
    for topic, kernel in kernels:
        said = {*kernel.lanes, *kernel.not_applicable}
        for lane in sorted(said ^ set(lanes.LANES)):
            problem = "says nothing of" if lane in lanes.LANES else "asks for an unknown lane,"
            at = {"file": f"kernels/{topic}/cases.py", "lanes": ", ".join(lanes.LANES)}
            raise BadInput(f"kernel {kernel.name!r} {problem} {lane!r}", at)
