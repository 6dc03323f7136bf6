"""Extracts: the beginning of a long text that a compiler wrote, without what is of this machine alone."""

from __future__ import annotations

import bisect
import itertools
import re
import sys
from pathlib import Path

from track.evidence.record import Form

__all__ = ["KEPT_LINES", "checkout", "extract"]

KEPT_LINES = 200
KEPT_COLUMNS = 400
KEPT_SIZE = 80_000
# MLIR's locations: `loc(...)` with at most two more levels inside, and what XLA's dump has in their place.
LOCATION = re.compile(r"\s*\bloc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)| \"[^\"\s]*\"\(#loc\d*\)| \[unknown\]")
PATH = re.compile(r"(?<![\w/.])/(?:[\w.+@-]+/)+(?=[\w.+@-])")
ADDRESS = re.compile(r"\b0x[0-9a-f]{9,}\b")


def extract(kind: str, stage: str, text: str, columns: int = KEPT_COLUMNS, size: int = KEPT_SIZE) -> Form:
    """A form with the first lines of its text, in `size` characters; what is left out is said on a line of its own."""
    lines = [line.rstrip() for line in clean(text).splitlines() if line.strip()]
    kept = [line if len(line) <= columns else f"{line[:columns]} [cut]" for line in lines[:KEPT_LINES]]
    ends = list(itertools.accumulate(len(line) + 1 for line in kept))
    kept = kept[: bisect.bisect_right(ends, size)]
    if len(lines) > len(kept):
        kept.append(f"[cut: the first {len(kept)} of {len(lines)} lines]")
    return Form(kind, stage, "\n".join(kept) + "\n", len(lines))


def clean(text: str) -> str:
    """The text without MLIR's locations, folders of this machine and addresses."""
    lines = (line for line in text.splitlines() if not line.startswith("#loc"))
    return ADDRESS.sub("0x...", PATH.sub("", LOCATION.sub("", "\n".join(lines))))


def checkout() -> Path:
    """The folder that has the `kernels/` of this process: paths are shown from there."""
    return Path(sys.modules["kernels"].__path__[0]).parent
