"""The commands of a bump: draft, accept, undo, and what a person asks and decides about single notes."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from track.anchors.library import Library
from track.anchors.symbols import Module
from track.bump import candidate, decide, draft, environment, figures, review, show, verdicts
from track.bump.candidate import Candidate
from track.bump.workspace import Decision, Workspace, enough_space
from track.drift.report import Drift, Report, read_report, report_bytes
from track.errors import BadInput, TrackError
from track.files import write_if_changed
from track.pages.locks import Locked
from track.pages.site import STAMP
from track.pins import ids, lock, sync, wheel
from track.pins.lock import Pin, Release
from track.pins.progress import Progress
from track.pins.tree import SourceTree

__all__ = ["Asked", "accept", "latest", "make_draft", "old_tree", "review_one", "settle", "stamps", "target", "undo"]

_DONE = {"accept": "accepted", "retarget": "retargeted", "drop": "dropped"}
REPORT, MARKDOWN, REVIEW = "build/bump/report.json", "build/bump/report.md", "build/bump/review.html"
ACCEPTED = "docs/reference/changes"


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a bump was asked to do."""

    project: str
    wanted: str
    release: str | None = None
    mirror: str | None = None
    evidence: bool = True


def make_draft(root: Path, pins: Path, asked: Asked, progress: Progress) -> Report | None:
    """Make the draft and its report in `build/bump`; None if the pin is the newest. Nothing else changes."""
    pinned = lock.read(pins)
    if asked.project not in pinned:
        raise BadInput(f"no pinned project '{asked.project}'", {"expected": ", ".join(pinned)})
    found = candidate.find(root, pinned[asked.project], asked.wanted, asked.release, asked.mirror, progress=progress)
    if found is None:
        return None
    library = Library(sync.sync(root, pinned, progress=progress))
    made, report = draft.make(root, library, pins, found, mirror=asked.mirror, progress=progress)
    workspace = Workspace(root)
    site = "requirements/site.in"
    workspace.stage({site: environment.requirements((root / site).read_text("utf-8"), found)})
    if asked.evidence:
        report = _with_evidence(root, pins, found, report, progress)
    repeated = _repeated(workspace, made, report)
    _publish(root, repeated, made.library, made.target)
    return repeated


def _with_evidence(root: Path, pins: Path, found: Candidate, report: Report, progress: Progress) -> Report:
    """The report with what the kernels and figures say at both pins; the lock of the new one is staged too."""
    python = environment.make(root, found, progress)
    workspace = Workspace(root)
    workspace.stage({"requirements/site.txt": environment.lock(root, found).read_bytes()})
    staged = workspace.folder / "new" / pins.name
    before = verdicts.rows(root, Path(sys.executable), pins)
    after = verdicts.rows(root, python, staged)
    drawn = figures.compare(figures.drawn(root, Path(sys.executable), pins), figures.drawn(root, python, staged))
    return msgspec.structs.replace(report, verdicts=tuple(verdicts.compare(before, after)), figures=tuple(drawn))


def _repeated(workspace: Workspace, made: draft.Draft, report: Report) -> Report:
    """Decide again what was decided in an earlier draft; what no longer fits is a problem of the report."""
    failed: list[str] = []
    for decision in made.decisions:
        try:
            decide.decide(workspace, made.target, decision)
        except TrackError as error:
            failed.append(f"{decision.verb} {decision.note} cannot be repeated: {error}")
    return msgspec.structs.replace(report, problems=(*report.problems, *failed))


def _publish(root: Path, report: Report, old: Library, new: Library) -> None:
    """Write the report, and stage it as the public page's."""
    with enough_space("the report"):
        write_if_changed(root / REPORT, report_bytes(report))
        write_if_changed(root / MARKDOWN, show.markdown(report))
        write_if_changed(root / REVIEW, _review(root, report, old, new))
    name = draft.report_name(report.project, report.old.version, report.new.version)
    Workspace(root).stage({name: report_bytes(report)})


def _review(root: Path, report: Report, old: Library, new: Library) -> str:
    workspace = Workspace(root)
    bodies: dict[str, str] = {}
    olds: dict[str, Module] = {}
    news: dict[str, Module] = {}
    for drift in report.drifts:
        if drift.review:
            olds[drift.old_path] = old.module(drift.old_path)
            if drift.path in new.trees[report.project].pin.files:
                news[drift.path] = new.module(drift.path)
            if drift.thing == "note":
                bodies[drift.id] = decide.find(workspace, drift.id).item.body
    return review.page(report, bodies, olds, news)


