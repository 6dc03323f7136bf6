"""Serving the site while it is written: MkDocs watches the woven pages, and this watches what they are woven from."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path

from track.errors import BadEnvironment
from track.pages.generator import site_environment

__all__ = ["serving", "snapshot", "watch"]

POLL = 0.2
"""Seconds between two looks at the files."""

WATCHED = ("docs", "kernels", "pins.toml")


def snapshot(root: Path) -> Mapping[Path, tuple[int, int]]:
    """Time and size of every file that pages are woven from; the locks, which weaving itself writes, left out."""
    found = [path for name in WATCHED for path in _files(root / name)]
    return {path: stat for path in found if (stat := _stat(path))}


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    for path in place.rglob("*") if place.is_dir() else ():
        if path.is_file() and not path.name.endswith((".lock.json", ".partial", ".pyc")):
            yield path


def _stat(path: Path) -> tuple[int, int] | None:
    """Time and size of a file, or None if it went away meanwhile, as an editor's swap file does."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_mtime_ns, stat.st_size


@contextlib.contextmanager
def serving(root: Path, port: int) -> Generator[subprocess.Popen[bytes]]:
    """A running `mkdocs serve` on localhost, ended with the block."""
    command = [sys.executable, "-m", "mkdocs", "serve", "--config-file", str(root / "mkdocs.yml")]
    with subprocess.Popen(
        [*command, "--dev-addr", f"localhost:{port}"], cwd=root, env=site_environment(root)
    ) as server:
        try:
            yield server
        finally:
            server.terminate()


def watch(root: Path, server: subprocess.Popen[bytes], changed: Callable[[], None]) -> None:
    """Call `changed` after every change of a watched file, until the server ends; BadEnvironment if it does."""
    before = snapshot(root)
    while server.poll() is None:
        time.sleep(POLL)
        now = snapshot(root)
        if now != before:
            before = now
            changed()
    raise BadEnvironment("mkdocs serve has ended", {"exit": server.returncode}, "read what it printed above")
