"""The learner's folder, `labs/`: the files that are worked on, what is done, and what was put aside. Git ignores it."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernels.labkit.lab import Lab
from kernels.labkit.problem import LabError

__all__ = ["Desk", "Progress"]


@dataclass
class Progress:
    """What is known of one lab: the parts that were done at the last check, of which text, and the hints given."""

    done: list[str] = field(default_factory=list[str])
    text: str = ""
    hints: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Desk:
    """Where one lab is worked on."""

    lab: Lab

    @property
    def folder(self) -> Path:
        """The learner's folder."""
        return self.lab.root / "labs"

    @property
    def work(self) -> Path:
        """The learner's file."""
        return self.folder / self.lab.work

    @property
    def notes(self) -> Path:
        """Where progress is kept."""
        return self.folder / "progress.json"

    def lay_out(self) -> bool:
        """Copy the skeleton, unless the learner's file is there; return whether it was copied."""
        if self.work.exists():
            return False
        write(self.work, self.lab.skeleton.read_bytes())
        return True

    def put_aside(self) -> Path | None:
        """Move the learner's file away and lay out the skeleton again; return where it is kept, if it said anything."""
        kept = None
        if self.work.exists() and self.work.read_bytes() != self.lab.skeleton.read_bytes():
            kept = keep(self.work, self.folder / "kept")
        write(self.work, self.lab.skeleton.read_bytes())
        return kept

    def progress(self) -> Progress:
        """What is known; nothing where there is no file yet."""
        known = self.all_notes().get(self.lab.number, {})
        try:
            return Progress(**known)
        except TypeError as error:
            raise self.unreadable(error) from error

    def note(self, progress: Progress) -> None:
        """Keep it, beside what is known of other labs."""
        everything = {**self.all_notes(), self.lab.number: vars(progress)}
        write(self.notes, (json.dumps(everything, indent=1, sort_keys=True) + "\n").encode())

    def all_notes(self) -> dict[str, Any]:
        """The progress of every lab."""
        try:
            found = json.loads(self.notes.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise self.unreadable(error) from error
        if not isinstance(found, dict):
            raise self.unreadable(f"a {type(found).__name__}")
        return found

    def unreadable(self, found: object) -> LabError:
        """Progress that is not as it was written."""
        about = {"file": self.lab.shown(self.notes), "found": found, "next": "delete that file, and check again"}
        return LabError("what was noted of your progress cannot be read", about)


def text_of(path: Path) -> str:
    """A name for the bytes of a file; empty where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def keep(path: Path, folder: Path) -> Path:
    """Move a file into a folder under a name that is free there; what is there is never replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, 10**6):
        kept = folder / f"{path.stem}-{number}{path.suffix}"
        try:
            with kept.open("xb") as there:
                there.write(path.read_bytes())
        except FileExistsError:
            continue
        path.unlink()
        return kept
    raise LabError("no free name for what you have written", {"folder": folder, "next": "move some of it away"})


def write(path: Path, data: bytes) -> None:
    """Write a file whole, so that no reader and no kill ever leaves half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.write_bytes(data)
    partial.replace(path)