def accept(root: Path) -> tuple[Report, tuple[str, ...]]:
    """Write the open bump into the checkout; return its report and the names of the files."""
    files = Workspace(root).accept()
    (root / STAMP).unlink(missing_ok=True)
    return read_report(root / REPORT), files


def undo(root: Path) -> tuple[str, ...]:
    """Put every file back as it was before the bump; return their names, none if it was a draft still."""
    files = Workspace(root).undo()
    for name in (REPORT, MARKDOWN, REVIEW):
        (root / name).unlink(missing_ok=True)
    return files


def latest(root: Path, pins: Path) -> Report:
    """The report of the open bump, with what was decided since taken off its list; BadInput if there is none."""
    report = _reported(root, pins)
    workspace = Workspace(root)
    done = {decision.note for decision in state.decisions} if (state := workspace.state) else set[str]()
    return msgspec.structs.replace(report, drifts=tuple(d for d in report.drifts if d.id not in done))


def _reported(root: Path, pins: Path) -> Report:
    """The report of the open bump, or on another machine that of the accepted one that led to a pin of today."""
    if (root / REPORT).is_file():
        return read_report(root / REPORT)
    commits = {pin.commit for pin in lock.read(pins).values()}
    accepted = map(read_report, sorted((root / ACCEPTED).glob("*.json")))
    return next((r for r in accepted if r.new.commit in commits), None) or read_report(root / REPORT)


def settle(root: Path, library: Library, decision: Decision) -> str:
    """Carry out a decision; return in a few words what is left."""
    workspace = Workspace(root)
    place = decide.decide(workspace, library, decision)
    left = decide.pending(workspace)
    return f"{place.page}:{place.item.line} {_DONE[decision.verb]}; {left} notes wait"


def target(root: Path, pins: Path) -> Library:
    """The sources that notes are decided against: those of the draft, if one is open, else of the checkout."""
    staged = Workspace(root).folder / "new" / pins.name
    path = staged if Workspace(root).is_draft and staged.is_file() else pins
    return Library(sync.sync(root, lock.read(path)))


def review_one(root: Path, pins: Path, wanted: str, progress: Progress) -> str:
    """A note with its old and new code, for a terminal; BadInput if the report has none of that name."""
    report = _reported(root, pins)
    drift = next((d for d in report.drifts if d.id == wanted), None)
    if drift is None:
        raise BadInput(f"the report has no note '{wanted}'", {"file": REPORT}, "track drift list --all")
    after = target(root, pins)
    pin = after.trees[report.project].pin
    before = Library({report.project: old_tree(root, report, pin, progress)})
    new = after.module(drift.path) if drift.path in pin.files else None
    body = decide.find(Workspace(root), wanted).item.body
    return review.shown(drift, body, before.module(drift.old_path), new)


def old_tree(root: Path, report: Report, pin: Pin, progress: Progress) -> SourceTree:
    """The sources that a bump left behind, found again from its report."""
    side = report.old
    release = Release(side.distribution, side.version, side.sha256)
    before = ids.at_release(pin, release, wheel.fetch(release, root / "build" / "wheels", progress), side.commit)
    return sync.sync(root, {pin.project: before}, "wheel", progress=progress)[pin.project]


def stamps(root: Path, library: Library, progress: Progress) -> Callable[[Locked, Module], str]:
    """What a draft of the site puts on a note that nobody has read against its new code."""
    from track.pages import drafts  # noqa: PLC0415 -- pages load the kernels' evidence, which other commands do without

    reports = {(r.project, r.old.commit): r for r in map(read_report, sorted((root / ACCEPTED).glob("*.json")))}

    @functools.cache
    def before(project: str, commit: str) -> Library | None:
        report = reports.get((project, commit))
        if report is None:
            return None
        return Library({project: old_tree(root, report, library.trees[project].pin, progress)})

    def stamp(row: Locked, module: Module) -> str:
        project = library.tree(module.path).project
        old = before(project, row.pin)
        report = reports.get((project, row.pin))
        drift = _drift_of(report, row) if report else None
        diff = review.diff_of(drift, old.module(drift.old_path), module) if drift and old else ""
        return drafts.stamp(f"{project} {row.pin[:7]}", row.pending or "edited", diff)

    return stamp


def _drift_of(report: Report, row: Locked) -> Drift | None:
    """What the report says of a locked note."""
    last = row.anchor.last
    quote = row.anchor.first if last is None else f"{row.anchor.first} … {last}"
    fitting = (d for d in report.drifts if d.thing == "note" and d.quote == quote and d.old_symbol == row.anchor.symbol)
    return next(fitting, None)
