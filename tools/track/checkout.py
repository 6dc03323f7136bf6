"""A checkout as a whole: its pins, sources, facts and evidence opened together, and what the commands do with them."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import importlib.util
import zipfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import click

from track.anchors import symbols
from track.anchors.library import Library
from track.anchors.symbols import Module
from track.bump import flow
from track.errors import BadInput, Finding, TrackError
from track.evidence import Evidence, Record, Runner, collect, committed, prune, snippets
from track.evidence.lanes import LANES
from track.facts import book
from track.facts.catalog import Fact
from track.files import exclusive
from track.pages import coverage as covering
from track.pages import serve as serving
from track.pages import site
from track.pages.context import Context
from track.pages.plan import read_plan
from track.pins import history, installed, lock, progress, sync, wheel

__all__ = [
    "Opened",
    "alone",
    "build",
    "commit_evidence",
    "coverage",
    "evidence_of",
    "facts_of_release",
    "figures",
    "open_",
    "prune_evidence",
    "relock",
    "serve",
    "unexpected",
    "weave",
]


@dataclasses.dataclass(frozen=True)
class Opened:
    """What the commands of a checkout work on."""

    root: Path
    context: Context


def alone(root: Path) -> AbstractContextManager[None]:
    """Hold the checkout's build lock; BadEnvironment if another build holds it."""
    return exclusive(root / "build" / "lock", "build")


def open_(root: Path, pins: Path, runner: Runner | None = None, *, draft: bool = False) -> Opened:
    """All that pages are woven from: sources, facts, and the kernels run that have no record."""
    library = sources(root, pins)
    same_as_installed(library)
    evidence = evidence_of(root, pins, runner=runner)
    stamp = flow.stamps(root, library, progress.Terminal()) if draft else None
    found = book.of_checkout(root, library)
    return Opened(root, Context(root, library, found, evidence, read_plan(root / "docs"), stamp=stamp))


def sources(root: Path, pins: Path) -> Library:
    """The pinned sources: what is missing is brought, what is there is verified."""
    return Library(sync.sync(root, lock.read(pins), progress=progress.Terminal()))


def same_as_installed(library: Library) -> None:
    """Finding unless every pinned package that is installed, and so can run, holds the bytes of its pin."""
    for tree in library.trees.values():
        if importlib.util.find_spec(tree.pin.release.distribution) and (other := installed.differing(tree.pin)):
            raise Finding(
                f"the installed {tree.pin.release.distribution} is not the source that would be shown",
                {"pin": tree.pin, "files": "\n".join(other)},
                "make clean, then: make site",
            )


def evidence_of(
    root: Path,
    pins: Path,
    only: str | None = None,
    runner: Runner | None = None,
    *,
    lane: str | None = None,
    target: str | None = None,
) -> Evidence:
    """What is known of the kernels, or of a part of that; what is not known yet is run."""
    for name, given, known in (
        ("lane", lane, {*LANES}),
        ("target", target, {t for e in LANES.values() for t in e.targets}),
    ):
        if given is not None and given not in known:
            raise BadInput(f"no {name} is called {given!r}", {"expected": ", ".join(sorted(known))})
    with progress.Terminal().counting("running the kernels that changed") as report:
        return collect(root, commits(pins), only, report, runner, lane=lane, target=target)


def unexpected(evidence: Evidence) -> list[Record]:
    """The records whose verdict is not the one that their kernel expects, where there is a verdict at all."""
    silent = ("not-applicable", "unavailable")
    return [
        record
        for record in evidence.records.values()
        if record.status not in silent
        and (
            record.kernel not in evidence.kernels
            or record.status != evidence.kernels[record.kernel].expects(record.lane, record.target)
        )
    ]


def prune_evidence(root: Path, pins: Path) -> int:
    """Delete the results that no kernel and no page asks for; return how many there were."""
    pinned, asked = commits(pins), site.snippets(root)
    return prune(root, pinned) + snippets.prune(root, pinned, asked)


