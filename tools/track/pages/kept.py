"""What earlier builds made of each page, kept with a digest of all that it was made from."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path

import msgspec

from track.files import write_if_changed

__all__ = ["Kept"]


@dataclasses.dataclass(frozen=True)
class Kept[T: msgspec.Struct]:
    """A folder with one file a page: the digest as a first line, then what was made."""

    folder: Path
    kind: type[T]

    def get(self, page: str, key: str) -> T | None:
        """What was made of a page from just this; None where that is not the last thing that was kept."""
        try:
            found, _, made = self._path(page).read_bytes().partition(b"\n")
            return msgspec.msgpack.decode(made, type=self.kind) if found == key.encode() else None
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def put(self, page: str, key: str, made: T) -> None:
        """Keep what was made of a page, in place of what was kept before."""
        write_if_changed(self._path(page), key.encode() + b"\n" + msgspec.msgpack.encode(made))

    def only(self, pages: Collection[str]) -> None:
        """Forget all pages but these."""
        wanted = {self._path(page) for page in pages}
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path not in wanted:
                path.unlink()

    def _path(self, page: str) -> Path:
        return self.folder / f"{page}.msgpack"
