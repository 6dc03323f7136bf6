"""Wheels are known by their hash, and say which commit they were made from."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from track.errors import BadEnvironment, Finding
from track.pins import history, wheel
from track.pins.lock import Pin

ROOT = Path(__file__).parents[2]
# The commits of the release tags, as upstream publishes them.
COMMITS = {
    "jax 0.11.0": "a1521744c6dc074443fe549f19f48d7197abf759",
    "jax 0.11.1": "2d66622450e2c8633cda2307688ef7aa294bd6eb",
    "jax 0.11.2": "32544801e26115ac1794926d027148abf3baf009",
    "jax 0.12.0.1": "dc4af684446e65ee98eee8090e1ff6f8211473fb",
    "tokamax 0.0.13": None,
    "tokamax 0.0.17": "c03469fc8b20c835e7b9effaeaa5a410df14536a",  # as `grep GIT_REVISION` finds it in the wheel
}


@pytest.mark.parametrize("name", COMMITS)
def test_a_wheel_names_its_commit_or_none(name: str) -> None:
    """jax's wheels do, tokamax's do from 0.0.14 on."""
    releases = {str(release): release for release in history.read(ROOT / "requirements" / "history.txt")}
    path = wheel.find(releases[name], ROOT / "build" / "wheels")
    assert path is not None
    with zipfile.ZipFile(path) as archive:
        assert wheel.named_commit(archive, f"{releases[name].distribution}/version.py") == COMMITS[name]


@pytest.mark.parametrize(
    ("source", "commit"),
    [
        ("_git_hash = None", None),
        ("_git_hash: str | None = None", None),
        ("_git_hash = 'abc'", "abc"),
        ("_git_hash: str = 'abc'", "abc"),
        ("raise SystemExit\n_git_hash = 'abc'", "abc"),
        ("_git_hash = compute()", None),
        ("", None),
    ],
)
def test_the_commit_is_read_and_never_run(tmp_path: Path, source: str, commit: str | None) -> None:
    """In git the value is None; the release's build writes a literal."""
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("a/version.py", source)
        assert wheel.named_commit(archive, "a/version.py") == commit


def test_a_wheel_of_another_commit_is_refused(root: Path, pins: Mapping[str, Pin]) -> None:
    """The error names the commit of the pin and that of the wheel."""
    pin = msgspec.structs.replace(pins["jax"], commit="1" * 40)
    with pytest.raises(Finding, match="not made from the pinned commit") as caught:
        wheel.read(pin, wheel.fetch(pin.release, root / "build" / "wheels"))
    assert (caught.value.details["expected"], caught.value.details["found"]) == ("1" * 40, COMMITS["jax 0.11.2"])


def test_a_wheel_that_should_name_a_commit_must(root: Path, pins: Mapping[str, Pin]) -> None:
    """A pin that says so of tokamax is wrong."""
    pin = msgspec.structs.replace(pins["tokamax"], wheel_names_commit=True)
    with pytest.raises(Finding, match="not made from the pinned commit"):
        wheel.read(pin, wheel.fetch(pin.release, root / "build" / "wheels"))


def test_the_file_that_a_release_rewrites_is_left_out(root: Path, earlier: Mapping[str, Pin]) -> None:
    """Its bytes in the wheel are not the commit's."""
    pin = earlier["jax"]
    files = wheel.read(pin, wheel.fetch(pin.release, root / "build" / "wheels"))
    assert set(pin.files) - set(files) == {"jax/version.py"}


@pytest.mark.usefixtures("no_network")
def test_without_network_a_wheel_that_is_there_is_enough(root: Path, pins: Mapping[str, Pin]) -> None:
    """pip is not asked."""
    release = pins["jax"].release
    assert wheel.fetch(release, root / "build" / "wheels").name == "jax-0.11.2-py3-none-any.whl"


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("state", ["gone", "cut in half", "one byte more"])
def test_without_network_and_wheel_the_next_step_is_said(root: Path, pins: Mapping[str, Pin], state: str) -> None:
    """A file with the right name and other bytes is as good as none, and nothing is left half made."""
    wheels = root / "build" / "wheels"
    path = wheels / "jax-0.11.2-py3-none-any.whl"
    data = path.read_bytes()
    path.write_bytes({"gone": b"", "cut in half": data[: len(data) // 2], "one byte more": data + b"\0"}[state])
    before = sorted(wheels.iterdir())
    with pytest.raises(BadEnvironment, match=r"jax 0\.11\.2 is not here") as caught:
        wheel.fetch(pins["jax"].release, wheels)
    assert caught.value.exit_code == 3
    assert "build/wheels/" in caught.value.next_step
    assert "No matching distribution" in caught.value.details["pip said"]
    assert sorted(wheels.iterdir()) == before


@pytest.mark.usefixtures("no_network")
def test_pip_replaces_a_wheel_that_was_cut_in_half(root: Path, pins: Mapping[str, Pin], tmp_path: Path) -> None:
    """Whatever pip finds, here a folder of wheels, is checked by hash and moved into place whole."""
    whole = root / "build" / "wheels" / "jax-0.11.2-py3-none-any.whl"
    (tmp_path / "nothing" / whole.name).write_bytes(whole.read_bytes())
    whole.write_bytes(whole.read_bytes()[:1000])
    assert wheel.fetch(pins["jax"].release, root / "build" / "wheels") == whole
    assert wheel.find(pins["jax"].release, root / "build" / "wheels") == whole


@pytest.mark.usefixtures("no_network")
def test_a_wheel_with_another_hash_is_a_finding(root: Path, pins: Mapping[str, Pin], tmp_path: Path) -> None:
    """An index that hands out other bytes under the same version is caught."""
    whole = root / "build" / "wheels" / "jax-0.11.2-py3-none-any.whl"
    (tmp_path / "nothing" / whole.name).write_bytes(whole.read_bytes() + b"\0")
    whole.unlink()
    with pytest.raises(Finding, match="not the one that is pinned"):
        wheel.fetch(pins["jax"].release, root / "build" / "wheels")
