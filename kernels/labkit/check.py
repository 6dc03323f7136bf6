"""Checking a file: in a child process with a time limit, whose findings are read whatever becomes of it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernels.labkit import chips
from kernels.labkit.attempt import same_code
from kernels.labkit.causes import ENDLESS
from kernels.labkit.lab import Lab, Part
from kernels.labkit.problem import LabError, Wrong
from kernels.labkit.process import STILL_RUNNING, run, tail

__all__ = ["Found", "Report", "check", "traced"]

SHOWN_LINES = 20  # of what the file printed

Line = dict[str, Any]


@dataclass
class Found:
    """What is known of a part: `begun` by the learner, what was `proved`, and what is `wrong`, if anything is.

    `looked_at` says that the check came to it.
    """

    part: Part
    begun: bool
    looked_at: bool = True
    proved: list[str] = field(default_factory=list[str])
    wrong: Wrong | None = None

    @property
    def done(self) -> bool:
        """Whether all of it is right."""
        return self.wrong is None


@dataclass
class Report:
    """Every part, what the file printed at the end, and a sentence for each check that could not be made.

    `unread` is why the file could not be read at all, if that is so; then no part is done.
    """

    parts: list[Found]
    unread: Wrong | None = None
    printed: str = ""
    skipped: list[str] = field(default_factory=list[str])


def check(lab: Lab, file: Path) -> Report:
    """Judge every part, and have the TPU compiler look at those that are right."""
    report = asked(lab, file, "judge", lab.parts)
    open_ = {found.part.name for found in report.parts if not found.done}
    for found in report.parts:
        if found.part.after in open_:
            found.wrong, found.looked_at = Wrong(f"this part comes after {found.part.after}"), False
            found.proved.clear()
    right = [found for found in report.parts if found.done]
    if right and (lacking := chips.missing()):
        report.skipped.append(lacking)
    elif right:
        add(right, *in_child(lab, file, "compile", right))
    return report


def traced(lab: Lab, file: Path, parts: Sequence[Part]) -> Report:
    """The jaxpr of each part, as what is `proved` of it."""
    return asked(lab, file, "jaxpr", parts)


def asked(lab: Lab, file: Path, task: str, parts: Sequence[Part]) -> Report:
    """What a child says of these parts."""
    for package in ("jax", "numpy"):
        if importlib.util.find_spec(package) is None:
            about = {"found": f"{sys.executable} has no {package}", "next": "pip install jax numpy"}
            raise LabError(f"a lab needs {package}", about, exit_code=3)
    text, skeleton = file.read_text("utf-8", "replace"), lab.skeleton.read_text("utf-8")
    found = [Found(part, not same_code(text, skeleton, part.functions)) for part in parts]
    lines, ended, printed = in_child(lab, file, task, found)
    add(found, lines, ended, printed)
    unread = next((Wrong.of(line["unread"]) for line in lines if "unread" in line), None)
    return Report(found, unread, tail(printed, SHOWN_LINES))


def in_child(lab: Lab, file: Path, task: str, parts: Sequence[Found]) -> tuple[list[Line], str, str]:
    """What a child wrote, how it ended, and what it printed; of a compiler's talk, nothing."""
    with tempfile.TemporaryDirectory() as folder:
        results, output = Path(folder) / "results", Path(folder) / "output"
        results.touch()
        command = [sys.executable, "-B", "-m", "kernels.labkit.child", task, lab.checks, str(file.resolve())]
        command += [lab.shown(file), str(results), ",".join(lab.chips), *(found.part.name for found in parts)]
        with output.open("wb") as out:
            streams = (subprocess.DEVNULL, subprocess.DEVNULL) if task == "compile" else (out.fileno(), out.fileno())
            ended = run(command, lab.root, lab.limit, *streams)
        whole = (line for line in results.read_text("utf-8").splitlines() if line.endswith("}"))  # it may have died
        return [json.loads(line) for line in whole], ended, output.read_text("utf-8", "replace")


def add(parts: Sequence[Found], lines: Sequence[Line], ended: str, printed: str) -> None:
    """Give each part what the child said of it; what it did not come to the end of is wrong, and says how it ended."""
    found = {one.part.name: one for one in parts}
    begun = [line["begun"] for line in lines if "begun" in line]
    for name in begun:
        found[name].wrong = unfinished(name, ended, printed)
    for name in {*found} - {*begun}:
        at = begun[-1] if begun else "the file, as it is read"
        found[name].wrong = unfinished(at, ended, printed)
        found[name].looked_at = False
    for line in lines:
        if "ended" in line:
            found[line["ended"]].wrong = Wrong.of(line["wrong"]) if line["wrong"] else None
        elif "proved" in line:
            found[line["part"]].proved.append(line["proved"])


def unfinished(at: str, ended: str, printed: str) -> Wrong:
    """What is said of a part that the child did not come to the end of."""
    endless = ended.startswith(STILL_RUNNING)
    last = {"printed": tail(printed, 3)} if printed and not endless else {}
    cause = ENDLESS if endless else None
    return Wrong("the check did not come to its end", {"at": at, "found": ended, **last}, cause)