def commit_evidence(root: Path, pins: Path, evidence: Evidence, machine: str) -> int:
    """Write the verdicts beside their kernels, as made today on `machine`; return how many files changed."""
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    return committed.write_all(root, evidence.records.values(), commits(pins), machine, today)


def commits(pins: Path) -> dict[str, str]:
    """What is pinned: the commits, by project."""
    return {name: pin.commit for name, pin in lock.read(pins).items()}


def facts(root: Path, pins: Path) -> dict[str, Fact]:
    """Every named fact at the checkout's pins."""
    return book.of_checkout(root, sources(root, pins))


def facts_of_release(root: Path, release: str) -> dict[str, Fact]:
    """The static facts of another release, such as `jax=0.11.0`, from its wheel."""
    project, _, version = release.partition("=")
    known = history.read(root / "requirements" / "history.txt")
    wanted = next((r for r in known if (r.distribution, r.version) == (project, version)), None)
    if wanted is None:
        raise BadInput(
            f"no release '{release}' to compute facts from",
            {"file": "requirements/history.txt", "expected": ", ".join(f"{r.distribution}={r.version}" for r in known)},
            "name one of these, or add a line to that file",
        )
    path = wheel.fetch(wanted, root / "build" / "wheels", progress.Terminal())
    with zipfile.ZipFile(path) as archive:
        cache: dict[str, Module] = {}

        def module_of(name: str) -> Module:
            if name not in cache:
                if name not in archive.namelist():
                    raise BadInput(f"{wanted} has no file {name}")
                cache[name] = symbols.parse(name, archive.read(name).decode())
            return cache[name]

        return book.of_modules(project, module_of)


def coverage(root: Path, pins: Path) -> list[covering.Coverage]:
    """One row for every page and file that it is about."""
    library = sources(root, pins)
    return [covering.measure(bound, library.module(path)) for bound, path in site.annotated(root, library)]


def relock(root: Path, pins: Path, pages: Sequence[Path]) -> int:
    """Lock the notes of some pages as they stand; return how many there are."""
    library = sources(root, pins)
    return sum(site.relock(root, page, library) for page in pages)


def weave(opened: Opened) -> int:
    """Weave every page; return how many were written."""
    return site.weave_all(opened.root, opened.context)


def build(root: Path, pins: Path, *, draft: bool = False) -> str:
    """Weave and build the site, whatever of it changed; return what was done in a few words."""
    key = site.site_key(root, pins, draft=draft)
    if site.is_current(root, key):
        return "nothing changed"
    opened = open_(root, pins, draft=draft)
    changed = weave(opened)
    key = site.site_key(root, pins, draft=draft)
    site.build_html(root, key, [tree.pin for tree in opened.context.library.trees.values()])
    return f"{opened.context.evidence.ran} kernel verdicts run, {changed} pages woven, site built"


def figures(root: Path, pins: Path) -> list[dict[str, str | int]]:
    """Every figure of every page, with the digest of what it is drawn as; the error stands for one that cannot be."""
    opened = open_(root, pins)
    return [
        {"page": bound.document.path, "line": fence.line, "fence": fence.kind, "digest": drawn}
        for bound in site.drafts(root, opened.context.library)
        for fence, drawn in site.figures(bound, opened.context)
    ]


def serve(root: Path, pins: Path, port: int) -> None:
    """Serve the site on localhost until interrupted; an error in a page is shown, and the last good pages stay."""
    runner = Runner()
    weave(open_(root, pins, runner))

    def again() -> None:
        try:
            changed = weave(open_(root, pins, runner))
        except TrackError as error:
            click.echo(error, err=True)
        else:
            click.echo(f"{changed} pages woven", err=True)

    with contextlib.closing(runner), contextlib.suppress(KeyboardInterrupt), serving.serving(root, port) as server:
        serving.watch(root, server, again)
