"""Real pins, real wheels, and git repositories that are built from them."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from track.pins import lock, wheel
from track.pins.lock import Blob, Pin

ROOT = Path(__file__).parents[2]
RELEASED = b"_release_version: str = '0.11.0'"
NAMED = b"_git_hash: str = 'a1521744c6dc074443fe549f19f48d7197abf759'"


@pytest.fixture(scope="session")
def pins() -> Mapping[str, Pin]:
    """The pins that the site is built from."""
    return lock.read(ROOT / "pins.toml")


@pytest.fixture(scope="session")
def earlier() -> Mapping[str, Pin]:
    """An earlier pair of pins, whose ids were all read in git."""
    return lock.read(ROOT / "tests" / "pins" / "earlier.toml")


@pytest.fixture
def root(tmp_path: Path, pins: Mapping[str, Pin], earlier: Mapping[str, Pin]) -> Path:
    """A checkout that has the wheels of both pairs of pins, and no source tree."""
    wheels = tmp_path / "root" / "build" / "wheels"
    wheels.mkdir(parents=True)
    for found in {wheel_of(pin) for pin in (*pins.values(), *earlier.values())}:
        shutil.copy(found, wheels)
    return tmp_path / "root"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine whose pip finds no index and no wheel, and whose git finds no host."""
    (tmp_path / "nothing").mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nothing"))
    # Nothing listens on the discard port, so a connection is refused at once.
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")


def wheel_of(pin: Pin) -> Path:
    """The pin's wheel, which the set-up of `make test` has fetched."""
    found = wheel.find(pin.release, ROOT / "build" / "wheels")
    if found is None:
        pytest.fail(f"build/wheels has no {pin.release}: `make test` fetches it")
    return found


def run_git(folder: Path, *command: str) -> str:
    """Run the real git, alone with its repository, and return what it printed."""
    nobody = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "n@localhost", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z"}
    committer = {key.replace("AUTHOR", "COMMITTER"): value for key, value in nobody.items()}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    env = {"PATH": os.environ["PATH"], **nobody, **committer, **alone}
    done = subprocess.run(["git", *command], cwd=folder, env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def stage(work: Path, files: Mapping[str, bytes]) -> Path:
    """Begin a repository in `work` whose index holds `files`."""
    for path, data in files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_bytes(data)
    run_git(work, "init", "--quiet")
    run_git(work, "add", "--force", ".")
    return work


def publish(work: Path, folder: Path) -> str:
    """Commit what is staged in `work`; make `folder` a bare copy that serves any object and heeds filters."""
    run_git(work, "commit", "--quiet", "--message", "files")
    run_git(work, "clone", "--quiet", "--bare", str(work), str(folder))
    run_git(folder, "config", "uploadpack.allowFilter", "true")
    run_git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    return run_git(work, "rev-parse", "HEAD")


@pytest.fixture(scope="session")
def git() -> Callable[..., str]:
    """The real git, as a function of a folder and a command."""
    return run_git


@dataclass(frozen=True)
class Mirrored:
    """Pins, and the folder of each one's repository."""

    pins: Mapping[str, Pin]
    folders: Mapping[str, str]


@dataclass(frozen=True)
class Small:
    """A small repository: what is staged in `work` is published as the bare repository `folder`."""

    work: Path
    folder: Path
    pin: Pin

    def publish(self) -> Pin:
        """The pin at the commit that was made."""
        return msgspec.structs.replace(self.pin, commit=publish(self.work, self.folder))


@pytest.fixture
def small(tmp_path: Path, pins: Mapping[str, Pin]) -> Small:
    """A repository of two files, the first of them pinned, with no wheel; their ids are from `git hash-object`."""
    work = stage(tmp_path / "work", {"pkg/a.py": b"a = 1\n", "pkg/b.py": b"b = 2\n"})
    blob = Blob("git", run_git(work, "hash-object", "pkg/a.py"))
    return Small(work, tmp_path / "small.git", msgspec.structs.replace(pins["tokamax"], files={"pkg/a.py": blob}))


def released_files(pin: Pin) -> dict[str, bytes]:
    """Every file of the pin's package, and its license, as the commit has them, from the wheel.

    A release only rewrites two lines of `jax/version.py`: put back, they give the id that git has for it.
    """
    with zipfile.ZipFile(wheel_of(pin)) as archive:
        names = [name for name in archive.namelist() if name.startswith(f"{pin.project}/") or "/licenses/" in name]
        files = {name.rpartition("/licenses/")[2]: archive.read(name) for name in names}
    if pin.version_file in pin.files:
        committed = files[pin.version_file].replace(RELEASED, b"_release_version: str | None = None")
        files[pin.version_file] = committed.replace(NAMED, b"_git_hash: str | None = None")
    return files


@pytest.fixture(scope="session")
def mirrored(earlier: Mapping[str, Pin], tmp_path_factory: pytest.TempPathFactory) -> Mirrored:
    """The earlier pins at the commits of repositories built from their wheels, and those repositories' folders."""
    moved: dict[str, Pin] = {}
    folders: dict[str, str] = {}
    for project, pin in earlier.items():
        base = tmp_path_factory.mktemp(project)
        commit = publish(stage(base / "work", released_files(pin)), base / "mirror.git")
        moved[project] = msgspec.structs.replace(pin, commit=commit)
        folders[project] = str(base / "mirror.git")
    return Mirrored(moved, folders)
