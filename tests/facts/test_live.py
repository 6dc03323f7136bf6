"""Live counts: what the installed package registers when it is imported."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys

import msgspec
import pytest

from tests.facts.conftest import ROOT
from track.anchors.library import Library
from track.errors import BadEnvironment
from track.facts import book
from track.pins import lock
from track.pins.tree import SourceTree

COUNTS = {"tc": 141, "sc-scalar": 85, "sc-vector": 97, "union": 161}


def library(folder, version: str) -> Library:
    """A library of one pin with no files, of a release of jax."""
    pin = lock.read(ROOT / "pins.toml")["jax"]
    release = msgspec.structs.replace(pin.release, version=version)
    return Library({"jax": SourceTree(msgspec.structs.replace(pin, release=release, files={}), "wheel", folder)})


@pytest.mark.parametrize("name", COUNTS)
def test_the_rules_that_an_import_registers_are_counted_at_the_pin(pinned, name):
    assert pinned[f"tpu.rules.live.{name}"].value == COUNTS[name]


@pytest.mark.parametrize("name", COUNTS)
def test_a_live_count_needs_the_pinned_release(tmp_path, name):
    fact = book.of_checkout(tmp_path, library(tmp_path, "0.11.0"))[f"tpu.rules.live.{name}"]
    assert fact.value is None
    assert "needs the pinned release" in fact.why
    assert importlib.metadata.version("jax") in fact.why


def test_a_count_is_kept_and_made_again_where_its_file_is_cut_in_half(tmp_path, monkeypatch):
    counted = json.dumps({"TC": 1, "SC_SCALAR_SUBCORE": 2, "SC_VECTOR_SUBCORE": 3, "union": 4})
    runs: list[list[str]] = []

    def run(command, **_):
        runs.append(command)
        return subprocess.CompletedProcess(command, 0, counted, "")

    monkeypatch.setattr(subprocess, "run", run)
    here = library(tmp_path, importlib.metadata.version("jax"))
    first = book.of_checkout(tmp_path, here)
    assert book.of_checkout(tmp_path, here) == first
    assert len(runs) == 1
    (store,) = (tmp_path / "build" / "facts").iterdir()
    store.write_bytes(store.read_bytes()[:5])
    assert book.of_checkout(tmp_path, here) == first
    assert len(runs) == 2


def test_a_package_that_cannot_be_imported_is_a_bad_environment(tmp_path, monkeypatch):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'ImportError: no jax here' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with pytest.raises(BadEnvironment, match="could not be asked") as caught:
        book.of_checkout(tmp_path, library(tmp_path, importlib.metadata.version("jax")))
    assert "no jax here" in caught.value.details["found"]


def test_every_fact_has_its_name_and_says_where_it_was_computed(pinned):
    for name, fact in pinned.items():
        assert fact.name == name
        assert fact.what
        assert fact.where
        assert (fact.value is None) == bool(fact.why)


def test_every_fact_that_a_page_names_has_a_value(pinned):
    """Fences are left out: one shows how a fact is written."""
    texts = [re.sub(r"(?ms)^(`{3,}).*?^\1", "", page.read_text("utf-8")) for page in (ROOT / "docs").rglob("*.md")]
    named = {name for text in texts for name in re.findall(r"\{\{\s*(.+?)\s*\}\}", text)}
    assert named >= {"pipeline.lines", "jax.version"}
    assert {name for name in named if name not in pinned or pinned[name].value is None} == set()
