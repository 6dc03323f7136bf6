"""A lab: its number, its folder, its parts."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kernels.labkit.problem import LabError

__all__ = ["Lab", "Part"]

TRACK = "LAB_FROM_TRACK"  # in the environment, if `track lab` runs the command


@dataclass(frozen=True)
class Part:
    """A part of a lab: what it is called, the functions that the learner adds lines to, the part that it builds on."""

    name: str
    functions: tuple[str, ...]
    after: str = ""


@dataclass(frozen=True)
class Lab:
    """A folder below `kernels/` with `skeleton.py`, `solution.py`, `checks.py` and `hints.md`.

    `work` is the learner's file, below `labs/`. `page` is the lab's page, below `docs/`.
    """

    number: str
    title: str
    folder: Path
    work: str
    page: str
    parts: tuple[Part, ...]
    chips: tuple[str, ...] = ("v4", "v5e", "v5p", "v6e", "7x")
    limit: float = 60.0

    @property
    def root(self) -> Path:
        """The checkout."""
        return self.folder.parents[1]

    @property
    def checks(self) -> str:
        """The module that knows what is right."""
        return f"kernels.{self.folder.name}.checks"

    @property
    def skeleton(self) -> Path:
        """What the learner begins with."""
        return self.folder / "skeleton.py"

    @property
    def solution(self) -> Path:
        """One way to do it."""
        return self.folder / "solution.py"

    @cached_property
    def hints(self) -> dict[str, tuple[str, ...]]:
        """The hints of each part, the smallest first: the items of the lists in `hints.md`, as Markdown."""
        file = self.folder / "hints.md"
        if not file.is_file():
            raise LabError("the hints are not here", {"expected": self.shown(file), "next": "see the lab's page"})
        sections = re.split(r"^## ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]
        return {name.strip(): items(body) for name, _, body in (section.partition("\n") for section in sections)}

    def command(self, *words: str) -> str:
        """A command as the learner types it: the way in which this one came."""
        if TRACK in os.environ:
            return " ".join(["track lab", words[0], self.number, *words[1:]])
        return " ".join(["python", f"{self.shown(self.folder)}/lab.py", *words])

    def shown(self, path: Path) -> str:
        """A path as it is shown: from the checkout, where it lies in there."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)


def items(body: str) -> tuple[str, ...]:
    """The items of a Markdown list, without their marks and indents."""
    found = re.split(r"^- ", body, flags=re.MULTILINE)[1:]
    return tuple("\n".join(line.removeprefix("  ") for line in item.strip().splitlines()) for item in found)
