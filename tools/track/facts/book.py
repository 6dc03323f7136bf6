"""All facts at the pins of a checkout: the static ones, the live ones and the pins' own."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from track.anchors.library import Library
from track.anchors.symbols import Module
from track.errors import BadEnvironment
from track.facts import catalog
from track.facts.catalog import Fact
from track.files import digest, write_if_changed
from track.pins.lock import Pin

__all__ = ["of_checkout", "of_modules"]

LIVE = {
    "tc": ("TC", "core type TC"),
    "sc-scalar": ("SC_SCALAR_SUBCORE", "core type SC_SCALAR_SUBCORE"),
    "sc-vector": ("SC_VECTOR_SUBCORE", "core type SC_VECTOR_SUBCORE"),
    "union": ("union", "any core type"),
}


def of_checkout(root: Path, library: Library) -> dict[str, Fact]:
    """Every fact by name."""
    facts = [fact for tree in library.trees.values() for fact in _pin(tree.pin)]
    facts += [fact for project in library.trees for fact in catalog.compute(project, library.module)]
    return {fact.name: fact for fact in [*facts, *_live(root, library)]}


def of_modules(project: str, module_of: Callable[[str], Module]) -> dict[str, Fact]:
    """The static facts of a project whose files `module_of` reads, by name."""
    return {fact.name: fact for fact in catalog.compute(project, module_of)}


def _pin(pin: Pin) -> Iterator[Fact]:
    for name, value, what in (
        ("version", pin.release.version, "the release that runs"),
        ("commit", pin.commit, "the full commit that is shown"),
        ("commit-short", pin.short, "the first digits of the commit"),
        ("files", len(pin.files), "files that the site reads"),
    ):
        yield Fact(f"{pin.project}.{name}", value, what, "pins.toml")


def _live(root: Path, library: Library) -> Iterator[Fact]:
    pin = library.trees["jax"].pin if "jax" in library.trees else None
    installed = importlib.metadata.version("jax")
    where = "track.facts.live, the table of the imported package"
    if pin is None or installed != pin.release.version:
        why = f"a live count needs the pinned release; jax {installed} is installed"
        yield from (Fact(f"tpu.rules.live.{name}", None, what, where, why) for name, (_, what) in LIVE.items())
        return
    counts = _counted(root, pin)
    for name, (key, what) in LIVE.items():
        yield Fact(f"tpu.rules.live.{name}", counts[key], f"primitives with a rule for {what}, all modules", where)


def _counted(root: Path, pin: Pin) -> Mapping[str, int]:
    """The live counts, from a child process or from the file that an earlier one left."""
    code = Path(__file__).with_name("live.py")
    key = digest(code.read_bytes(), pin.commit, importlib.metadata.version("jaxlib"))
    store = root / "build" / "facts" / f"{key[:16]}.json"
    try:
        return json.loads(store.read_bytes())
    except (FileNotFoundError, json.JSONDecodeError):
        found = _run_child()
        write_if_changed(store, json.dumps(found, sort_keys=True) + "\n")
        return found


def _run_child() -> Mapping[str, int]:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "TPU_SKIP_MDS_QUERY": "1"}
    command = [sys.executable, "-m", "track.facts.live"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    if run.returncode != 0:
        raise BadEnvironment(
            "the installed jax could not be asked for its lowering rules",
            {"command": "python -m track.facts.live", "found": "\n".join(run.stderr.strip().splitlines()[-3:])},
            "make clean, then: make site",
        )
    return json.loads(run.stdout)
