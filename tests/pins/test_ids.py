"""Blob ids are made afresh from a wheel or from git, and say which."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from track.errors import BadInput
from track.pins import ids, wheel
from track.pins.lock import Blob, Pin

if TYPE_CHECKING:
    from .conftest import Mirrored, Small


def emptied(pin: Pin) -> Pin:
    return msgspec.structs.replace(pin, files=dict.fromkeys(pin.files))


def found(pin: Pin, root: Path) -> Path:
    return wheel.fetch(pin.release, root / "build" / "wheels")


def test_a_wheel_gives_the_ids_that_are_pinned(root: Path, pins: Mapping[str, Pin]) -> None:
    """`pins.toml` is what the tool makes of the wheel."""
    assert ids.from_wheel(emptied(pins["jax"]), found(pins["jax"], root)) == pins["jax"]


def test_git_gives_the_ids_that_are_pinned(mirrored: Mirrored) -> None:
    """At every file of both projects, `jax/version.py` included."""
    for project, pin in mirrored.pins.items():
        assert ids.from_git(emptied(pin), mirrored.folders[project]) == pin


def test_ids_read_in_git_stay_gits(root: Path, pins: Mapping[str, Pin]) -> None:
    """A wheel that bears them out takes nothing away."""
    assert ids.from_wheel(pins["tokamax"], found(pins["tokamax"], root)) == pins["tokamax"]


def test_ids_from_a_wheel_claim_no_more(root: Path, pins: Mapping[str, Pin]) -> None:
    """Made from the wheel alone, the same ids are the wheel's."""
    made = ids.from_wheel(emptied(pins["tokamax"]), found(pins["tokamax"], root))
    assert {made.blob(path).origin for path in made.files} == {"wheel"}
    assert {path: made.blob(path).id for path in made.files} == {
        path: pins["tokamax"].blob(path).id for path in made.files
    }


def test_the_commit_comes_from_the_wheel(root: Path, pins: Mapping[str, Pin], earlier: Mapping[str, Pin]) -> None:
    """A bump needs only the version and the hash; ids of the old commit prove nothing about the new one."""
    common = {path: Blob("git", "1" * 40) for path in pins["jax"].files if path in earlier["jax"].files}
    old = msgspec.structs.replace(pins["jax"], commit="1" * 40, files=common)
    made = ids.from_wheel(old, found(pins["jax"], root))
    assert made.commit == "32544801e26115ac1794926d027148abf3baf009"
    assert {path: made.blob(path) for path in common} == {path: pins["jax"].blob(path) for path in common}


def test_another_release_has_its_own_commit_and_files(
    root: Path, pins: Mapping[str, Pin], earlier: Mapping[str, Pin]
) -> None:
    """At jax 0.11.0 five of the files do not exist yet, and the ids are those that git has."""
    moved = ids.at_release(pins["jax"], earlier["jax"].release, found(earlier["jax"], root))
    assert (moved.commit, str(moved.release)) == (earlier["jax"].commit, "jax 0.11.0")
    absent = ["mosaic/prefetch", "mosaic_gpu/interpret/race_detection_state", "mosaic_gpu/layout_rules"]
    new = {f"jax/_src/pallas/{name}.py" for name in (*absent, "mosaic_gpu/pallas_call")} | {"jax/_src/tpu_info.py"}
    assert set(pins["jax"].files) - set(moved.files) == new
    assert all(moved.blob(path).id == earlier["jax"].blob(path).id for path in moved.files)


def test_a_release_without_a_commit_cannot_be_compared_blindly(root: Path, pins: Mapping[str, Pin]) -> None:
    """A wheel of tokamax does not say where a permalink should lead."""
    pin = pins["tokamax"]
    with pytest.raises(BadInput, match="names no commit"):
        ids.at_release(pin, pin.release, found(pin, root))


def test_a_file_that_the_wheel_lacks_is_named(root: Path, pins: Mapping[str, Pin]) -> None:
    """So is the file that a release rewrites: neither can have an id from a wheel."""
    pin = msgspec.structs.replace(pins["jax"], files={"jax/BUILD": None, "jax/version.py": None})
    with pytest.raises(BadInput, match="can only come from git") as caught:
        ids.from_wheel(pin, found(pin, root))
    assert caught.value.details["files"] == "jax/BUILD\njax/version.py"


def test_small_repository_from_git(small: Small) -> None:
    """The id is the one that `git hash-object` gave."""
    pin = small.publish()
    assert ids.from_git(emptied(pin), str(small.folder)) == pin


def test_the_fixture_puts_back_what_a_release_rewrote(
    mirrored: Mirrored, root: Path, earlier: Mapping[str, Pin]
) -> None:
    """The wheel's `jax/version.py` is another file than the commit's, whose id upstream's git gave."""
    with zipfile.ZipFile(found(earlier["jax"], root)) as archive:
        assert b"a1521744c6dc074443fe549f19f48d7197abf759" in archive.read("jax/version.py")
    assert mirrored.pins["jax"].blob("jax/version.py").id == "76667974869c8e1fa9d24e10444bad0fc4d3d369"
