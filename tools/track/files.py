"""Reading and writing files, so that a kill at any moment leaves either the old file or the new one."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Generator
from pathlib import Path

from track.errors import BadEnvironment

__all__ = ["blob_id", "digest", "exclusive", "write_if_changed"]


def blob_id(data: bytes) -> str:
    """Git's name for a file with these bytes: 40 hex digits."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def digest(*parts: bytes | str) -> str:
    """SHA-256 over the parts, each preceded by its length, as 64 hex digits."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(b"%d:" % len(data))
        total.update(data)
    return total.hexdigest()


def write_if_changed(path: Path, data: bytes | str) -> bool:
    """Write `data` unless the file already holds it; return whether it was written.

    The bytes go to a neighbor file first and are moved into place, so no reader ever sees half of them.
    """
    data = data.encode() if isinstance(data, str) else data
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return True


@contextlib.contextmanager
def exclusive(path: Path, what: str) -> Generator[None]:
    """Hold the lock file `path` while the block runs; the system frees it if the process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            raise BadEnvironment(
                f"another {what} is running in this checkout",
                {"lock": path.name, "process": holder},
                "wait for it to end, then run the same command again",
            ) from None
        handle.seek(0)
        handle.truncate()
        handle.write(f"{os.getpid()}\n")
        handle.flush()
        yield
