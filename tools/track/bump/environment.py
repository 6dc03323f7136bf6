"""An environment with the candidate in it, beside the one that we run in: the same lock, but for what must move."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from track.bump.candidate import Candidate
from track.bump.wanted import folder_of, told_of_a_full_disk
from track.errors import BadEnvironment, BadInput, Finding
from track.files import digest, exclusive, write_if_changed
from track.pins import uv
from track.pins.progress import Progress, Quiet

__all__ = ["lock", "make", "requirements"]

_UV_SECONDS = 1200
_EXTRAS = ("", "tpu", "cuda13")  # of what a release asks for: always, for the TPU compiler, for the CUDA compiler
_EXACT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;#]+)")
# As in the Makefile: the lock of the candidate is what `make lock` would make of its requirements.
_COMPILE = (
    *("pip", "compile", "--quiet", "--universal", "--python-version", "3.12", "--generate-hashes"),
    *("--no-emit-index-url", "--custom-compile-command", "make lock"),
)


def make(root: Path, candidate: Candidate, progress: Progress | None = None) -> Path:
    """The Python of an environment that holds the site's requirements with the candidate's versions.

    It lies in `build/bump/`, and is made again only if the requirements, the lock or the Python changed.

    Errors: BadEnvironment with uv's last words where it cannot be made; Finding if another wheel than the candidate's
    would be installed. A half-made environment is removed, at the latest by the next call.
    """
    release = candidate.pin.release
    folder = folder_of(root, release)
    environment, stamp = folder / "env", folder / "env" / "made-from"
    text = requirements((root / "requirements" / "site.in").read_text("utf-8"), candidate)
    locked = (root / "requirements" / "site.txt").read_text("utf-8")
    wanted = digest(text, locked, release.sha256, sys.version, sys.base_prefix, str(folder))
    python = environment / "bin" / "python"
    with told_of_a_full_disk(candidate.pin), exclusive(folder / ".lock", f"bump to {release}"):
        if stamp.is_file() and stamp.read_text("utf-8") == wanted:
            return python
        with (progress or Quiet()).busy(f"making an environment with {release}"):
            shutil.rmtree(environment, ignore_errors=True)
            _lock(folder, text, locked, candidate)
            _install(folder, candidate)
        write_if_changed(stamp, wanted)
    return python


def lock(root: Path, candidate: Candidate) -> Path:
    """Where `make` leaves the hash-locked requirements: `make lock` would make the same of `requirements`."""
    return folder_of(root, candidate.pin.release) / "requirements" / "site.txt"


def requirements(text: str, candidate: Candidate) -> str:
    """The text of requirements/site.in with the candidate's versions; comments and all other lines stay.

    A line with an exact version follows what the candidate's metadata asks for exactly; one with the version that the
    project itself had goes with it; every other line stays.
    """
    release = candidate.pin.release
    name = canonicalize_name(release.distribution)
    had = {canonicalize_name(m["name"]): m["version"] for line in text.splitlines() if (m := _EXACT.match(line))}
    if name not in had:
        raise BadInput(f"no exact version of {name} is required", {"file": "requirements/site.in"}, f"add {name}==...")
    exact = {**_exact(candidate.asks), name: release.version}
    moved: dict[str, str] = {
        one: exact.get(one, release.version if version == had[name] else version) for one, version in had.items()
    }
    return "".join(_line(line, moved, had[name], release.version) for line in text.splitlines(keepends=True))


def _line(line: str, moved: Mapping[str, str], old: str, new: str) -> str:
    match = _EXACT.match(line)
    if match is None or moved[canonicalize_name(match["name"])] == match["version"]:
        return line
    code, sign, comment = line.partition("#")
    code = f"{match['name']}=={moved[canonicalize_name(match['name'])]}{code[match.end() :]}"
    if not sign:
        return code
    column = line.index("#")
    said = re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w.])", new, comment)  # "the one that jax[tpu] 0.11.2 names"
    return f"{code.rstrip()} ".ljust(column) + sign + said


def _exact(asks: tuple[str, ...]) -> dict[str, str]:
    """The packages that are asked for in one version only, such as `0.12.0.1` or `0.0.50.*`."""
    sets: dict[str, SpecifierSet] = {}
    for one in map(Requirement, asks):
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in _EXTRAS):
            name = canonicalize_name(one.name)
            sets[name] = sets.get(name, SpecifierSet()) & one.specifier
    return {name: version for name, wanted in sets.items() if (version := _only(wanted))}


def _only(wanted: SpecifierSet) -> str | None:
    """The one version that the set admits, if it says so by `==`, or by `<=` and `>=` of the same."""
    by = {operator: {one.version for one in wanted if one.operator == operator} for operator in ("==", "<=", ">=")}
    return next(iter(by["=="] or (by["<="] & by[">="])), None)


def _lock(folder: Path, text: str, locked: str, candidate: Candidate) -> None:
    """Lock the new requirements; what need not move stays as the checkout's lock has it."""
    path = folder / "requirements" / "site.txt"
    write_if_changed(folder / "requirements" / "site.in", text)
    write_if_changed(path, locked)
    _uv(folder, candidate, *_COMPILE, "requirements/site.in", "--output-file", "requirements/site.txt")
    if f"sha256:{candidate.pin.release.sha256}" not in path.read_text("utf-8"):
        raise Finding(
            f"the package index has other wheels of {candidate.pin.release} than the one that was read",
            {"expected": candidate.pin.release.sha256},
            "run the same command again; if it stays so, ask why a release has changed",
        )


def _install(folder: Path, candidate: Candidate) -> None:
    try:
        _uv(folder, candidate, "venv", "--quiet", "--python", sys.executable, "env")
        options = ["--python", "env/bin/python", "--require-hashes", "--only-binary", ":all:"]
        _uv(folder, candidate, "pip", "install", "--quiet", *options, "--requirement", "requirements/site.txt")
    except BadEnvironment:
        shutil.rmtree(folder / "env", ignore_errors=True)
        raise


def _uv(folder: Path, candidate: Candidate, *command: str) -> None:
    asked = [uv.program(), *command]
    try:
        subprocess.run(
            asked, cwd=folder, env=uv.environment(), check=True, capture_output=True, text=True, timeout=_UV_SECONDS
        )
    except subprocess.CalledProcessError as error:
        raise _failure(candidate, error.stderr) from None
    except subprocess.TimeoutExpired:
        raise _failure(candidate, f"not done within {_UV_SECONDS} seconds") from None


def _failure(candidate: Candidate, said: str) -> BadEnvironment:
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("warning")]
    return BadEnvironment(
        f"no environment with {candidate.pin.release} could be made",
        {"uv said": "\n".join(lines[-12:])},
        "check the connection and the space on the disk; packages that exclude each other must first agree in "
        "requirements/site.in",
    )
