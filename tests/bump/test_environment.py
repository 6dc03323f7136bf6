"""An environment with the candidate in it: the same requirements, but for what must move with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.bump.tiny import FILES, make_wheel, release
from track.bump import environment
from track.bump.candidate import Candidate, asks_of, find
from track.errors import BadEnvironment, BadInput, Finding
from track.pins import history, wheel
from track.pins.lock import Pin, Release

if TYPE_CHECKING:
    from .conftest import Tiny

ROOT = Path(__file__).parents[2]
SITE = (ROOT / "requirements" / "site.in").read_text("utf-8")


def candidate(distribution: str, version: str, asks: tuple[str, ...] = ()) -> Candidate:
    release = Release(distribution, version, "0" * 64)
    return Candidate(Pin(distribution, "", "", release, wheel_names_commit=False, files={}), (), {}, asks)


def changed(old: str, new: str) -> list[str]:
    pairs = zip(old.splitlines(), new.splitlines(), strict=True)
    return [after for before, after in pairs if before != after]


# --- what is required ---


def test_jax_takes_its_compilers_along() -> None:
    """As the metadata of 0.12.0.1 asks for: `jaxlib<=0.12.0.1,>=0.12.0.1` and `libtpu==0.0.50.*` with the extra `tpu`.

    What it does not name has the version that jax had, and moves with it; comments stay in their column.
    """
    text = (
        "# what must be there\n"
        "jax==0.11.2             # the package\n"
        "jaxlib==0.11.2          # goes with jax\n"
        'libtpu==0.0.48.1 ; sys_platform == "linux"   # the one that jax[tpu] 0.11.2 names, and not 0.11.20\n'
        "jax-cuda13-pjrt==0.11.2\n"
        "numpy\n"
        "mkdocs==1.6.1           # 0.11.2 is not its version\n"
        "gitpython>=3.2.1\n"
    )
    asks = (
        "jaxlib<=0.12.0.1,>=0.11.2",
        "numpy>=2.2",
        'libtpu==0.0.50.*; extra == "tpu"',
        'jaxlib<=0.12.0.1,>=0.12.0.1; extra == "tpu"',
        'jaxlib==0.11.2; extra == "minimum-jaxlib"',
    )
    assert environment.requirements(text, candidate("jax", "0.12.0.1", asks)) == (
        "# what must be there\n"
        "jax==0.12.0.1           # the package\n"
        "jaxlib==0.12.0.1        # goes with jax\n"
        'libtpu==0.0.50.* ; sys_platform == "linux"   # the one that jax[tpu] 0.12.0.1 names, and not 0.11.20\n'
        "jax-cuda13-pjrt==0.12.0.1\n"
        "numpy\n"
        "mkdocs==1.6.1           # 0.11.2 is not its version\n"
        "gitpython>=3.2.1\n"
    )


def released(distribution: str, version: str) -> Candidate:
    """What the metadata of a real wheel asks for."""
    every = history.read(ROOT / "requirements" / "history.txt")
    release = next(one for one in every if (one.distribution, one.version) == (distribution, version))
    path = wheel.find(release, ROOT / "build" / "wheels")
    assert path is not None
    return candidate(distribution, version, asks_of(release, path))


def test_the_sites_requirements_follow_the_real_metadata() -> None:
    """Of jax all five packages, each with its marker."""
    moved = changed(SITE, environment.requirements(SITE, released("jax", "0.12.0.1")))
    assert [line.split(" ")[0] for line in moved] == [
        "jax==0.12.0.1",
        "jaxlib==0.12.0.1",
        "libtpu==0.0.50.*",
        "jax-cuda13-plugin==0.12.0.1",
        "jax-cuda13-pjrt==0.12.0.1",
    ]
    assert all('; sys_platform == "linux" and platform_machine == "x86_64"' in line for line in moved[2:])


def test_tokamax_moves_alone() -> None:
    """It asks for `jax>=0.11.0`, which what is there meets."""
    found = released("tokamax", "0.0.14")
    assert changed(SITE, environment.requirements(SITE, found)) == ["tokamax==0.0.14         # pins.toml"]


def test_a_package_that_nobody_requires_exactly_cannot_move() -> None:
    with pytest.raises(BadInput, match="no exact version of numpy"):
        environment.requirements("numpy\n", candidate("numpy", "2.0"))


# --- the environment ---


@pytest.fixture
def moving(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """The checkout requires tiny 1.0 and its helper, and uv knows only the index of this machine."""
    for version in ("1.0", "1.1"):
        make_wheel(tiny.index.folder, version, FILES, version[2:] * 40, ("tiny<3",) if version == "1.1" else ())
    (tiny.root / "requirements" / "site.in").write_text("tiny==1.0  # the project\n")
    (tiny.root / "requirements" / "site.txt").write_text(
        f"tiny==1.0 --hash=sha256:{release(tiny.index.folder / 'tiny-1.0-py3-none-any.whl').sha256}\n"
    )
    for name in [name for name in os.environ if name.startswith("UV_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_INDEX_URL", os.environ["PIP_INDEX_URL"])
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tiny.root / "cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    return tiny


def found_in(moving: Tiny) -> Candidate:
    found = find(moving.root, moving.pin, "1.1")
    assert found is not None
    return found


def test_the_new_version_runs_there_and_is_locked(moving: Tiny) -> None:
    """The package that runs is the wheel that was read; nothing of the checkout changes; a second call asks nothing."""
    before = {path: path.read_bytes() for path in (moving.root / "requirements").iterdir()}
    found = found_in(moving)
    python = environment.make(moving.root, found)
    code = "import importlib.metadata as m, tiny.a; print(m.version('tiny'), tiny.a.a)"
    said = subprocess.run([str(python), "-I", "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.split() == ["1.1", "1"]
    assert python == moving.root / "build" / "bump" / "tiny-1.1" / "env" / "bin" / "python"
    locked = environment.lock(moving.root, found).read_text()
    assert f"tiny==1.1 \\\n    --hash=sha256:{found.pin.release.sha256}" in locked
    assert "make lock" in locked
    assert str(moving.root) not in locked
    assert "127.0.0.1" not in locked
    assert {path: path.read_bytes() for path in (moving.root / "requirements").iterdir()} == before
    moving.index.stop()
    assert environment.make(moving.root, found) == python


def test_one_that_was_cut_short_is_made_again(moving: Tiny) -> None:
    """The stamp is written last; without it, or with another, what lies there does not count."""
    python = environment.make(moving.root, found_in(moving))
    stamp = python.parents[1] / "made-from"
    for damage in (stamp.unlink, lambda: stamp.write_text("else")):
        damage()
        (python.parents[1] / "left-over").touch()
        assert environment.make(moving.root, found_in(moving)) == python
        assert not (python.parents[1] / "left-over").exists()


def test_a_changed_requirement_makes_it_again(moving: Tiny) -> None:
    python = environment.make(moving.root, found_in(moving))
    (python.parents[1] / "left-over").touch()
    (moving.root / "requirements" / "site.in").write_text("tiny==1.0  # another comment\n")
    environment.make(moving.root, found_in(moving))
    assert not (python.parents[1] / "left-over").exists()


def test_without_network_it_says_what_uv_said_and_leaves_nothing(moving: Tiny) -> None:
    found = found_in(moving)
    moving.index.stop()
    with pytest.raises(BadEnvironment, match=r"no environment with tiny 1\.1") as caught:
        environment.make(moving.root, found)
    assert caught.value.details["uv said"]
    assert not (moving.root / "build" / "bump" / "tiny-1.1" / "env").exists()


def test_packages_that_exclude_each_other_are_named(moving: Tiny) -> None:
    """The lines of uv say which."""
    (moving.root / "requirements" / "site.in").write_text("tiny==1.0\ntiny<1.1\n")
    with pytest.raises(BadEnvironment) as caught:
        environment.make(moving.root, found_in(moving))
    assert "tiny<1.1" in caught.value.details["uv said"]


def test_an_index_with_another_wheel_is_a_finding(moving: Tiny) -> None:
    """What would run is not what was read."""
    found = found_in(moving)
    make_wheel(moving.index.folder, "1.1", {**FILES, "tiny/a.py": b"a = 666\n"}, "1" * 40)
    with pytest.raises(Finding, match=r"other wheels of tiny 1\.1"):
        environment.make(moving.root, found)
    assert not (moving.root / "build" / "bump" / "tiny-1.1" / "env").exists()


def test_without_uv_the_way_to_it_is_named(moving: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    found = found_in(moving)
    monkeypatch.setattr(environment.sys, "executable", str(moving.root / "python"))
    monkeypatch.setenv("PATH", str(moving.root))
    with pytest.raises(BadEnvironment, match="uv") as caught:
        environment.make(moving.root, found)
    assert caught.value.next_step == "tools/setup.sh test"
