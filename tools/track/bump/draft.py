"""A bump as a draft: the new pin brought and checked, every page carried over to it, and a report of what changed."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from track.anchors import symbols
from track.anchors.forest import Forest
from track.anchors.library import Library
from track.anchors.symbols import Module
from track.bump import candidate as candidates
from track.bump.candidate import Candidate
from track.bump.carrying import Move, carry_page
from track.bump.workspace import Decision, Workspace
from track.drift import releases
from track.drift.editions import Edition, in_scope
from track.drift.report import Drift, Report, Side
from track.errors import BadInput, TrackError
from track.pages.layout import bind
from track.pages.locks import Lock, lock_path, lock_text, parse_lock
from track.pages.weave import read_page
from track.pins import sync, wheel, write
from track.pins.lock import Pin
from track.pins.progress import Progress

__all__ = ["Draft", "make", "page_names", "report_name"]


@dataclasses.dataclass(frozen=True)
class Draft:
    """What a draft of a bump is made from."""

    root: Path
    library: Library
    target: Library
    candidate: Candidate
    decisions: tuple[Decision, ...]
    """What was decided in an earlier draft of the same bump."""


def report_name(project: str, old: str, new: str) -> str:
    """Where the report of an accepted bump lies in the checkout, from two versions."""
    return f"docs/reference/changes/{project}-{old}-to-{new}.json"


def page_names(root: Path) -> list[str]:
    """Every page of the checkout, such as `docs/index.md`."""
    return sorted(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))


def make(
    root: Path, library: Library, pins: Path, found: Candidate, *, mirror: str | None, progress: Progress
) -> tuple[Draft, Report]:
    """Bring the candidate's sources, carry every page, stage what changes, and return the report without evidence."""
    old = library.trees[found.pin.project].pin
    new = found.pin
    workspace = Workspace(root)
    decisions = workspace.begin(new.project, old.commit, new.commit, new.release.version)
    staged_pins = _pins(pins, new)
    trees = sync.sync(root, {new.project: new}, mirror=mirror, progress=progress)
    draft = Draft(root, library, Library({**library.trees, **trees}), found, decisions)
    before = candidates.scope(old, wheel.fetch(old.release, root / "build" / "wheels"))
    with progress.busy(f"matching {old.release} and {new.release}"):
        sides = [_forest(library, old.project, before), _forest(draft.target, old.project, found.files)]
        move = Move.between(old.project, library, draft.target, *sides)
    pages, drifts = _carried(draft, move, progress)
    with progress.busy("comparing the releases"):
        editions = (_edition(old, sides[0]), _edition(new, sides[1]))
        changes = releases.compare(*editions, old.repository)
    report = Report(
        project=new.project,
        old=_side(old),
        new=_side(new),
        missing=found.missing,
        drifts=tuple(drifts),
        changes=changes,
        facts=changes.facts,
    )
    workspace.stage({pins.relative_to(root).as_posix(): staged_pins, **pages})
    return draft, msgspec.structs.replace(report, problems=tuple(_problems(draft, workspace)))


def _side(pin: Pin) -> Side:
    release = pin.release
    return Side(pin.commit, release.distribution, release.version, release.sha256, pin.wheel_names_commit)


def _pins(pins: Path, new: Pin) -> str:
    """The pins file with the new pin in it."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / pins.name
        copy.write_bytes(pins.read_bytes())
        write.write(copy, new)
        return copy.read_text("utf-8")


def _forest(library: Library, project: str, files: Mapping[str, bytes]) -> Forest:
    """Every Python file of a pin and beside its files; those that are shown are parsed once for all.

    BadInput for a pinned file that is no Python; one beside them that is none is not where code could have gone.
    """
    pinned = {path for path in library.trees[project].paths if path.endswith(".py")}
    modules: dict[str, Module] = {path: library.module(path) for path in sorted(pinned)}
    for path, data in files.items():
        if path not in modules:
            with contextlib.suppress(BadInput, UnicodeDecodeError):
                modules[path] = symbols.parse(path, data.decode("utf-8"))
    return Forest(modules)


def _carried(draft: Draft, move: Move, progress: Progress) -> tuple[dict[str, str], list[Drift]]:
    """Every page and lock that changes, and what became of each note, listing and fold."""
    files: dict[str, str] = {}
    drifts: list[Drift] = []
    with progress.busy("carrying the notes over"):
        for name in page_names(draft.root):
            path = draft.root / name
            text = path.read_text("utf-8")
            beside = lock_path(path)
            known = parse_lock(beside.name, beside.read_bytes()) if beside.is_file() else Lock()
            page = carry_page(name, text, known, move)
            drifts += page.drifts
            made = {name: page.text, beside.relative_to(draft.root).as_posix(): lock_text(page.lock)}
            was = {name: text, beside.relative_to(draft.root).as_posix(): lock_text(known.notes.values())}
            files |= {file: content for file, content in made.items() if content != was[file]}
    return files, drifts


def _edition(pin: Pin, forest: Forest) -> Edition:
    """A side of the public list of changes, with the modules that are parsed already."""
    texts = {path: module.text for path, module in sorted(forest.modules.items()) if in_scope(pin, path)}
    commit = pin.commit if pin.wheel_names_commit else None
    return Edition(pin.project, pin.release.version, commit, texts, dict(forest.modules))


def _problems(draft: Draft, workspace: Workspace) -> Iterator[str]:
    """What keeps the pages from being built at the new pin, besides notes that wait for a person."""
    for name in page_names(draft.root):
        text = (workspace.read(name) or b"").decode("utf-8")
        beside = lock_path(Path(name)).as_posix()
        known = parse_lock(beside, workspace.read(beside) or b"[]")
        try:
            document = read_page(name, text)
        except TrackError as error:
            yield str(error)
            continue
        bound = bind(document, draft.target.module, known, draft=True)
        yield from (str(error) for error in bound.problems)
