"""Source trees are made whole or not at all, either way with the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from track.errors import BadEnvironment, BadInput, Finding
from track.pins import lock
from track.pins.lock import Blob, Pin
from track.pins.sync import Source, sync, tree_folder
from track.pins.tree import SourceTree

if TYPE_CHECKING:
    from .conftest import Mirrored, Small

ROOT = Path(__file__).parents[2]


class Lines:
    """A progress that keeps what it was told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    @contextmanager
    def busy(self, what: str) -> Generator[None]:
        del what
        yield

    def say(self, line: str) -> None:
        self.said.append(line)


def contents(tree: SourceTree) -> dict[str, bytes]:
    return {path: tree.read(path) for path in tree.paths}


def test_git_and_wheel_bring_the_same_bytes(root: Path, earlier: Mapping[str, Pin], mirrored: Mirrored) -> None:
    """jax 0.11.0 and tokamax 0.0.13, file by file; only the file that a release rewrites is left out."""
    from_git = sync(root, mirrored.pins, "git", mirrored.folders)
    from_wheel = sync(root, earlier, "wheel")
    assert {tree.kind for tree in from_git.values()} == {"git"}
    assert {tree.kind for tree in from_wheel.values()} == {"wheel"}
    for project, tree in from_wheel.items():
        of_git = contents(from_git[project])
        of_git.pop("jax/version.py", None)
        assert of_git == contents(tree)


def test_the_committed_version_file_comes_from_git_alone(
    root: Path, earlier: Mapping[str, Pin], mirrored: Mirrored
) -> None:
    """In git it names no commit; the wheel's is not the commit's, and is not given out."""
    assert "_git_hash: str | None = None" in sync(root, mirrored.pins, "git", mirrored.folders)["jax"].text(
        "jax/version.py"
    )
    tree = sync(root, earlier, "wheel")["jax"]
    assert "jax/version.py" not in tree.paths
    with pytest.raises(BadInput, match="can only come from git"):
        tree.read("jax/version.py")


@pytest.mark.usefixtures("no_network")
def test_auto_takes_the_wheel_where_git_cannot_reach(root: Path, pins: Mapping[str, Pin]) -> None:
    """It says so, and why."""
    lines = Lines()
    trees = sync(root, pins, progress=lines)
    assert {tree.kind for tree in trees.values()} == {"wheel"}
    assert lines.said[0] == (
        "jax 3254480: git could not reach https://github.com/jax-ml/jax; taking the wheel of jax 0.11.2"
    )
    assert lines.said[1] == f"jax 3254480: {len(pins['jax'].files)} files from the wheel of jax 0.11.2"


@pytest.mark.usefixtures("no_network")
def test_git_that_cannot_reach_is_an_error_when_asked_for(root: Path, pins: Mapping[str, Pin]) -> None:
    """`--from git` never takes a wheel."""
    with pytest.raises(BadEnvironment, match="could not reach https://github"):
        sync(root, pins, "git")


