"""From `docs/` to `build/site`: weave every page, then let MkDocs make HTML of them, unless nothing has changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from track.anchors.library import Library
from track.errors import TrackError, raise_all
from track.evidence.snippets import Snippet
from track.files import digest, write_if_changed
from track.pages import search
from track.pages.address import address
from track.pages.api import FOLDER, readable
from track.pages.config import load_config
from track.pages.context import Context
from track.pages.directives import DIRECTIVES
from track.pages.document import Fence
from track.pages.generator import generate, packages
from track.pages.layout import Bound
from track.pages.locks import Lock, read_lock, write_lock
from track.pages.names import Names, script
from track.pages.plan import misplaced, reading_order
from track.pages.publish import publish
from track.pages.runs import snippets_of
from track.pages.weave import locked, open_page, read_page
from track.pages.woven import weaver
from track.pins.lock import Pin

__all__ = ["annotated", "build_html", "drafts", "figures", "is_current", "relock", "site_key", "snippets", "weave_all"]

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
    shared = [*packages(), *_named(root, _shared(root)), repr([page.relative_to(docs) for page in pages])]
    weave = weaver(context, names, shared)
    woven = dict(_each(opened, lambda page: weave(opened[page]), errors))
    raise_all(errors)
    for page, bound in opened.items() if not draft else ():
        write_lock(page, locked(bound, locks[page], context.library))
    copied = (path for path in docs.rglob("*") if path.is_file() and not _private(path))
    assets = {path.relative_to(docs): path.read_bytes() for path in copied}
    cards = {address: card for made in woven.values() for address, card in made.cards.items()}
    added = {Path(name): data for made in woven.values() for name, data in made.files.items()}
    _write(root / FOLDER, readable(context.library))
    notes = (entry for made in woven.values() for entry in made.found)
    found = [*search.entries(ordered, names, context.evidence), *notes]
    write_if_changed(root / search.FOUND, msgspec.json.encode(found))
    written = {page.relative_to(docs): made.text for page, made in woven.items()}
    return _write(root / "build" / "pages", {**written, **assets, **added, Path(NAMES): script(cards)})


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


def snippets(root: Path) -> set[Snippet]:
    """What the pages ask to run."""
    docs = root / "docs"
    read = (read_page(path.relative_to(root).as_posix(), path.read_text("utf-8")) for path in pages_of(docs))
    return {snippet for document in read for snippet in snippets_of(document.fences).values()}


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
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    files = _named(root, _inputs(root))
    return digest(f"draft: {draft}", *packages(), repr(sorted(address(root).items())), epoch, pins.read_bytes(), *files)


def _named(root: Path, paths: Iterable[Path]) -> Iterator[str | bytes]:
    """The files' names and what they hold, for a digest."""
    return (part for path in paths for part in (path.relative_to(root).as_posix(), path.read_bytes()))


def _inputs(root: Path) -> Iterator[Path]:
    files = (root / "mkdocs.yml", root / "CITATION.cff", root / "requirements" / "history.txt")
    yield from (path for path in files if path.is_file())
    for folder in ("docs", "kernels", "tools"):
        yield from sorted(p for p in (root / folder).rglob("*") if p.is_file() and p.suffix != ".pyc")


def _shared(root: Path) -> Iterator[Path]:
    """The inputs that any page may be woven from: all but the pages, their locks, and what only a browser reads."""
    docs = root / "docs"
    for path in _inputs(root):
        own = docs in path.parents and (path.suffix == ".md" or path.name.endswith(".lock.json"))
        if not own and docs / "assets" not in path.parents:
            yield path


def is_current(root: Path, key: str) -> bool:
    """Whether `build/site` was made from just this."""
    stamp = root / STAMP
    return (root / "build/site").is_dir() and stamp.is_file() and stamp.read_text() == key


def build_html(root: Path, key: str, pins: Sequence[Pin]) -> None:
    """Make the site of the woven pages, beside the old one, and swap it in whole; the stamp is written last."""
    site, fresh, old = (root / "build" / name for name in ("site", "site.partial", "site.old"))
    for left in (fresh, old):
        shutil.rmtree(left, ignore_errors=True)
    generate(root, fresh)
    search.complete(root, fresh)
    publish(root, fresh, pins)
    (root / STAMP).unlink(missing_ok=True)
    if site.exists():
        site.rename(old)
    fresh.rename(site)
    shutil.rmtree(old, ignore_errors=True)
    write_if_changed(root / STAMP, key)
