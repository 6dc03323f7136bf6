"""uv, which makes environments with other releases than the one that we run in."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from track.errors import BadEnvironment

__all__ = ["environment", "program"]


def program() -> str:
    """The uv beside our own Python, or else the first on PATH; BadEnvironment if there is none."""
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.is_file() else shutil.which("uv")
    if uv is None:
        raise BadEnvironment("an environment is made by uv, which is not here", next_step="tools/setup.sh test")
    return uv


def environment() -> dict[str, str]:
    """The variables to run it with: it brings no Python, and does not take the environment around it for its own."""
    return {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "VIRTUAL_ENV": ""}
