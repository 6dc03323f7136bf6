"""Code of a page, run while the site is built: a child process for each snippet, and what it printed or raised.

Snippets know nothing of topics, cases and lanes, so nothing of this is in the keys of records.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from track.errors import Finding
from track.evidence import keys
from track.evidence.confine import child_environment
from track.evidence.record import Outcome
from track.evidence.snippet_child import Batch, Snippet
from track.evidence.store import Store, Stored
from track.files import digest

__all__ = ["Snippet", "prune", "results"]

CHILD = "track.evidence.snippet_child"
LIMIT = 60.0
"""Seconds for a snippet."""


def results(
    root: Path, pins: Mapping[str, str], snippets: Iterable[Snippet], limit: float = LIMIT
) -> dict[Snippet, Stored]:
    """What came of each snippet; only what is not known yet is run."""
    store = store_of(root)
    names = {snippet: key_of(snippet, pins) for snippet in snippets}
    found = {snippet: kept for snippet, name in names.items() if (kept := store.get(name))}
    missing = tuple(snippet for snippet in names if snippet not in found)
    for snippet, outcome in zip(missing, outcomes(Batch(str(root), limit, missing)) if missing else (), strict=True):
        if outcome.verdict.status in {"ok", "crashed"}:
            found[snippet] = store.put(names[snippet], outcome)
        else:
            found[snippet] = Stored(outcome.verdict, outcome.confined, outcome.output)  # the next build tries again
    return {snippet: found[snippet] for snippet in names}


def prune(root: Path, pins: Mapping[str, str], snippets: Iterable[Snippet]) -> int:
    """Delete every result but those of these snippets; return how many that were."""
    return store_of(root).prune({key_of(snippet, pins) for snippet in snippets})


def store_of(root: Path) -> Store:
    """Where the results of a checkout's pages are kept."""
    return Store(root / "build" / "examples")


def key_of(snippet: Snippet, pins: Mapping[str, str]) -> str:
    """The name of a snippet's result: a hash of all that could change it."""
    facts = [f"{name}={value}" for source in (keys.versions(), pins) for name, value in sorted(source.items())]
    return digest(*snippet.setup, snippet.code, *facts, keys.code_digest(CHILD))


def outcomes(batch: Batch) -> tuple[Outcome, ...]:
    """Run a batch in a process of its own; Finding where that process dies."""
    with tempfile.TemporaryDirectory(prefix="examples-") as home:
        ended = subprocess.run(
            [sys.executable, "-P", "-m", CHILD],
            input=msgspec.json.encode(batch),
            capture_output=True,
            env=child_environment(os.environ, Path(home)),
            cwd=home,
            check=False,
        )
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise Finding("the process that runs the code of pages died", {"found": said[-1] if said else "no word"})
    return msgspec.json.decode(ended.stdout, type=tuple[Outcome, ...])
