"""Results kept on disk under their keys, so that nothing unchanged runs twice.

An entry is a line with the SHA-256 of the rest, then the rest. Seconds go into a neighbor file: they are in no hash.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from track.evidence.record import Outcome, Verdict
from track.files import digest, write_if_changed

__all__ = ["Store", "Stored"]


class Stored(msgspec.Struct, frozen=True):
    """What is kept of an outcome."""

    verdict: Verdict
    confined: bool
    output: str


class Store:
    """The folder `build/evidence` of a checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Stored | None:
        """What is kept under `key`; None where there is nothing, or nothing whole."""
        try:
            checksum, _, body = self.path(key).read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        if digest(body).encode() == checksum:
            try:
                return msgspec.json.decode(body, type=Stored)
            except msgspec.DecodeError:
                pass  # whole, but in a form that this version does not read: as good as damaged
        sys.stderr.write(f"track: damaged evidence {key[:12]} in build/evidence, running it again\n")
        return None

    def put(self, key: str, outcome: Outcome) -> Stored:
        """Keep an outcome; a kill at any moment leaves the old entry or the new one."""
        stored = Stored(outcome.verdict, outcome.confined, outcome.output)
        body = msgspec.json.encode(stored)
        write_if_changed(self.path(key), digest(body).encode() + b"\n" + body)
        write_if_changed(self.path(key).with_suffix(".seconds"), f"{outcome.seconds:.3f}\n")
        return stored

    def prune(self, keys: set[str]) -> int:
        """Delete every entry but those under `keys`, and return how many there were."""
        gone = [path for path in self.folder.glob("*.evidence") if path.stem not in keys]
        for path in gone:
            path.unlink(missing_ok=True)
            path.with_suffix(".seconds").unlink(missing_ok=True)
        return len(gone)

    def path(self, key: str) -> Path:
        """Where the entry of `key` lies."""
        return self.folder / f"{key}.evidence"
