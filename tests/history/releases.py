"""The released steps of jax that are replayed, and the notes that are placed on them."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from track.anchors import anchor, fingerprints, symbols
from track.anchors.anchor import Anchor
from track.anchors.carry import Carrier
from track.anchors.forest import Forest
from track.anchors.match import Matches, match
from track.anchors.symbols import Module
from track.drift import editions
from track.pins import lock, wheel
from track.spans import Span

ROOT = Path(__file__).parents[2]
VERSIONS = ("0.10.2", "0.11.0", "0.11.1", "0.11.2", "0.12.0.1")
STEPS = tuple(itertools.pairwise(VERSIONS))
LARGEST = 12


@functools.cache
def texts(version: str) -> Mapping[str, str]:
    """The files of a release, from the wheel with its hash; the test fails without it, and nothing is downloaded."""
    pin = lock.read(ROOT / "pins.toml")["jax"]
    release = editions.known(ROOT, pin)[version]
    if wheel.find(release, ROOT / "build" / "wheels") is None:
        pytest.fail(f"build/wheels has no {release}: `make test` fetches it, as does `track sync --history`")
    return editions.open_edition(ROOT, pin, release).texts


parsed = functools.cache(symbols.parse)  # a file that two releases share is parsed once


@functools.cache
def forest(version: str) -> Forest:
    return Forest({path: parsed(path, text) for path, text in texts(version).items()})


@functools.cache
def matches(old: str, new: str) -> Matches:
    return match(forest(old), forest(new))


@functools.cache
def carrier(old: str, new: str) -> Carrier:
    return Carrier(forest(old), forest(new), matches(old, new))


def largest(version: str) -> list[Module]:
    """The twelve largest files, by their lines."""
    modules = forest(version).modules.values()
    return sorted(modules, key=lambda m: (-len(m.lines), m.path))[:LARGEST]


@dataclasses.dataclass(frozen=True)
class Note:
    """A note, with the lines that it was placed on."""

    span: Span
    anchor: Anchor


def notes(module: Module) -> Iterator[Note]:
    """A note on every statement that can be quoted: by its own text, or as the end of a range where it has a twin."""
    starts: dict[Span, tuple[str, Span]] = {}
    for statement in fingerprints.statements(module.tree):
        span = statement.span
        home = anchor.innermost(module, span)
        within = home.owned if home else Span(1, len(module.lines))
        quote = bare(module, span)
        if anchor.quoted(module, within, quote, None) == [span]:
            starts[within] = quote, span
            yield Note(span, anchor.anchor(module, span, quote))
        elif within in starts:
            first, begin = starts[within]
            whole = Span(begin.first, span.last)
            if anchor.quoted(module, within, first, quote) == [whole]:
                yield Note(whole, anchor.anchor(module, whole, first, quote))


def bare(module: Module, span: Span) -> str:
    """The code of these lines without its comments, as a page would quote it."""
    cut = {line: first for line, first, _ in module.comments} if span.length > 1 else {}
    return "\n".join(module.lines[n - 1][: cut.get(n)] for n in span.lines).strip()
