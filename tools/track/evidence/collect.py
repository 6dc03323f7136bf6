"""Gathering the evidence: what is known is read, what is not is run, and nothing is run twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from track.errors import BadInput, Finding
from track.evidence import committed, keys
from track.evidence.plan import Asked, Planned, check, judgments, pictures
from track.evidence.record import Chip, Grid, Job, Listed, Record, Status, TruthTable, Verdict, Work
from track.evidence.runner import Runner
from track.evidence.store import Store, Stored

__all__ = ["Evidence", "collect", "prune"]

Progress = Callable[[int, int, str], None]


class Evidence(Struct, frozen=True):
    """Everything that is known of the kernels.

    `records` are by (kernel, case, lane, target). The case is empty where none had to be looked at (`not-applicable`);
    a topic that could not even be listed has one record, under (topic, "", "", "").
    `tables`, `grids` and `work` are by (kernel, case), for the kernels that have them; `chips` and `kernels` by name.
    `ran` is the number of child verdicts that this collecting took.
    """

    records: dict[tuple[str, str, str, str], Record]
    tables: dict[tuple[str, str], TruthTable]
    grids: dict[tuple[str, str], tuple[Grid, ...]]
    work: dict[tuple[str, str], Work]
    chips: dict[str, Chip]
    kernels: dict[str, Listed]
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
        self.topics: dict[str, str] = {}

    def key(self, job: Job) -> str:
        """The name of a job's result."""
        return keys.key_of(job, self.pins, self.topics)

    def results(self, jobs: Iterable[Job]) -> dict[Job, Stored]:
        """The result of every job, from the store where it is there; in the order of the jobs."""
        names = {job: self.key(job) for job in jobs}
        found = {job: kept for job, key in names.items() if (kept := self.store.get(key))}
        missing = [job for job in names if job not in found]
        for done, (job, outcome) in enumerate(self.runner.outcomes(missing) if missing else (), start=1):
            self.ran += 1
            if outcome.verdict.status == "harness-error":
                found[job] = Stored(outcome.verdict, outcome.confined, outcome.output)  # no verdict: not kept
            else:
                found[job] = self.store.put(names[job], outcome)
            words = (job.task, job.kernel or job.topic, job.lane, job.target)
            self.progress(done, len(missing), " ".join(filter(None, words)))
        return {job: found[job] for job in names}

    def record(self, job: Job, result: Stored) -> Record:
        """A result with the names it goes by."""
        names = (job.topic, job.kernel or job.topic, job.case, job.lane, job.target, self.key(job))
        return Record(*names, keys.versions(job.lane), result.confined, result.output, result.verdict)

    def record_of(self, planned: Planned, results: Mapping[Job, Stored]) -> Record:
        """The record of a job: of its result, of the kernel's excuse, or of what the machine lacks."""
        job = planned.job
        if planned.excuse:
            return self.record(job, without_run("not-applicable", planned.excuse))
        if planned.lacks:
            kept = committed.read(job, self.pins, planned.lacks)
            return kept or self.record(job, without_run("unavailable", planned.lacks))
        return self.record(job, results[planned.run])


def collect(
    root: Path,
    pins: Mapping[str, str],
    only: str | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
    *,
    lane: str | None = None,
    target: str | None = None,
) -> Evidence:
    """The evidence for every kernel under `root`/kernels, or for `only` one kernel or topic, `lane` and `target`.

    `pins` names what is pinned, and is part of every key.
    `progress` is told (done, of how many, what) after each job that ran.
    A `runner` that is passed in stays open; otherwise one is made if it is needed, and closed.
    """
    own = None if runner else Runner()
    try:
        collector = Collector(root.resolve(), pins, runner or own or Runner(), progress)
        return gather(collector, only, lane, target)
    finally:
        if own:
            own.close()


def gather(collector: Collector, only: str | None, lane: str | None, target: str | None) -> Evidence:
    """List the topics, then run what they ask for."""
    root = str(collector.root)
    asked, records = listing(collector)
    chosen = [one for one in asked if only in (None, one.topic, one.kernel.name)]
    check(chosen)
    if only and not chosen and (only, "", "", "") not in records:
        raise BadInput(f"no kernel or topic is called {only!r}", {"topics": ", ".join(keys.topics_in(collector.root))})
    planned = [planned for one in chosen for planned in judgments(root, one, lane, target)]
    asking = [] if lane or target else [job for one in chosen for job in pictures(root, one)]
    peaks = Job("peaks", root)
    results = collector.results([*dict.fromkeys(one.run for one in planned if one.runs), *asking, peaks])
    for one in planned:
        records[one.job.kernel, one.job.case, one.job.lane, one.job.target] = collector.record_of(one, results)
    seen = {(job.task, job.kernel, job.case): results[job].verdict for job in asking}
    return Evidence(
        records,
        {(kernel, case): found.table for (_, kernel, case), found in seen.items() if found.table},
        {(kernel, case): found.grids for (_, kernel, case), found in seen.items() if found.grids},
        {(kernel, case): work for (_, kernel, case), found in seen.items() if (work := found.measures.work)},
        {chip.name: chip for chip in results[peaks].verdict.chips},
        {one.kernel.name: one.kernel for one in chosen},
        collector.ran,
    )


def listing(collector: Collector) -> tuple[list[Asked], dict[tuple[str, str, str, str], Record]]:
    """Every kernel of every topic, and a record of each topic that could not be listed."""
    root = collector.root
    lists = collector.results(Job("list", str(root), topic) for topic in keys.topics_in(root))
    asked = [Asked(job.topic, kernel) for job, got in lists.items() for kernel in got.verdict.listed]
    broken = {job: got for job, got in lists.items() if got.verdict.status != "ok"}
    return asked, {(job.topic, "", "", ""): collector.record(job, got) for job, got in broken.items()}


def prune(root: Path, pins: Mapping[str, str]) -> int:
    """Delete what the store keeps and no job would ask for; return how many entries that were."""
    with Runner() as runner:
        collector = Collector(root.resolve(), pins, runner, None)
        asked, broken = listing(collector)
    if broken:
        names = ", ".join(topic for topic, *_ in broken)
        raise Finding(
            "a topic that does not load may still need what is kept", {"topics": names}, "mend it, then prune"
        )
    folder = str(collector.root)
    jobs = [Job("list", folder, topic) for topic in keys.topics_in(collector.root)]
    jobs += [planned.run for one in asked for planned in judgments(folder, one, None, None)]
    jobs += [job for one in asked for job in pictures(folder, one)]
    return collector.store.prune({collector.key(job) for job in (*jobs, Job("peaks", folder))})


def without_run(status: Status, reason: str) -> Stored:
    """A verdict for which nothing had to run."""
    return Stored(Verdict(status, reason=reason), confined=False, output="")
