"""The plan of the track, `docs/track.toml`, and what of it is written."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from track.errors import BadInput, TrackError

__all__ = ["Phase", "Planned", "misplaced", "read_plan", "reading_order"]


class Planned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page of the track: its file below `docs/`, its kind and its title."""

    path: str
    kind: Literal["article", "annotated", "source", "lab", "layer", "generated"]
    title: str


class Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of the path, and what the reader can do at its end; or pages that stand beside the path."""

    title: str
    promise: str
    pages: tuple[Planned, ...]
    beside: bool = False


class _Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    phase: tuple[Phase, ...]


def read_plan(docs: Path) -> tuple[Phase, ...]:
    """The phases in reading order; BadInput where the file is not as it should be."""
    path = docs / "track.toml"
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), _Plan).phase
    except FileNotFoundError:
        return ()
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadInput("the plan of the track cannot be read", {"file": "docs/track.toml", "found": error}) from error


def misplaced(nav: object, written: set[str]) -> Iterator[TrackError]:
    """Pages that the navigation of mkdocs.yml names and `docs/` lacks, and the other way round."""
    named = set(reading_order(nav))
    for path in sorted(named - written):
        yield BadInput("the navigation names a page that is not there", {"file": "mkdocs.yml", "page": f"docs/{path}"})
    for path in sorted(written - named):
        step = "add it to nav in mkdocs.yml"
        yield BadInput("a page that the navigation does not name", {"file": "mkdocs.yml", "page": f"docs/{path}"}, step)


def reading_order(nav: object) -> Iterator[str]:
    """The pages of a navigation, first to last."""
    match nav:
        case str():
            yield nav
        case list():
            for item in nav:  # pyright: ignore[reportUnknownVariableType] -- YAML is untyped
                yield from reading_order(item)  # pyright: ignore[reportUnknownArgumentType] -- as above
        case dict():
            for item in nav.values():  # pyright: ignore[reportUnknownVariableType] -- as above
                yield from reading_order(item)  # pyright: ignore[reportUnknownArgumentType] -- as above
        case _:
            pass
