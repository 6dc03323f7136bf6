"""A bump of this site to a later release of jax, by the commands, without its kernels."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter

import pytest

from tests.site.conftest import ROOT
from track.pins import history, lock

pytestmark = [pytest.mark.alone, pytest.mark.timeout(900)]

ALLOWED = 120
"""Seconds for a draft of the whole site."""


@pytest.fixture(scope="module")
def site(copied, tmp_path_factory):
    return copied(tmp_path_factory.mktemp("bumped"))


def newest() -> str:
    """The last release of jax in the history."""
    releases = history.read(ROOT / "requirements" / "history.txt")
    return [release.version for release in releases if release.distribution == "jax"][-1]


def files(site):
    """Every file outside of build/, by digest."""
    found = {path.relative_to(site.root).as_posix(): path for path in site.root.rglob("*") if path.is_file()}
    outside = {name: path for name, path in found.items() if not name.startswith("build/")}
    kept = {name: path for name, path in outside.items() if "__pycache__" not in path.parts}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in kept.items()}


def notes_by_page(site):
    """How many notes on jax's code each page's lock holds."""
    locks = {path.relative_to(site.root).as_posix(): path for path in site.root.glob("docs/**/*.lock.json")}
    rows = {name.removesuffix(".lock.json") + ".md": json.loads(path.read_text()) for name, path in locks.items()}
    return Counter(page for page, row in rows.items() for note in row if note["anchor"]["path"].startswith("jax/"))


def test_a_draft_lists_every_note_in_time_and_accepting_it_can_be_undone(site):
    version = newest()
    before = files(site)
    started = time.monotonic()
    site.track("bump", "jax", version, "--draft", "--no-evidence")
    took = time.monotonic() - started
    assert files(site) == before
    report = json.loads((site.root / "build" / "bump" / "report.json").read_text())
    told = Counter(drift["page"] for drift in report["drifts"] if drift["thing"] == "note")
    assert told == notes_by_page(site)
    assert took < ALLOWED
    site.track("bump", "jax", "--accept")
    assert lock.read(site.root / "pins.toml")["jax"].release.version == version
    assert {"pins.toml", "requirements/site.in", "docs/tpu/pipeline.lock.json"} <= {
        name for name, digest in files(site).items() if before.get(name) != digest
    }
    site.track("bump", "jax", "--undo")
    assert files(site) == before
