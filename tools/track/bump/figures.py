"""Whether a figure is drawn otherwise at another pin: digests of all figures, asked of a child at each pin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from track.bump import verdicts
from track.drift.report import FigureChange

__all__ = ["compare", "drawn"]


class Drawn(msgspec.Struct, frozen=True):
    """A figure of a page, by the line and kind of its fence, and the digest of what it is drawn as."""

    page: str
    line: int
    fence: str
    digest: str


def drawn(root: Path, python: Path, pins: Path) -> list[Drawn]:
    """Every figure at some pins, from `track figures --json` of this checkout run by another Python."""
    return msgspec.json.decode(verdicts.asked(root, python, pins, "figures", "--json"), type=list[Drawn])


def compare(before: list[Drawn], after: list[Drawn]) -> list[FigureChange]:
    """The figures that differ, or that one side alone could draw."""
    old, new = _by_place(before), _by_place(after)
    places = sorted(old.keys() | new.keys())
    return [FigureChange(*place) for place in places if old.get(place) != new.get(place)]


def _by_place(figures: list[Drawn]) -> Mapping[tuple[str, int, str], str]:
    return {(f.page, f.line, f.fence): f.digest for f in figures}
