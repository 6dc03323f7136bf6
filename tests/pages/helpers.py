"""A small source file, a page about it, and what pages are bound to and woven from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from track.anchors.library import Library
from track.errors import TrackError
from track.evidence import Evidence
from track.facts.catalog import Fact
from track.files import blob_id
from track.pages.context import Context
from track.pages.document import Document, read
from track.pages.layout import Bound, bind
from track.pages.locks import Lock
from track.pages.weave import locked
from track.pins import lock, sync
from track.pins.lock import Blob, Pin, Release
from track.pins.tree import SourceTree

ROOT = Path(__file__).parents[2]
PAGE = "docs/tpu/page.md"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
KINDS = frozenset({"track", "timeline"})
NOTHING_KNOWN = Evidence({}, {}, {}, {}, {}, {}, 0)

BOX = '''\
# A license.

"""About."""

import enum

LIMIT = 3


class Box:
    """A box.

    It holds things.
    """

    size: int = 0

    # Fills it.
    def fill(self, amount):
        self.size += amount
        if self.size > LIMIT:
            raise ValueError("full <script>alert(1)</script> & more")
        return self.size

    def empty(self):
        self.size = 0
        return self.size


def pour(source, target):
    amount = source.size
    source.empty()
    target.fill(amount)
    return target
'''

TWICE = """\
if True:
    def pick():
        return 1
else:
    def pick():
        return 2
"""

FILES = {"pkg/box.py": BOX, "pkg/twice.py": TWICE, "pkg/other.py": "x = 1\ny = 2\n"}


def listing(symbol: str, *items: str, options: str = "", path: str = "pkg/box.py") -> str:
    """A listing fence, which begins on its page's line 1, and items, which begin on the line after its end."""
    return "\n".join([f"```listing\n{path}  {symbol}", *filter(None, [options]), "```", *items, ""])


def document(text: str, kinds: frozenset[str] = KINDS) -> Document:
    return read(PAGE, text, kinds)


def library(folder: Path, files: Mapping[str, str] | None = None) -> Library:
    """A pinned project of these files, as if they had come from git."""
    files = FILES if files is None else files
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    blobs = {path: Blob("git", blob_id(text.encode())) for path, text in files.items()}
    release = Release("pkg", "1.0", "0" * 64)
    pin = Pin("pkg", "https://example.org/pkg", COMMIT, release, wheel_names_commit=False, files=blobs)
    return Library({"pkg": SourceTree(pin, "git", folder)})


def bound(folder: Path, page: str, lock: Lock | None = None, box: str = BOX) -> Bound:
    """A page bound to the small project, whose `box.py` may be another."""
    sources = library(folder, {**FILES, "pkg/box.py": box})
    return bind(document(page), sources.module, lock or Lock())


def reviewed(folder: Path, page: str) -> Lock:
    """The lock of a page whose notes were reviewed against `BOX`."""
    return Lock(locked(bound(folder, page), Lock(), library(folder)))


def context(root: Path, evidence: Evidence = NOTHING_KNOWN, facts: Mapping[str, Fact] | None = None) -> Context:
    return Context(root, library(root / "sources"), facts or {}, evidence, ())


def dom(text: str) -> Any:
    """The HTML, parsed; untyped, because a test whose selector matches nothing fails by itself."""
    return LexborHTMLParser(text)


def refused_by(make: Callable[[], object]) -> TrackError:
    """The error that a call raises."""
    try:
        make()
    except TrackError as error:
        return error
    raise AssertionError("nothing was refused")


def errors_of(error: TrackError) -> tuple[TrackError, ...]:
    return getattr(error, "errors", (error,))


@functools.cache
def pinned() -> Library:
    """The sources that the site is made from; the set-up of `make test` has brought them."""
    return Library(sync.sync(ROOT, lock.read(ROOT / "pins.toml")))
