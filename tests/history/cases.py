"""The cases that were decided by reading both releases: `cases.toml`."""

from __future__ import annotations

import msgspec

from tests.history.releases import ROOT, forest
from track.anchors import anchor, symbols
from track.anchors.anchor import Anchor
from track.anchors.forest import Forest
from track.spans import Span


class Now(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is different in the next release."""

    path: str | None = None
    symbol: str | None = None
    code: str | None = None


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A piece of code in one release, and where it is in the next."""

    why: str
    path: str
    symbol: str
    code: str
    to: str | None = None
    now: Now = Now()
    gone: bool = False
    asks: bool = False

    def place(self) -> tuple[str, str, str, str | None]:
        """Path, symbol and quotes in the next release."""
        now = self.now
        return now.path or self.path, now.symbol or self.symbol, now.code or self.code, self.to


CASES = msgspec.toml.decode((ROOT / "tests/history/cases.toml").read_bytes(), type=dict[str, tuple[Case, ...]])


def note(version: str, case: Case) -> Anchor:
    """The note on the code as it was."""
    span = only(forest(version), case.path, case.symbol, case.code, case.to)
    return anchor.anchor(forest(version).modules[case.path], span, case.code, case.to)


def only(inside: Forest, path: str, symbol: str, code: str, to: str | None) -> Span:
    """The one place of a symbol that a case quotes."""
    module = inside.modules[path]
    where = symbols.find(module, symbol).owned if symbol else Span(1, len(module.lines))
    (span,) = anchor.quoted(module, where, code, to)
    return span
