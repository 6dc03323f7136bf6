"""Releases from PyPI: wheels in `build/wheels/`, known by their SHA-256, and the pinned files in them."""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from track.errors import BadEnvironment, Finding, TrackError
from track.pins.lock import Pin, Release
from track.pins.progress import Progress, Quiet

__all__ = ["fetch", "find", "inside", "named_commit", "pip_download", "read", "said_in_short", "sha256_of"]

_PIP_SECONDS = 600


def fetch(release: Release, folder: Path, progress: Progress | None = None) -> Path:
    """The release's wheel in `folder`, downloaded by hash if it is not there yet."""
    found = find(release, folder)
    if found is not None:
        return found
    folder.mkdir(parents=True, exist_ok=True)
    # pip writes beside the wheels, so that moving the finished file into place is one step.
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as partial:
        with (progress or Quiet()).busy(f"downloading {release}"):
            _download(release, Path(partial))
        got = find(release, Path(partial))
        if got is None:
            raise BadEnvironment(f"pip brought no wheel of {release} with the pinned hash", {"sha256": release.sha256})
        return got.replace(folder / got.name)


def find(release: Release, folder: Path) -> Path | None:
    """The wheel with the release's hash; a file with its name and other bytes does not count."""
    for path in sorted(folder.glob(f"{release.stem}-*.whl")):
        if sha256_of(path) == release.sha256:
            return path
    return None


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def pip_download(folder: Path, *asked: str) -> str:
    """Let pip bring one wheel into `folder`; return its warnings. CalledProcessError or TimeoutExpired if it cannot."""
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--retries=1", "--quiet", f"--dest={folder}"]
    command = [sys.executable, "-m", "pip", "download", *options, *asked]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PIP_SECONDS).stderr


def _download(release: Release, folder: Path) -> None:
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{release.distribution}=={release.version} --hash=sha256:{release.sha256}\n")
    try:
        pip_download(folder, "--require-hashes", f"--requirement={requirement}")
    except subprocess.CalledProcessError as error:
        raise _failure(release, error.stderr) from None
    except subprocess.TimeoutExpired as error:
        raise _failure(release, f"no answer within {error.timeout:g} seconds") from None


def _failure(release: Release, said: str) -> TrackError:
    details = {"wheel": release, "sha256": release.sha256, "pip said": said_in_short(said)}
    if "DO NOT MATCH THE HASHES" in said:
        return Finding(f"the wheel of {release} is not the one that is pinned", details, "check wheel_sha256")
    next_step = "connect to a package index and run again, or put the wheel's file into build/wheels/"
    return BadEnvironment(f"the wheel of {release} is not here and could not be downloaded", details, next_step)


def said_in_short(said: str) -> str:
    """The last lines of what pip wrote, less its warnings."""
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith(("WARNING", "[notice]"))]
    return "\n".join(lines[-4:])


def inside(release: Release, path: str) -> str:
    """Where a wheel keeps a file of the repository: those of the top folder are in the licenses folder."""
    if "/" in path:
        return path
    return f"{release.stem}.dist-info/licenses/{path}"


def read(pin: Pin, wheel: Path) -> Mapping[str, bytes]:
    """The pinned files that the wheel has, by path in the repository, less the one that a release rewrites.

    Finding if the wheel names another commit than the pin.
    """
    with zipfile.ZipFile(wheel) as archive:
        _check_commit(pin, named_commit(archive, pin.version_file))
        names = set(archive.namelist())
        places = {path: inside(pin.release, path) for path in pin.files if path != pin.version_file}
        return {path: archive.read(place) for path, place in places.items() if place in names}


def named_commit(archive: zipfile.ZipFile, version_file: str) -> str | None:
    """The commit that the release says it was made from; it is read, not run.

    jax says it in the file that a release rewrites, tokamax in a module of its own.
    """
    project = version_file.partition("/")[0]
    places = {version_file: "_git_hash", f"{project}/_src/version.py": f"{project.upper()}_GIT_REVISION"}
    there = [(path, name) for path, name in places.items() if path in archive.namelist()]
    found = (_text_of(ast.parse(archive.read(path)), name) for path, name in there)
    return next(filter(None, found), None)


def _text_of(module: ast.Module, name: str) -> str | None:
    """The text that a module gives a name, written as a literal."""
    for node in module.body:
        match node:
            case (
                ast.AnnAssign(target=ast.Name(here), value=ast.Constant(str(text)))
                | ast.Assign(targets=[ast.Name(here)], value=ast.Constant(str(text)))
            ) if here == name:
                return text
            case _:
                pass
    return None


def _check_commit(pin: Pin, named: str | None) -> None:
    expected = pin.commit if pin.wheel_names_commit else None
    if named != expected:
        raise Finding(
            f"the wheel of {pin.release} was not made from the pinned commit",
            {"pin": pin, "expected": expected or "no commit named", "found": named or "no commit named"},
            f"correct commit or wheel_names_commit of {pin.project} in pins.toml",
        )