def test_a_machine_without_git_takes_the_wheel(
    root: Path, pins: Mapping[str, Pin], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says what to install, if git was asked for."""
    monkeypatch.setenv("PATH", str(root))
    with pytest.raises(BadEnvironment, match="no git program") as caught:
        sync(root, pins, "git")
    assert "install git" in caught.value.next_step
    assert {tree.kind for tree in sync(root, pins).values()} == {"wheel"}


@pytest.mark.usefixtures("no_network")
def test_no_network_and_no_wheel_is_one_clear_error(tmp_path: Path, pins: Mapping[str, Pin]) -> None:
    """Nothing is left but the lock."""
    with pytest.raises(BadEnvironment, match=r"the wheel of jax 0\.11\.2 is not here") as caught:
        sync(tmp_path, pins)
    assert caught.value.next_step
    assert [path.name for path in (tmp_path / "build" / "sources").iterdir()] == [".lock"]
    assert list((tmp_path / "build" / "wheels").iterdir()) == []


def test_auto_prefers_git_and_names_it(small: Small, tmp_path: Path) -> None:
    """A mirror counts as the repository."""
    lines = Lines()
    tree = sync(tmp_path, {"tokamax": small.publish()}, mirror=str(small.folder), progress=lines)["tokamax"]
    assert tree.kind == "git"
    assert lines.said == [f"{tree.pin}: 1 files from git"]


def test_a_mirror_of_a_wheel_makes_no_sense(root: Path, pins: Mapping[str, Pin]) -> None:
    """Two options that contradict each other are an error."""
    with pytest.raises(BadInput, match="a mirror is a git repository"):
        sync(root, pins, "wheel", "somewhere")


@pytest.mark.parametrize("source", ["git", "wheel"])
def test_a_pinned_id_that_is_wrong_stops_the_sync(
    root: Path, earlier: Mapping[str, Pin], mirrored: Mirrored, source: Source
) -> None:
    """Both ids are named, and no tree is made."""
    path = "jax/_src/pallas/core.py"
    pin = (mirrored.pins if source == "git" else earlier)["jax"]
    wrong = msgspec.structs.replace(pin, files={**pin.files, path: Blob("git", "1" * 40)})
    with pytest.raises(Finding) as caught:
        sync(root, {"jax": wrong}, source, mirrored.folders["jax"] if source == "git" else None)
    assert path in caught.value.what
    assert "1" * 40 in caught.value.details["expected"]
    assert pin.blob(path).id in caught.value.details["found"]
    assert not tree_folder(root, wrong).exists()


def test_a_file_that_only_git_has_is_said_plainly(root: Path, earlier: Mapping[str, Pin]) -> None:
    """The wheel of jax lacks the tree's build files."""
    pin = earlier["jax"]
    more = {**pin.files, "jax/_src/pallas/BUILD": Blob("git", "1" * 40)}
    with pytest.raises(BadEnvironment, match="can only come from git") as caught:
        sync(root, {"jax": msgspec.structs.replace(pin, files=more)}, "wheel")
    assert caught.value.details["files"] == "jax/_src/pallas/BUILD"
    assert "--from git" in caught.value.next_step


@pytest.mark.usefixtures("no_network")
def test_what_is_there_is_opened_in_no_time(root: Path, pins: Mapping[str, Pin]) -> None:
    """Every file is hashed again, and nothing is said: under 50 ms for about 100 files."""
    sync(root, pins, "wheel")
    for path in (root / "build" / "wheels").iterdir():
        path.unlink()
    lines = Lines()
    seconds: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        sync(root, pins, progress=lines)
        seconds.append(time.perf_counter() - start)
    assert lines.said == []
    assert min(seconds) < 0.05


def test_a_changed_byte_on_disk_is_found_at_the_next_sync(root: Path, pins: Mapping[str, Pin]) -> None:
    """A tree is proved each time that it is opened."""
    tree = sync(root, pins, "wheel")["jax"]
    path = tree.folder / "jax" / "_src" / "pallas" / "core.py"
    path.write_bytes(path.read_bytes().replace(b"2023", b"2022", 1))
    with pytest.raises(Finding, match=r"core\.py is not the file that is pinned"):
        sync(root, pins)


@pytest.mark.parametrize("damage", ["no marker", "half a marker", "a file gone"])
def test_a_half_made_tree_is_made_again(root: Path, pins: Mapping[str, Pin], damage: str) -> None:
    """Without its marker, which is written last, or without a file, a folder is no tree."""
    folder = sync(root, pins, "wheel")["jax"].folder
    marker = folder / ".origin.json"
    if damage == "no marker":
        marker.unlink()
    elif damage == "half a marker":
        marker.write_bytes(marker.read_bytes()[:9])
    else:
        (folder / "LICENSE").unlink()
    tree = sync(root, pins, "wheel")["jax"]
    assert len(contents(tree)) == len(pins["jax"].files)


def test_a_newly_pinned_file_is_brought(root: Path, pins: Mapping[str, Pin]) -> None:
    """A tree that lacks it is made again."""
    pin = pins["jax"]
    fewer = msgspec.structs.replace(pin, files={"LICENSE": pin.files["LICENSE"]})
    assert sync(root, {"jax": fewer}, "wheel")["jax"].paths == ("LICENSE",)
    assert len(sync(root, {"jax": pin}, "wheel")["jax"].paths) == len(pin.files)


def test_asking_for_the_other_way_makes_the_tree_again(root: Path, mirrored: Mirrored) -> None:
    """`--from git` replaces a tree from the wheel, and `auto` is content with either."""
    pin = mirrored.pins["tokamax"]  # tokamax's wheel names no commit, so it fits the test's own too
    assert sync(root, {"tokamax": pin}, "wheel")["tokamax"].kind == "wheel"
    assert sync(root, {"tokamax": pin}, "git", mirrored.folders)["tokamax"].kind == "git"
    assert sync(root, {"tokamax": pin})["tokamax"].kind == "git"


# A process that stops for ever just before the finished tree is moved into place.
STOPS = """
import sys, time
from pathlib import Path
from track.pins import lock, sync

def stop(*_):
    print("half made", flush=True)
    time.sleep(600)

Path.rename = stop
sync.sync(Path(sys.argv[1]), lock.read(Path(sys.argv[2])), "wheel")
"""


def test_a_kill_leaves_nothing_that_counts(root: Path, pins: Mapping[str, Pin]) -> None:
    """The next sync clears away what was left, and makes the tree."""
    command = [sys.executable, "-c", STOPS, str(root), str(ROOT / "pins.toml")]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half made\n"
        process.send_signal(signal.SIGKILL)
    sources = root / "build" / "sources"
    assert list(sources.glob(".partial-*"))
    assert not tree_folder(root, pins["jax"]).exists()
    assert sync(root, pins, "wheel")["jax"].kind == "wheel"
    assert not list(sources.glob(".partial-*"))


def test_two_at_once_take_turns(root: Path) -> None:
    """Both end well, and the trees are made once."""
    code = "import sys; from pathlib import Path; from track.pins import lock, sync\n"
    code += "sync.sync(Path(sys.argv[1]), lock.read(Path(sys.argv[2])), 'wheel')"
    command = [sys.executable, "-c", code, str(root), str(ROOT / "pins.toml")]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    both = [subprocess.Popen(command, env=env) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert {tree.kind for tree in sync(root, lock.read(ROOT / "pins.toml"), "wheel").values()} == {"wheel"}
