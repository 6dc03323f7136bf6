"""What a bump found, as values: every note, listing and fold, what changed in the sources, facts and verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from track.anchors.match import Kind
from track.drift.changes import Changes, FactChange
from track.errors import BadInput
from track.spans import Span

__all__ = ["Drift", "FigureChange", "Report", "Side", "VerdictChange", "read_report", "report_bytes"]

Thing = Literal["note", "listing", "fold"]


class Side(msgspec.Struct, frozen=True):
    """A pin as far as it takes to find its sources again."""

    commit: str
    distribution: str
    version: str
    sha256: str
    wheel_names_commit: bool


class Drift(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one note, listing or fold; `lines` are None where its code is ambiguous or lost.

    `why` says what a person has to decide although the code itself was found.
    """

    thing: Thing
    kind: Kind
    id: str
    page: str
    line: int
    path: str
    symbol: str
    quote: str
    old_path: str
    old_symbol: str
    old_lines: Span
    lines: Span | None = None
    candidates: tuple[str, ...] = ()
    why: str = ""

    @property
    def review(self) -> bool:
        """Whether a person has to look; what is unchanged or merely moved is carried over."""
        return self.kind not in {"unchanged", "moved"} or bool(self.why)


class VerdictChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row that is another at the new pin. A pair is what was before and what is after.

    `status` is always there; `error` only where the texts differ, `measured` only has the numbers that do, None where
    one side lacks them. `expected` is the status that the kernel is to get.
    """

    kernel: str
    case: str
    lane: str
    target: str
    expected: str
    status: tuple[str, str]
    error: tuple[str, str] | None = None
    measured: dict[str, tuple[int | None, int | None]] = {}


class FigureChange(msgspec.Struct, frozen=True):
    """A figure that is drawn otherwise at the new pin, or by one side only."""

    page: str
    line: int
    fence: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a bump found. `verdicts` and `figures` are None where no kernel was run."""

    project: str
    old: Side
    new: Side
    missing: tuple[str, ...]
    drifts: tuple[Drift, ...]
    changes: Changes
    facts: tuple[FactChange, ...]
    verdicts: tuple[VerdictChange, ...] | None = None
    figures: tuple[FigureChange, ...] | None = None
    problems: tuple[str, ...] = ()
    """What else of the pages does not fit the new pin."""

    def count(self, kind: Kind, thing: Thing = "note") -> int:
        """How many of a thing drifted in a way."""
        return sum(d.kind == kind and d.thing == thing for d in self.drifts)


def report_bytes(report: Report) -> bytes:
    """The report as JSON that a person can read in a diff."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def read_report(path: Path) -> Report:
    """A report from its file; BadInput if there is none, or one that an older version wrote."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except FileNotFoundError:
        raise BadInput("there is no bump", {"file": path.name}, "track bump PROJECT VERSION --draft") from None
    except msgspec.MsgspecError as error:
        raise BadInput("a report that cannot be read", {"file": path.name, "found": error}) from None
