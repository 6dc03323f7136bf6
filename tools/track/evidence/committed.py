"""Records that are committed beside a kernel, in `kernels/<topic>/records/`.

They have what only a chip can say, and what a machine shows that lacks a lane's packages. A file holds one kernel in
one lane for one target, with all its cases. It is made by hand, on the machine that it names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from track.errors import BadInput
from track.evidence import keys
from track.evidence.record import Job, Record, Verdict
from track.files import write_if_changed

__all__ = ["Committed", "path_of", "read", "write", "write_all"]

NOT_RUN = ("not-applicable", "unavailable", "harness-error")


class Committed(Struct, frozen=True, forbid_unknown_fields=True):
    """What was found on one machine on one day.

    `date` is a day as YYYY-MM-DD. `pins` are the commits that were pinned then, `sources` a hash of the topic's files.
    `verdicts` are by case.
    """

    machine: str
    date: str
    versions: dict[str, str]
    pins: dict[str, str]
    sources: str
    verdicts: dict[str, Verdict]


def path_of(job: Job) -> Path:
    """Where the committed record of a job's kernel, lane and target lies."""
    return Path(job.root, "kernels", job.topic, "records", f"{job.kernel}-{job.lane}-{job.target}.json")


def read(job: Job, pins: Mapping[str, str], reason: str) -> Record | None:
    """The committed record of a job that cannot run here for a `reason`, stamped; None where there is none."""
    path = path_of(job)
    if not path.is_file():
        return None
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Committed)
    except msgspec.DecodeError as error:
        file = path.relative_to(job.root).as_posix()
        raise BadInput("a committed record cannot be read", {"file": file, "found": error}) from error
    verdict = found.verdicts.get(job.case)
    if verdict is None:
        return None
    key = keys.key_of(job, found.pins)
    names = (job.topic, job.kernel, job.case, job.lane, job.target, key)
    return Record(
        *names, found.versions, confined=False, output="", verdict=verdict, stamp=stamp(job, found, pins, reason)
    )


def stamp(job: Job, found: Committed, pins: Mapping[str, str], reason: str) -> str:
    """Where and when the record was made, why it stands in, and what has changed since."""
    words = [f"recorded on {found.machine}, {found.date}"]
    if not reason.startswith("only "):
        words.append(f"shown because this machine cannot run the lane ({reason})")
    moved = sorted(name for name, commit in pins.items() if found.pins.get(name, commit) != commit)
    if moved:
        words.append(f"older than the pin of {', '.join(moved)}")
    if found.sources != keys.topic_digest(Path(job.root), job.topic):
        words.append("the topic's files have changed since")
    return "; ".join(words)


def write_all(root: Path, records: Iterable[Record], pins: Mapping[str, str], machine: str, date: str) -> int:
    """Keep what ran of the records, a file for each kernel, lane and target; return how many files changed."""
    ran = [record for record in records if record.lane and not record.stamp and record.status not in NOT_RUN]
    ran.sort(key=file_of)
    groups = [list(group) for _, group in itertools.groupby(ran, key=file_of)]
    return sum(write(root, group, pins, machine, date) for group in groups)


def file_of(record: Record) -> tuple[str, str, str, str]:
    """What the records of one file have in common."""
    return record.topic, record.kernel, record.lane, record.target


def write(root: Path, records: Sequence[Record], pins: Mapping[str, str], machine: str, date: str) -> bool:
    """Keep the records of one kernel, lane and target, one a case; return whether the file changed."""
    one = records[0]
    job = Job("judge", str(root), one.topic, one.kernel, "", one.lane, one.target)
    sources = keys.topic_digest(root, one.topic)
    verdicts = {record.case: record.verdict for record in records}
    kept = Committed(machine, date, dict(one.versions), dict(sorted(pins.items())), sources, verdicts)
    return write_if_changed(path_of(job), msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
