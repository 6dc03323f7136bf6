"""The package that runs holds the bytes that the site shows."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from importlib import metadata

import msgspec
import pytest

from track.errors import BadEnvironment
from track.pins.installed import differing
from track.pins.lock import Blob, Pin, Release


@pytest.mark.parametrize("project", ["jax", "tokamax"])
def test_the_installed_package_is_the_pin(pins: Mapping[str, Pin], project: str) -> None:
    """File by file, with no exception."""
    assert differing(pins[project]) == []


@pytest.mark.parametrize("project", ["jax", "tokamax"])
def test_git_itself_agrees(pins: Mapping[str, Pin], project: str) -> None:
    """`git hash-object` gives the installed modules the ids that `pins.toml` has."""
    paths = [path for path in pins[project].files if "/" in path]
    distribution = metadata.distribution(pins[project].release.distribution)
    places = [str(distribution.locate_file(path)) for path in paths]
    done = subprocess.run(["git", "hash-object", "--no-filters", *places], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [pins[project].blob(path).id for path in paths]


def test_what_differs_is_named(pins: Mapping[str, Pin]) -> None:
    """A file with another id, and one that the package lacks."""
    wrong = {"jax/_src/pallas/core.py": Blob("git", "1" * 40), "jax/_src/pallas/BUILD": Blob("git", "2" * 40)}
    pin = msgspec.structs.replace(pins["jax"], files={**pins["jax"].files, **wrong})
    assert differing(pin) == ["jax/_src/pallas/BUILD", "jax/_src/pallas/core.py"]


def test_another_release_is_no_comparison(earlier: Mapping[str, Pin]) -> None:
    """The error says which release is expected and which was found."""
    with pytest.raises(BadEnvironment, match="another release of jax") as caught:
        differing(earlier["jax"])
    assert (caught.value.details["expected"], caught.value.details["found"]) == ("0.11.0", "0.11.2")


def test_a_package_that_is_not_installed_is_named(pins: Mapping[str, Pin]) -> None:
    """The next step installs it."""
    pin = msgspec.structs.replace(pins["jax"], release=Release("no-such-distribution", "1.0", "0" * 64))
    with pytest.raises(BadEnvironment, match=r"no-such-distribution 1\.0 is not installed"):
        differing(pin)
