"""What there is to do: every kernel on every case, in every lane, for every target, or the reason why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from track.errors import BadInput
from track.evidence import lanes
from track.evidence.record import Job, Listed, Status

__all__ = ["Asked", "Planned", "check", "judgments", "pictures"]


class Asked(Struct, frozen=True):
    """A kernel of a topic."""

    topic: str
    kernel: Listed


class Planned(Struct, frozen=True):
    """A job, and why it is not run, if it is not: the kernel's own `excuse`, or what the machine `lacks`.

    `run` is the job whose result is this one's: itself, or one whose case differs in numbers alone.
    """

    job: Job
    run: Job
    excuse: str = ""
    lacks: str = ""

    @property
    def runs(self) -> bool:
        """Whether there is something to run."""
        return not self.excuse and not self.lacks


def judgments(root: str, asked: Asked, lane: str | None, target: str | None) -> Iterator[Planned]:
    """The jobs that judge a kernel, in one lane and for one target if those are given."""
    for name, entry in lanes.LANES.items():
        for aim in entry.targets:
            if lane in (None, name) and target in (None, aim):
                job = Job("judge", root, asked.topic, asked.kernel.name, "", name, aim)
                yield from per_case(job, asked.kernel, entry)


def per_case(job: Job, kernel: Listed, lane: lanes.Lane) -> Iterator[Planned]:
    """A job without a case as one for each case; as it is where the kernel excuses itself."""
    excuse = kernel.excuse(job.lane, job.target)
    if excuse:
        yield Planned(job, job, excuse)
        return
    first: dict[str, Job] = {}
    for case, shapes in kernel.cases.items():
        own = replace(job, case=case)
        yield Planned(own, first.setdefault(shapes, own) if lane.by_shape else own, lacks=lacks(lane))


def pictures(root: str, asked: Asked) -> Iterator[Job]:
    """The jobs behind a kernel's pictures: the truth tables of its pipeline, and the blocks that its grid visits."""
    kernel = asked.kernel
    for case in kernel.cases:
        if "tpu-interpret" in kernel.lanes and kernel.devices == 1:
            yield Job("predicates", root, asked.topic, kernel.name, case)
        if {"hlo", "tpu-interpret"} & {*kernel.lanes}:
            yield Job("grid", root, asked.topic, kernel.name, case)


def lacks(lane: lanes.Lane) -> str:
    """Why a lane cannot run here, or nothing."""
    if lane.on_chip:
        return f"only an {', '.join(lane.targets)} can say, and none has been asked"
    missing = lanes.missing(lane.packages)
    return f"not installed: {', '.join(missing)}" if missing else ""


def check(asked: Iterable[Asked]) -> None:
    """Every kernel has a name of its own, and says of every lane that it runs there or why not, and of no other."""
    names = Counter[str]()
    for one in asked:
        names[one.kernel.name] += 1
        problem = "is there twice" if names[one.kernel.name] > 1 else problem_of(one.kernel)
        if problem:
            at = {"file": f"kernels/{one.topic}/cases.py", "lanes": ", ".join(lanes.LANES)}
            raise BadInput(f"kernel {one.kernel.name!r} {problem}", at)


def problem_of(kernel: Listed) -> str:
    """What is wrong with what a kernel says of the lanes, or nothing."""
    whole = [name for name in kernel.not_applicable if ":" not in name]
    for name in sorted({*kernel.lanes, *whole} - set(lanes.LANES)):
        return f"asks for an unknown lane, {name!r}"
    for name in lanes.LANES:
        if (name in kernel.lanes) == (name in whole):
            return f"says nothing of {name!r}" if name not in whole else f"both takes and excuses {name!r}"
    for name in (*kernel.not_applicable, *kernel.expected):
        lane, _, target = name.partition(":")
        if lane not in lanes.LANES or (target and target not in lanes.LANES[lane].targets):
            return f"speaks of an unknown lane or target, {name!r}"
    for name, verdict in kernel.expected.items():
        if verdict not in get_args(Status):
            return f"expects an unknown verdict, {verdict!r}, of {name!r}"
    return ""
