"""A lab's own commands, in a process of their own: `python kernels/<lab>/lab.py ...`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ended", "said", "told"]

FROM_TRACK = "LAB_FROM_TRACK"  # so that a lab names its next commands as `track lab ...`


@dataclass(frozen=True)
class Ended:
    """What a command said, and its exit code."""

    code: int
    output: str
    error: str


def told(root: Path, folder: str, arguments: Sequence[str]) -> int:
    """Run a command of a lab in sight of the caller; return its exit code."""
    environment = {**os.environ, FROM_TRACK: "1"}
    return subprocess.run(command(root, folder, arguments), env=environment, check=False).returncode


def said(root: Path, folder: str, arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Ended:
    """Run a command of a lab, and read what it says."""
    run = subprocess.run(
        command(root, folder, arguments), env=environment, cwd=root, capture_output=True, text=True, check=False
    )
    return Ended(run.returncode, run.stdout, run.stderr)


def command(root: Path, folder: str, arguments: Sequence[str]) -> list[str]:
    """The command of a lab."""
    return [sys.executable, "-B", str(root / "kernels" / folder / "lab.py"), *arguments]
