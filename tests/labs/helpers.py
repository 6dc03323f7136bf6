"""Labs, their wrong answers, and a checkout that holds nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

from kernels.lab_first.lab import LAB as FIRST
from kernels.lab_tiled_matmul.lab import LAB as TILES
from kernels.labkit.lab import Lab

ROOT = Path(__file__).parents[2]
LABS = (FIRST, TILES)


def wrong_answers(lab: Lab) -> list[dict[str, str]]:
    """What `wrong.toml` of a lab has."""
    return tomllib.loads((lab.folder / "wrong.toml").read_text("utf-8"))["wrong"]


def changed(lab: Lab, line: str, becomes: str) -> str:
    """The solution with one line made another, which stands in it once."""
    text = lab.solution.read_text("utf-8")
    assert text.count(line) == 1, line
    return text.replace(line, becomes)


def checkout(folder: Path) -> Path:
    """A checkout with the labs alone."""
    skipped = shutil.ignore_patterns("__pycache__")
    for name in ("labkit", "lab_first", "lab_tiled_matmul"):
        shutil.copytree(ROOT / "kernels" / name, folder / "kernels" / name, ignore=skipped)
    for name in ("kernels/__init__.py", "pins.toml"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def there(lab: Lab, root: Path, **changes: float) -> Lab:
    """The lab in another checkout."""
    return replace(lab, folder=root / "kernels" / lab.folder.name, **changes)


def script(root: Path, folder: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """`python kernels/<lab>/lab.py`, as a learner runs it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    command = [sys.executable, "-B", str(root / "kernels" / folder / "lab.py"), *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=110)
