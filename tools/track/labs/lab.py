"""The labs of a checkout, as they describe themselves, and how far each of them is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from track.errors import BadInput, Finding
from track.labs.child import said

__all__ = ["Lab", "Part", "describe", "find", "named"]


class Part(Struct, frozen=True):
    """A part of a lab; its hints are Markdown, the smallest first."""

    name: str
    done: bool
    hints: tuple[str, ...]


class Lab(Struct, frozen=True):
    """A lab: `folder` below `kernels/`, `page` below `docs/`, and the learner's file `work`.

    `changed` says that this file is not the one that was last checked.
    """

    number: str
    title: str
    folder: str
    page: str
    work: str
    started: bool
    changed: bool
    parts: tuple[Part, ...]

    @property
    def state(self) -> str:
        """How far it is done, in a few words."""
        if not self.started:
            return "not begun"
        done = sum(part.done for part in self.parts)
        since = ", changed since" if self.changed else ""
        return f"{done} of {len(self.parts)} parts done{since}"


def find(root: Path) -> tuple[Lab, ...]:
    """Every lab, by its number; Finding where one cannot describe itself."""
    folders = sorted(path.parent.name for path in (root / "kernels").glob("*/lab.py"))
    labs = [describe(root, folder) for folder in folders if folder != "labkit"]
    return tuple(sorted(labs, key=lambda lab: [int(digits) for digits in lab.number.split(".")]))


def describe(root: Path, folder: str, *, bare: bool = False) -> Lab:
    """A lab, as its own file describes it, with the learner's progress or `bare` of it."""
    ended = said(root, folder, ["describe", *(["--bare"] if bare else [])])
    place = {"file": f"kernels/{folder}/lab.py"}
    if ended.code:
        raise Finding("a lab does not describe itself", {**place, "found": ended.error.strip() or f"exit {ended.code}"})
    try:
        return msgspec.json.decode(ended.output, type=Lab)
    except (msgspec.DecodeError, ValueError) as error:
        raise Finding("a lab describes itself in a way that is not understood", {**place, "found": error}) from error


def named(labs: Sequence[Lab], name: str) -> Lab:
    """The lab of a number, or of a folder."""
    for lab in labs:
        if name in {lab.number, lab.folder}:
            return lab
    known = "\n".join(f"{lab.number}  {lab.title}" for lab in labs) or "no lab at all"
    raise BadInput(f"no lab '{name}'", {"expected": known}, "track lab list")
