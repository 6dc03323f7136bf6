"""A version, `newest` or a commit becomes a pin whose bytes were looked at, or an error that says why not."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from tests.bump.tiny import COMMIT, FILES, make_wheel, pin_of, release
from tests.pins.conftest import publish, run_git, stage
from track.bump.candidate import find, scope
from track.errors import BadEnvironment, BadInput, Finding
from track.pins import lock, wheel
from track.pins.lock import Blob, Pin

if TYPE_CHECKING:
    from .conftest import Tiny

ROOT = Path(__file__).parents[2]
NEXT = "2" * 40


def offer(tiny: Tiny, version: str, files: dict[str, bytes] | None = None, commit: str | None = NEXT) -> Path:
    return make_wheel(tiny.index.folder, version, FILES if files is None else files, commit)


# --- a version ---


def test_a_version_gives_its_commit_its_files_and_what_vanished(tiny: Tiny, tmp_path: Path) -> None:
    """Ids are those of `git hash-object`."""
    offer(tiny, "1.1", {"tiny/a.py": b"a = 2\n"})
    found = find(tiny.root, tiny.pin, "1.1")
    (tmp_path / "a.py").write_bytes(b"a = 2\n")
    assert found is not None
    assert (found.pin.commit, str(found.pin.release), found.pin.wheel_names_commit) == (NEXT, "tiny 1.1", True)
    assert found.pin.files == {"tiny/a.py": Blob("wheel", run_git(tmp_path, "hash-object", "a.py"))}
    assert found.missing == ("tiny/sub/b.py",)
    assert found.pin.release == release(tiny.wheels / "tiny-1.1-py3-none-any.whl")


def test_the_scope_is_the_folders_that_hold_a_pinned_file_and_new_ones_below(tiny: Tiny) -> None:
    """So that what was moved or split can be found; a folder that was there before and is unread stays out."""
    unread = {"tiny/other/c.py": b"c = 1\n", "outside/d.py": b"d = 1\n", "tiny/a.txt": b"text"}
    old = make_wheel(tiny.root, "1.0", {**FILES, **unread}, COMMIT)
    files = {
        **FILES,
        **unread,
        "tiny/e.py": b"",
        "tiny/new/f.py": b"",
        "tiny/new/deep/g.py": b"",
        "elsewhere/h.py": b"",
    }
    new = make_wheel(tiny.root, "1.1", files, NEXT)
    assert [*scope(tiny.pin, old)] == ["tiny/a.py", "tiny/sub/b.py", "tiny/version.py"]
    beside = ["tiny/a.py", "tiny/e.py", "tiny/new/deep/g.py", "tiny/new/f.py", "tiny/sub/b.py", "tiny/version.py"]
    assert [*scope(tiny.pin, new, old)] == beside


def test_newest_is_what_the_index_says_and_none_where_that_is_the_pin(tiny: Tiny) -> None:
    """A yanked one and a pre-release are not it."""
    assert find(tiny.root, tiny.pin, "newest") is None
    for version in ("1.2", "1.10", "1.11", "2.0rc1"):
        offer(tiny, version)
    tiny.index.yanked["1.11"] = "broken"
    found = find(tiny.root, tiny.pin, "newest")
    assert found is not None
    assert found.pin.release.version == "1.10"


def test_an_index_that_lags_behind_the_pin_has_nothing_newer(tiny: Tiny) -> None:
    """A mirror may be old."""
    pin = pin_of(make_wheel(tiny.wheels, "3.0", FILES, COMMIT), COMMIT)
    assert find(tiny.root, pin, "newest") is None


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("0.9", "older than the pin"),
        ("1.0", "pinned already"),
        ("1.0.0", "pinned already"),
        (COMMIT, "pinned already"),
        ("main", "no version"),
        ("v1.1", "no version"),
        ("1.1 ; touch x", "no version"),
        ("--index-url=x", "no version"),
        ("", "no version"),
        ("1111111", "named in full"),
        ("A" * 40, "named in full"),
        ("1" * 41, "named in full"),
    ],
)
def test_what_cannot_be_meant_is_said_without_asking_the_index(tiny: Tiny, wanted: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        find(tiny.root, tiny.pin, wanted)
    assert tiny.index.asked == []


def test_the_way_back_from_a_newer_pin_is_named(tiny: Tiny) -> None:
    with pytest.raises(BadInput, match="older") as caught:
        find(tiny.root, tiny.pin, "0.9")
    assert "track pin write tiny" in caught.value.next_step


def test_an_unknown_version_names_those_near_it(tiny: Tiny) -> None:
    for version in ("1.1", "1.2", "1.3", "1.5", "1.10", "2.0"):
        offer(tiny, version)
    with pytest.raises(BadInput, match=r"no tiny 1\.4") as caught:
        find(tiny.root, tiny.pin, "1.4")
    assert caught.value.details["expected"].startswith("1.1, 1.2, 1.3, 1.5, 1.10, 2.0, or")


@pytest.mark.parametrize(("reason", "told"), [("eats data", "eats data"), ("", "none given")])
def test_a_yanked_version_is_refused_with_its_reason(tiny: Tiny, reason: str, told: str) -> None:
    """pip would take it, since it was asked for exactly."""
    offer(tiny, "1.1")
    tiny.index.yanked["1.1"] = reason
    with pytest.raises(BadInput, match=r"tiny 1\.1 was yanked") as caught:
        find(tiny.root, tiny.pin, "1.1")
    assert caught.value.details["reason"] == told
    assert tiny.names() == ["tiny-1.0-py3-none-any.whl"]


def test_a_release_of_the_history_is_taken_by_its_hash(tiny: Tiny) -> None:
    """Its wheel is there, so nothing is asked; were its bytes others, they would not do."""
    known = release(make_wheel(tiny.wheels, "1.1", FILES, NEXT))
    line = f"tiny==1.1 --hash=sha256:{known.sha256}\n"
    (tiny.root / "requirements" / "history.txt").write_text(line)
    found = find(tiny.root, tiny.pin, "1.1.0")
    assert found is not None
    assert found.pin.release == known
    assert tiny.index.asked == []
    (tiny.root / "requirements" / "history.txt").write_text(line.replace(known.sha256, "0" * 64))
    offer(tiny, "1.1")
    with pytest.raises(Finding, match="not the one that is pinned"):
        find(tiny.root, tiny.pin, "1.1")


# --- what a machine can lack ---


def test_without_network_the_error_says_so(tiny: Tiny) -> None:
    offer(tiny, "1.1")
    tiny.index.stop()
    with pytest.raises(BadEnvironment, match="could not be had") as caught:
        find(tiny.root, tiny.pin, "1.1")
    assert "check the connection" in caught.value.next_step
    assert tiny.names() == ["tiny-1.0-py3-none-any.whl"]


def test_a_bump_that_is_resumed_needs_no_network(tiny: Tiny) -> None:
    """The hash of what the index gave is kept, and the wheel is checked against it."""
    offer(tiny, "1.1")
    first = find(tiny.root, tiny.pin, "1.1")
    tiny.index.stop()
    assert find(tiny.root, tiny.pin, "1.1") == first
    (tiny.wheels / "tiny-1.1-py3-none-any.whl").write_bytes(b"other")
    with pytest.raises(BadEnvironment):
        find(tiny.root, tiny.pin, "1.1")


def test_half_a_wheel_is_never_trusted(tiny: Tiny) -> None:
    """Neither one that broke off on the way, nor one that lies under its name."""
    whole = offer(tiny, "1.1")
    tiny.index.cut = True
    with pytest.raises(BadEnvironment):
        find(tiny.root, tiny.pin, "1.1")
    assert tiny.names() == ["tiny-1.0-py3-none-any.whl"]
    tiny.index.cut = False
    (tiny.wheels / whole.name).write_bytes(whole.read_bytes()[:100])
    found = find(tiny.root, tiny.pin, "1.1")
    assert found is not None
    assert found.pin.release == release(whole)


def test_a_killed_download_leaves_nothing_that_is_trusted(tiny: Tiny) -> None:
    """The process dies while half of the wheel is on the disk; the next call has the whole of it."""
    whole = offer(tiny, "1.1")
    tiny.index.slow = threading.Event()
    call = "index.download('tiny', '1.1', pathlib.Path(sys.argv[1]), progress.Quiet())"
    code = f"import pathlib, sys; from track.pins import index, progress; {call}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tiny.wheels)], env=environment, start_new_session=True
    ) as child:
        deadline = time.monotonic() + 60
        while not any(path.startswith("/files/") for path in tiny.index.asked) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(child.pid, 9)
    tiny.index.slow.set()
    tiny.index.slow = None
    assert not (tiny.wheels / whole.name).exists()
    found = find(tiny.root, tiny.pin, "1.1")
    assert found is not None
    assert found.pin.release == release(whole)


@pytest.fixture
def full_disk(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """build/wheels on a disk with no room for the next wheel; where none can be mounted, a write that says so."""
    wheels = tiny.wheels
    kept = {path.name: path.read_bytes() for path in wheels.iterdir()}
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(wheels)], check=False, capture_output=True
    )
    if mounted.returncode == 0:
        for name, data in kept.items():
            (wheels / name).write_bytes(data)
        yield
        subprocess.run(["umount", str(wheels)], check=True)
        return

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    yield


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_is_said_and_leaves_no_half_file(tiny: Tiny) -> None:
    offer(tiny, "1.1", {**FILES, "tiny/big.py": b"#" * 100_000})
    with pytest.raises(BadEnvironment) as caught:
        find(tiny.root, tiny.pin, "1.1")
    assert "free some space" in caught.value.next_step
    assert tiny.names() == ["tiny-1.0-py3-none-any.whl"]


def test_a_full_disk_is_said_where_the_note_is_kept(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is our own write that fails there."""
    offer(tiny, "1.1")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(BadEnvironment, match="no space left"):
        find(tiny.root, tiny.pin, "1.1")
    assert not list((tiny.root / "build" / "bump").rglob("*.json"))


