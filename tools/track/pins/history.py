"""Earlier and later releases, which tests and drift reports compare: `requirements/history.txt`.

pip takes no two versions of one distribution from one file, so each line is a requirement of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from track.errors import BadInput, raise_all
from track.pins import wheel
from track.pins.lock import Release
from track.pins.progress import Progress

__all__ = ["fetch", "read"]

_LINE = re.compile(
    r"(?P<distribution>[A-Za-z0-9._-]+)==(?P<version>[0-9A-Za-z.!+]+) +--hash=sha256:(?P<sha256>[0-9a-f]{64})"
)


def read(path: Path) -> tuple[Release, ...]:
    """The releases in the order of the file; BadInput for lines that are no exact requirement with one hash."""
    lines = list(enumerate(path.read_text("utf-8").splitlines(), start=1))
    asked = [(number, line.strip()) for number, line in lines if line.strip() and not line.startswith("#")]
    raise_all(list(_mistakes(path.name, asked)))
    return tuple(Release(*match.groups()) for _, line in asked if (match := _LINE.fullmatch(line)))


def fetch(root: Path, progress: Progress | None = None) -> dict[Release, Path]:
    """The wheel of every release, in `build/wheels/`: those already there are not asked for again."""
    releases = read(root / "requirements" / "history.txt")
    return {release: wheel.fetch(release, root / "build" / "wheels", progress) for release in releases}


def _mistakes(file: str, lines: list[tuple[int, str]]) -> Iterator[BadInput]:
    expected = "distribution==version --hash=sha256:<64 hex digits>"
    for number, line in lines:
        if not _LINE.fullmatch(line):
            yield BadInput(
                "not a release with its hash", {"file": f"{file}:{number}", "expected": expected, "found": line}
            )
