"""Real releases of jax, whose wheels the set-up of `make test` has fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from track import checkout
from track.anchors.library import Library
from track.drift import editions
from track.drift.editions import Edition
from track.facts import book
from track.facts.catalog import Fact
from track.pins import history, lock, sync, wheel

ROOT = Path(__file__).parents[2]


@cache
def static(version: str) -> Mapping[str, Fact]:
    """The static facts of a release of jax; the test fails where its wheel is missing, and nothing is downloaded."""
    releases = history.read(ROOT / "requirements" / "history.txt")
    release = next(r for r in releases if (r.distribution, r.version) == ("jax", version))
    if wheel.find(release, ROOT / "build" / "wheels") is None:
        pytest.fail(f"build/wheels has no {release}: `make test` fetches it, as does `track sync --history`")
    return checkout.facts_of_release(ROOT, f"jax={version}")


@pytest.fixture(scope="session")
def release() -> Callable[[str], Mapping[str, Fact]]:
    """The static facts of a release, by its version."""
    return static


@cache
def opened(version: str) -> Edition:
    """The files of a release of jax that are compared; nothing is downloaded."""
    static(version)  # fails where the wheel is missing
    pin = lock.read(ROOT / "pins.toml")["jax"]
    return editions.open_edition(ROOT, pin, editions.known(ROOT, pin)[version])


@pytest.fixture(scope="session")
def edition() -> Callable[[str], Edition]:
    """The files of a release, by its version."""
    return opened


@pytest.fixture(scope="session")
def pinned() -> Mapping[str, Fact]:
    """Every fact at the pins of this checkout."""
    trees = sync.sync(ROOT, lock.read(ROOT / "pins.toml"))
    return book.of_checkout(ROOT, Library(trees))