# --- a commit ---


def test_a_commit_is_found_by_the_release_that_names_it(tiny: Tiny) -> None:
    """The newest one, or one of the history."""
    older = release(make_wheel(tiny.wheels, "1.1", FILES, NEXT))
    (tiny.root / "requirements" / "history.txt").write_text(f"tiny==1.1 --hash=sha256:{older.sha256}\n")
    offer(tiny, "1.2", commit="3" * 40)
    for commit, version in ((NEXT, "1.1"), ("3" * 40, "1.2")):
        found = find(tiny.root, tiny.pin, commit)
        assert found is not None
        assert (found.pin.commit, found.pin.release.version) == (commit, version)


def test_a_commit_of_no_release_is_a_finding_that_lists_them(tiny: Tiny) -> None:
    offer(tiny, "1.2")
    with pytest.raises(Finding, match="no release at hand") as caught:
        find(tiny.root, tiny.pin, "4" * 40)
    assert caught.value.details["found"] == f"tiny 1.2: {NEXT}"
    assert "--release" in caught.value.next_step


def test_a_commit_and_a_wheel_of_another_are_a_finding_that_names_both(tiny: Tiny) -> None:
    offer(tiny, "1.1")
    with pytest.raises(Finding, match="made from another commit") as caught:
        find(tiny.root, tiny.pin, "4" * 40, "1.1")
    assert (caught.value.details["expected"], caught.value.details["found"]) == ("4" * 40, NEXT)


