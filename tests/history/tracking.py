"""The oracle: where git itself says that a line of one release is in the next, and only where it is sure."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from track.spans import Span

ALGORITHMS = ("myers", "patience", "histogram")
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}  # nobody's own settings change what git says
AUTHOR = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "gc.auto=0", "-c", "core.autocrlf=false")


@dataclasses.dataclass(frozen=True)
class Tracked:
    """The lines of one file: for each algorithm, old line number to new one; a line that is gone has none."""

    maps: tuple[Mapping[int, int], ...]

    def line(self, number: int) -> int | None:
        """The new number of an old line, if all algorithms agree on it."""
        found = {lines.get(number) for lines in self.maps}
        return found.pop() if len(found) == 1 else None

    def span(self, old: Span) -> Span | None:
        """The same lines in the new file, if each is there for sure, and they still follow each other."""
        now = [self.line(n) for n in old.lines]
        first = now[0]
        if first is None or now != list(range(first, first + len(now))):
            return None
        return Span(first, first + len(now) - 1)

    def origin(self, number: int) -> int | None:
        """The old number of a new line, if all algorithms agree on it."""
        found = {next((a for a, b in lines.items() if b == number), None) for lines in self.maps}
        return found.pop() if len(found) == 1 else None


def commit(repository: Path, texts: Mapping[str, str], tag: str) -> None:
    """Make one more commit, of these files alone."""
    if not (repository / ".git").exists():
        _git(repository, "init", "--quiet")
    _git(repository, "rm", "-r", "-f", "--quiet", "--ignore-unmatch", ".")
    for path, text in texts.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text, "utf-8", newline="")
    _git(repository, "add", "--all")
    _git(repository, *AUTHOR, "commit", "--quiet", "--allow-empty", "--message", tag)
    _git(repository, "tag", f"v{tag}")


def track(repository: Path, old: str, new: str, lines: Mapping[str, int]) -> dict[str, Tracked]:
    """Follow every line from one tag to another, in the files whose old number of lines is given."""
    found = [_maps(repository, old, new, algorithm, lines) for algorithm in ALGORITHMS]
    return {path: Tracked(tuple(maps[path] for maps in found)) for path in lines}


def _maps(repository: Path, old: str, new: str, algorithm: str, lines: Mapping[str, int]) -> dict[str, dict[int, int]]:
    options = ["--no-color", "--no-ext-diff", "--no-renames", "--unified=0", f"--diff-algorithm={algorithm}"]
    said = _git(repository, "diff", *options, f"v{old}", f"v{new}", "--", *lines)
    parts = re.split(r"^diff --git a/(\S+) b/\S+\n", said, flags=re.MULTILINE)
    hunks = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {path: dict(_kept(hunks.get(path, ""), count)) for path, count in lines.items()}


def _kept(hunks: str, count: int) -> Iterator[tuple[int, int]]:
    """The pairs of line numbers outside all hunks."""
    mine = theirs = 1
    for gone, new in (_sides(hunk) for hunk in HUNK.finditer(hunks)):
        yield from zip(range(mine, gone.start), range(theirs, new.start), strict=True)
        mine, theirs = gone.stop, new.stop
    yield from ((mine + n, theirs + n) for n in range(count - mine + 1))


def _sides(hunk: re.Match[str]) -> tuple[range, range]:
    """The lines of both sides; git names the line before a side that has none."""
    sides = [(int(hunk[n]), int(hunk[n + 1] or 1)) for n in (1, 3)]
    begins = [first if size else first + 1 for first, size in sides]
    old, new = (range(first, first + size) for first, (_, size) in zip(begins, sides, strict=True))
    return old, new


def _git(repository: Path, *arguments: str) -> str:
    command: Sequence[str] = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | ALONE).stdout
