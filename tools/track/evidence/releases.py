"""Which backend of Pallas a GPU gets in each release of jax: every release is run, and its answers are committed.

A release needs a jaxlib of its own, so this is no part of a build: `track releases` makes an environment for each and
writes `docs/start/releases.json`, as a record of hardware is written by hand on a machine that has it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from track.errors import BadEnvironment, BadInput
from track.files import write_if_changed
from track.pins import history, uv, wheel
from track.pins.lock import Release
from track.pins.progress import Progress, Quiet

__all__ = ["PATH", "WAYS", "Answer", "Answers", "ask", "read", "write"]

PATH = "docs/start/releases.json"
WAYS = ("default", "triton", "mosaic_gpu")
OPTIONS = ("--quiet", "--isolated", "--no-project", "--no-config")
_SECONDS = 600


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a kernel that was called in one way.

    `calls` are the targets of the custom calls in the lowered program, `warned` is what jax warned of while it was
    lowered, and `error` is what it raised, the type first; empty where it raised nothing.
    """

    jax: str
    jaxlib: str
    calls: tuple[str, ...]
    warned: tuple[str, ...]
    error: str


class Answers(Struct, frozen=True, forbid_unknown_fields=True):
    """The answers of all releases, by version and way, on one day (YYYY-MM-DD) under one Python."""

    date: str
    python: str
    releases: dict[str, dict[str, Answer]]


def ask(way: str, of: Path | None = None) -> Answer:
    """The answer of our own jax, or of the one in the wheel `of`, in a fresh process.

    Errors: BadEnvironment with the last lines of what the process said if it gives no answer, or if there is no uv.
    """
    python = [sys.executable]
    if of:
        # Up to 0.10.2 jax imports absl for Mosaic GPU and does not ask for it.
        packages = ["--with", str(of), "--with", "absl-py"]
        python = [uv.program(), "run", *OPTIONS, "--python", sys.executable, *packages]
    command = [*python, str(Path(__file__).with_name("gpu_ways.py")), way]
    environment = {**uv.environment(), "JAX_PLATFORMS": "cpu"}
    try:
        ran = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True, timeout=_SECONDS
        ).stdout
        return msgspec.json.decode(ran, type=Answer)
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        said = getattr(error, "stderr", None) or str(error)
        details = {
            "release": of.name if of else "the installed jax",
            "way": way,
            "found": "\n".join(str(said).strip().splitlines()[-6:]),
        }
        raise BadEnvironment("a release cannot be asked which backend a GPU gets", details, "make test") from error


def write(root: Path, date: str, progress: Progress | None = None) -> bool:
    """Ask every jax of `requirements/history.txt` and keep the answers; return whether the file changed."""
    releases = [one for one in history.read(root / "requirements" / "history.txt") if one.distribution == "jax"]
    answers = {one.version: dict(_answers(root, one, progress or Quiet())) for one in releases}
    found = Answers(date, ".".join(map(str, sys.version_info[:2])), answers)
    return write_if_changed(root / PATH, msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def _answers(root: Path, release: Release, progress: Progress) -> Iterable[tuple[str, Answer]]:
    found = wheel.fetch(release, root / "build" / "wheels", progress)
    with progress.busy(f"asking {release}"):
        for way in WAYS:
            yield way, ask(way, found)


def read(root: Path) -> Answers:
    """The committed answers; BadInput where the file cannot be read."""
    try:
        return msgspec.json.decode((root / PATH).read_bytes(), type=Answers)
    except (FileNotFoundError, msgspec.DecodeError) as error:
        raise BadInput(
            "no answers of releases can be read", {"file": PATH, "found": error}, "track releases"
        ) from error