def test_a_release_is_named_beside_a_commit_only(tiny: Tiny) -> None:
    with pytest.raises(BadInput, match="beside a commit only"):
        find(tiny.root, tiny.pin, "1.1", "1.2")


def test_a_wheel_cannot_slip_git_an_option(tiny: Tiny, tmp_path: Path) -> None:
    """What a wheel calls its commit is a stranger's text."""
    canary = tmp_path / "canary"
    offer(tiny, "1.1", commit=f"--upload-pack=touch {canary}")
    with pytest.raises(Finding, match="no commit"):
        find(tiny.root, tiny.pin, "1.1")
    assert not canary.exists()


# --- git ---


@pytest.fixture
def mirror(tmp_path: Path) -> tuple[str, str]:
    """A repository with a commit that has the files of release 1.1, and that commit."""
    files = {**FILES, "tiny/a.py": b"a = 2\n", "tiny/version.py": b"_git_hash = None\n"}
    commit = publish(stage(tmp_path / "work", files), tmp_path / "mirror.git")
    return str(tmp_path / "mirror.git"), commit


def test_git_proves_the_files_where_it_can_be_reached(tiny: Tiny, mirror: tuple[str, str]) -> None:
    """The file that a release rewrites is another in the wheel, and is no difference."""
    place, commit = mirror
    pin = msgspec.structs.replace(tiny.pin, files={**tiny.pin.files, "tiny/version.py": Blob("git", "5" * 40)})
    offer(tiny, "1.1", {**FILES, "tiny/a.py": b"a = 2\n"}, commit)
    found = find(tiny.root, pin, "1.1", mirror=place)
    assert found is not None
    work = Path(place).with_name("work")
    assert found.pin.files == {
        path: Blob("git", run_git(work, "hash-object", path)) for path in (*FILES, "tiny/version.py")
    }


def test_files_that_are_not_the_commits_are_named_with_both_ids(
    tiny: Tiny, mirror: tuple[str, str], tmp_path: Path
) -> None:
    place, commit = mirror
    offer(tiny, "1.1", {**FILES, "tiny/a.py": b"a = 3\n"}, commit)
    with pytest.raises(Finding, match="files differ") as caught:
        find(tiny.root, tiny.pin, "1.1", mirror=place)
    (tmp_path / "a.py").write_bytes(b"a = 3\n")
    theirs = run_git(Path(place), "rev-parse", f"{commit}:tiny/a.py")
    ours = run_git(tmp_path, "hash-object", "a.py")
    assert caught.value.details["blob ids"] == f"tiny/a.py: commit {theirs}, wheel {ours}"


