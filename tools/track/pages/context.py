"""What pages are woven from, and how a fence's options are checked."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path

from track.anchors.library import Library
from track.anchors.symbols import Module
from track.errors import BadInput, TrackError
from track.evidence import Evidence
from track.facts.catalog import Fact
from track.pages.document import Document, Fence
from track.pages.locks import Locked
from track.pages.names import Names
from track.pages.plan import Phase
from track.pages.search import Entry

__all__ = ["Context", "options"]


@dataclasses.dataclass(frozen=True)
class Context:
    """Sources, facts, evidence and plan; on a page also the page, and the files that it adds to the site."""

    root: Path
    library: Library
    facts: Mapping[str, Fact]
    evidence: Evidence
    plan: Sequence[Phase]
    names: Names | None = None
    """What the names of the sources mean, and where pages tell of them; None while only one page is known."""
    document: Document | None = None
    files: dict[str, bytes] = dataclasses.field(default_factory=dict[str, bytes])
    found: list[Entry] = dataclasses.field(default_factory=list[Entry])
    """What a search finds in the notes of pages."""
    stamp: Callable[[Locked, Module], str] | None = None
    """Makes the HTML that stands on a note whose code changed; only a draft has it, and shows what is wrong."""

    def on(self, document: Document) -> Context:
        """The same, on a page."""
        return dataclasses.replace(self, document=document)

    def place(self, fence: Fence) -> str:
        """`path:line` of a fence, for errors."""
        return self.document.at(fence.line) if self.document else f"line {fence.line}"

    @contextlib.contextmanager
    def naming(self, fence: Fence) -> Generator[None]:
        """Name the place of a fence in the error that its block raises."""
        try:
            yield
        except TrackError as error:
            raise type(error)(error.what, {"page": self.place(fence), **error.details}, error.next_step) from error

    @property
    def up(self) -> str:
        """The way from the page to the root of the site, such as `../`."""
        depth = self.document.path.removeprefix("docs/").count("/") if self.document else 0
        return "../" * depth


def options(fence: Fence, context: Context, required: set[str], optional: set[str] | None = None) -> Mapping[str, str]:
    """The fence's options, if they are those that it takes."""
    given, known = set(fence.options), required | (optional or set())
    if given - known or required - given:
        unknown, missing = sorted(given - known), sorted(required - given)
        raise BadInput(
            f"{'unknown' if unknown else 'missing'} option '{(unknown or missing)[0]}' of {fence.kind}",
            {"page": context.place(fence), "expected": ", ".join(sorted(known)) or "no option"},
        )
    return fence.options
