"""From `docs/` to `build/site`: weave every page, then let MkDocs make HTML of them, unless nothing has changed."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from track.anchors.library import Library
from track.errors import Finding, TrackError, raise_all
from track.files import digest, write_if_changed
from track.pages import search
from track.pages.address import address
from track.pages.api import FOLDER, readable
from track.pages.config import load_config
from track.pages.context import Context
from track.pages.directives import DIRECTIVES
from track.pages.document import Fence
from track.pages.layout import Bound
from track.pages.locks import Lock, read_lock, write_lock
from track.pages.names import Names
from track.pages.plan import misplaced, reading_order
from track.pages.publish import publish
from track.pages.weave import locked, open_page, weave
from track.pins.lock import Pin

__all__ = ["annotated", "build_html", "drafts", "figures", "is_current", "relock", "site_key", "weave_all"]

STAMP = "build/site.key"
NAMES = "assets/names.js"
"""The script with what names mean, for the pages of the site."""


def pages_of(docs: Path) -> list[Path]:
    """Every page, sorted."""
    return sorted(docs.rglob("*.md"))


def weave_all(root: Path, context: Context) -> int:
    """Weave every page of `docs/` into `build/pages`, copy what is no page, and return how many pages were written.

    Notes that a lock does not know yet are added to it. All errors of all pages are raised together, and then nothing
    in `build/pages` has changed. A draft shows what is wrong in its place, and leaves the locks alone.
    """
    docs = root / "docs"
    pages, draft = pages_of(docs), context.stamp is not None
    nav = load_config(root / "mkdocs.yml").get("nav")
    errors = list(misplaced(nav, {page.relative_to(docs).as_posix() for page in pages}))
    locks = dict(_each(pages, read_lock, errors))
    opened = dict(_each(locks, lambda page: open_page(page, docs, context.library, locks[page], draft=draft), errors))
    order = [docs / path for path in reading_order(nav)]
    ordered = [opened[page] for page in order if page in opened]
    names = Names.of_pages(context.library, ordered)
    naming = dataclasses.replace(context, names=names)
    woven = dict(_each(opened, lambda page: weave(opened[page], naming), errors))
    raise_all(errors)
    for page, bound in opened.items() if not draft else ():
        write_lock(page, locked(bound, locks[page], context.library))
    copied = (path for path in docs.rglob("*") if path.is_file() and not _private(path))
    assets = {path.relative_to(docs): path.read_bytes() for path in copied}
    made = {Path(name): data for name, data in {**context.files, NAMES: names.script()}.items()}
    _write(root / FOLDER, readable(context.library))
    found = [*search.entries(ordered, names, context.evidence), *context.found]
    write_if_changed(root / search.FOUND, msgspec.json.encode(found))
    written = {page.relative_to(docs): text for page, text in woven.items()}
    return _write(root / "build" / "pages", {**written, **assets, **made})


def _each[T](pages: Iterable[Path], make: Callable[[Path], T], errors: list[TrackError]) -> Iterator[tuple[Path, T]]:
    """What `make` makes of each page; what goes wrong is added to `errors`."""
    for page in pages:
        try:
            yield page, make(page)
        except TrackError as error:
            errors.extend(getattr(error, "errors", [error]))


def relock(root: Path, page: Path, library: Library) -> int:
    """Lock the notes of one page as they stand, whatever its lock said; return how many there are."""
    bound = open_page(page.resolve(), root / "docs", library, Lock())
    notes = locked(bound, Lock(), library)
    write_lock(page, notes)
    return len(notes)


def annotated(root: Path, library: Library) -> Iterator[tuple[Bound, str]]:
    """Every page that says in its front matter which file it is about, with that file."""
    for page in pages_of(root / "docs"):
        bound = open_page(page, root / "docs", library, read_lock(page))
        if "file" in bound.document.front:
            yield bound, bound.document.front["file"]


def _write(out: Path, files: Mapping[Path, str | bytes]) -> int:
    """Make the folder hold these files and no others; return how many pages changed."""
    changed = [name for name, content in files.items() if write_if_changed(out / name, content)]
    for path in sorted(out.rglob("*")):
        if path.is_file() and path.relative_to(out) not in files:
            path.unlink()
    return sum(name.suffix == ".md" for name in changed)


def _private(path: Path) -> bool:
    return path.suffix == ".md" or path.name.endswith(".lock.json") or path.name in {"changes.toml", "track.toml"}


def drafts(root: Path, library: Library) -> Iterator[Bound]:
    """Every page, bound as far as it goes."""
    for page in pages_of(root / "docs"):
        yield open_page(page, root / "docs", library, read_lock(page), draft=True)


def figures(bound: Bound, context: Context) -> Iterator[tuple[Fence, str]]:
    """The figures of a page, each with a digest of its HTML, or of the error that it raises."""
    on_page = context.on(bound.document)
    for fence in bound.document.fences:
        if fence.kind in DIRECTIVES:
            try:
                yield fence, digest(DIRECTIVES[fence.kind](fence, on_page))
            except TrackError as error:
                yield fence, digest(str(error))


def site_key(root: Path, pins: Path, *, draft: bool = False) -> str:
    """A hash of all that the site is made from: pages, kernels, the tool, the pins, the address and the packages."""
    versions = sorted(f"{d.name} {d.version}" for d in importlib.metadata.distributions())
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    files = [part for path in _inputs(root) for part in (path.relative_to(root).as_posix(), path.read_bytes())]
    return digest(f"draft: {draft}", *versions, repr(sorted(address(root).items())), epoch, pins.read_bytes(), *files)


def _inputs(root: Path) -> Iterator[Path]:
    files = (root / "mkdocs.yml", root / "CITATION.cff", root / "requirements" / "history.txt")
    yield from (path for path in files if path.is_file())
    for folder in ("docs", "kernels", "tools"):
        yield from sorted(p for p in (root / folder).rglob("*") if p.is_file() and p.suffix != ".pyc")


def is_current(root: Path, key: str) -> bool:
    """Whether `build/site` was made from just this."""
    stamp = root / STAMP
    return (root / "build/site").is_dir() and stamp.is_file() and stamp.read_text() == key


def build_html(root: Path, key: str, pins: Sequence[Pin]) -> None:
    """Make the site of the woven pages, beside the old one, and swap it in whole; the stamp is written last."""
    site, fresh, old = (root / "build" / name for name in ("site", "site.partial", "site.old"))
    for left in (fresh, old):
        shutil.rmtree(left, ignore_errors=True)
    run_mkdocs(root, fresh)
    search.complete(root, fresh)
    publish(root, fresh, pins)
    (root / STAMP).unlink(missing_ok=True)
    if site.exists():
        site.rename(old)
    fresh.rename(site)
    shutil.rmtree(old, ignore_errors=True)
    write_if_changed(root / STAMP, key)


def run_mkdocs(root: Path, out: Path) -> None:
    """Build strictly into `out`; Finding with what MkDocs said if it refuses."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(root / "mkdocs.yml")]
    run = subprocess.run(
        [*command, "--site-dir", str(out)],
        cwd=root,
        env=site_environment(root),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        said = [line for line in run.stdout.splitlines() if line.startswith(("WARNING", "ERROR", "Aborted", "Config"))]
        shown = "\n".join(said or run.stdout.splitlines()[-12:])
        raise Finding("MkDocs refuses the woven pages", {"found": shown}, "mend the page in docs/, then: make site")


def site_environment(root: Path) -> dict[str, str]:
    """The environment in which a site is built: the repository's address, and no notices."""
    return {**os.environ, **address(root), "NO_MKDOCS_2_WARNING": "1"}
