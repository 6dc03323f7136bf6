"""What a bump changes in the verdicts on our kernels, and in what their programs take."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import click
import msgspec

from track.drift.report import VerdictChange
from track.errors import BadEnvironment

__all__ = ["Row", "asked", "compare", "rows"]

ABSENT = "absent"  # the status of a row that only the other side has
_TOOLS = Path(__file__).resolve().parents[2]
_LAST_WORDS, _LAST_LINES = 4000, 12
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # how a bar moves and colors what a terminal shows


class Row(msgspec.Struct, frozen=True):
    """What is compared of a row of `track evidence list --json`."""

    kernel: str
    case: str
    lane: str
    target: str
    status: str
    expected: str
    error: str
    measured: dict[str, int]

    @property
    def names(self) -> tuple[str, str, str, str]:
        """What the row is of."""
        return (self.kernel, self.case, self.lane, self.target)


def compare(before: Sequence[Row], after: Sequence[Row]) -> list[VerdictChange]:
    """The rows that differ in verdict, in any letter of the error, or in a measured number, in the order of `before`.

    Rows of one side only come with the status `absent` on the other; those that are new come last.
    """
    old = {row.names: row for row in before}
    new = {row.names: row for row in after}
    found = (_change(old.get(names), new.get(names)) for names in {**old, **new})
    return [change for change in found if change is not None]


def _change(old: Row | None, new: Row | None) -> VerdictChange | None:
    here = new or old
    if here is None or old == new:
        return None
    status = (old.status if old else ABSENT, new.status if new else ABSENT)
    error = (old.error if old else "", new.error if new else "")
    measured = _differing(old.measured if old else {}, new.measured if new else {})
    if status[0] == status[1] and error[0] == error[1] and not measured:
        return None  # only what the kernel expects has changed, which no pin does
    return VerdictChange(*here.names, here.expected, status, error if error[0] != error[1] else None, measured)


def _differing(old: Mapping[str, int], new: Mapping[str, int]) -> dict[str, tuple[int | None, int | None]]:
    return {name: (old.get(name), new.get(name)) for name in {**old, **new} if old.get(name) != new.get(name)}


def rows(root: Path, python: Path, pins: Path) -> list[Row]:
    """Every verdict at some pins, from `track evidence list`; what is not known yet runs, which takes minutes."""
    return msgspec.json.decode(asked(root, python, pins, "evidence", "list", "--json"), type=list[Row])


def asked(root: Path, python: Path, pins: Path, *words: str) -> bytes:
    """What a command of this checkout's `track` prints when another Python runs it; its progress is shown as it comes.

    BadEnvironment with its last words if it fails.
    """
    command = [str(python), "-P", "-m", "track.cli", "--pins", str(pins.resolve()), *words]
    with tempfile.TemporaryFile() as printed:
        code, said = _run(command, root, printed)
        printed.seek(0)
        found = printed.read()
    if code:
        raise BadEnvironment(
            "the kernels could not be judged at the new pin",
            {"python": python, "exit code": code, "it said": said},
            f"see it alone: PYTHONPATH=tools {' '.join(command)}",
        )
    return found


def _run(command: list[str], root: Path, printed: IO[bytes]) -> tuple[int, str]:
    """Run the command, its output into a file; pass on what it says meanwhile, and return its code and last words."""
    last = b""
    with subprocess.Popen(
        command, cwd=root, env=_environment(), stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.PIPE
    ) as child:
        while child.stderr and (chunk := os.read(child.stderr.fileno(), 1 << 16)):
            click.echo(chunk, nl=False, err=True)
            last = (last + chunk)[-_LAST_WORDS:]
    said = [line.strip() for line in _ESCAPE.sub("", last.decode(errors="replace")).splitlines() if line.strip()]
    return child.returncode, "\n".join(said[-_LAST_LINES:])


def _environment() -> dict[str, str]:
    """Ours, with our tools, which no other environment has, and a bar on a terminal though the child sees a pipe."""
    shown = {"TTY_COMPATIBLE": "1"} if sys.stderr.isatty() else {}
    return {**os.environ, **shown, "PYTHONPATH": str(_TOOLS), "JAX_PLATFORMS": "cpu"}