def test_a_commit_that_the_repository_lacks_is_bad_input(tiny: Tiny, mirror: tuple[str, str]) -> None:
    offer(tiny, "1.1")
    with pytest.raises(BadInput, match="no such commit"):
        find(tiny.root, tiny.pin, "1.1", mirror=mirror[0])


def test_who_names_a_mirror_insists_on_it(tiny: Tiny) -> None:
    offer(tiny, "1.1")
    with pytest.raises(BadEnvironment, match="could not reach"):
        find(tiny.root, tiny.pin, "1.1", mirror="http://127.0.0.1:9/tiny")


def test_a_file_that_only_git_has_cannot_be_followed_without_it(tiny: Tiny) -> None:
    """It did not vanish: nobody could look."""
    offer(tiny, "1.1")
    pin = msgspec.structs.replace(tiny.pin, files={**tiny.pin.files, "tests/t.py": Blob("git", "5" * 40)})
    with pytest.raises(BadEnvironment, match="only come from git") as caught:
        find(tiny.root, pin, "1.1")
    assert caught.value.details["files"] == "tests/t.py"


@pytest.mark.parametrize(
    ("tags", "chosen"),
    [
        ({"v1.1": "light"}, "v1.1"),
        ({"v1.1": "annotated"}, "v1.1"),
        ({"v1.1": "light", "tiny-v1.1": "annotated"}, "tiny-v1.1"),
        ({"v1.1.1": "light", "1.1": "light"}, "1.1"),
    ],
)
def test_a_wheel_without_a_commit_is_at_its_tag(
    tiny: Tiny, mirror: tuple[str, str], tags: dict[str, str], chosen: str
) -> None:
    """An annotated tag is an object of its own, and it is the commit that is meant."""
    place, commit = mirror
    folder = Path(place)
    other = run_git(folder, "commit-tree", "-m", "other", f"{commit}^{{tree}}", "-p", commit)
    for name, kind in tags.items():
        options = ["--annotate", "--message", name] if kind == "annotated" else []
        run_git(folder, "tag", *options, name, commit if name == chosen else other)
    offer(tiny, "1.1", {**FILES, "tiny/a.py": b"a = 2\n"}, None)
    found = find(tiny.root, tiny.pin, "1.1", mirror=place)
    assert found is not None
    assert (found.pin.commit, found.pin.wheel_names_commit) == (commit, False)


def test_no_tag_is_bad_input_that_names_the_way(tiny: Tiny, mirror: tuple[str, str]) -> None:
    offer(tiny, "1.1", commit=None)
    with pytest.raises(BadInput, match="has no tag of it") as caught:
        find(tiny.root, tiny.pin, "1.1", mirror=mirror[0])
    assert caught.value.details["tags"] == "tiny-v1.1, v1.1, 1.1"
    assert caught.value.next_step.endswith("track bump tiny COMMIT --release 1.1")


def test_no_way_to_ask_for_a_tag_is_the_environments_and_names_the_way(tiny: Tiny) -> None:
    offer(tiny, "1.1", commit=None)
    with pytest.raises(BadEnvironment, match="cannot be asked for its tag") as caught:
        find(tiny.root, tiny.pin, "1.1")
    assert caught.value.next_step.endswith("track bump tiny COMMIT --release 1.1")
    found = find(tiny.root, tiny.pin, NEXT, "1.1")
    assert found is not None
    assert (found.pin.commit, found.pin.wheel_names_commit) == (NEXT, False)
    assert {blob.origin for blob in found.pin.files.values() if blob} == {"wheel"}


# --- the real thing ---


def test_the_next_release_of_jax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit is the one that upstream's tag is on; no pinned file vanished on the way."""
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "wheels").symlink_to(ROOT / "build" / "wheels")
    (tmp_path / "requirements").symlink_to(ROOT / "requirements")
    pin: Pin = lock.read(ROOT / "tests" / "pins" / "earlier.toml")["jax"]
    pin = msgspec.structs.replace(pin, files={path: pin.files[path] for path in pin.files if path != pin.version_file})
    found = find(tmp_path, pin, "0.12.0.1")
    assert found is not None
    assert found.pin.commit == "dc4af684446e65ee98eee8090e1ff6f8211473fb"
    assert found.missing == ()
    assert 'libtpu==0.0.50.*; extra == "tpu"' in found.asks
    assert "jax/_src/pallas/mosaic/prefetch.py" in found.files
    assert "jax/_src/numpy/lax_numpy.py" not in found.files
    assert wheel.find(found.pin.release, ROOT / "build" / "wheels") is not None
