"""A command in a process of its own, which is ended at a limit, with all that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

__all__ = ["STILL_RUNNING", "run", "tail"]

STILL_RUNNING = "it was still running"


def run(command: Sequence[str], folder: Path, limit: float, out: int, error: int) -> str:
    """Run a command in a folder; return how its process ended, in words."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONUNBUFFERED": "1", "JAX_TRACEBACK_FILTERING": "off"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=error, start_new_session=True
    ) as child:
        try:
            return words(child.wait(limit))
        except subprocess.TimeoutExpired:
            return f"{STILL_RUNNING} after {limit:g} seconds"
        finally:
            end(child)


def words(code: int) -> str:
    """An exit code in words."""
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"its process ended by signal {-code}, {signal.Signals(-code).name}"
    return f"its process ended with exit code {code}"


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:  # Windows
            child.kill()


def tail(text: str, most: int) -> str:
    """The last lines, and how many came before."""
    lines = text.rstrip().splitlines()
    left = len(lines) - most
    return "\n".join([*([f"... {left:,} lines more"] if left > 0 else []), *(line[:200] for line in lines[-most:])])
