"""A learner's file, imported: what is in it, and where in it an error began."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from kernels.labkit.causes import cause_of_error
from kernels.labkit.problem import Wrong

__all__ = ["Attempt", "load", "same_code"]

LONGEST = 300  # characters of an error's first lines


@dataclass(frozen=True)
class Attempt:
    """The file, by the name it is shown under, and its module."""

    path: Path
    shown: str
    module: ModuleType

    def function(self, name: str) -> Callable[..., Any]:
        """What the file calls so; Wrong if that is nothing that can be called."""
        found = getattr(self.module, name, None)
        if not callable(found):
            raise Wrong(
                f"there is no function `{name}`" if found is None else f"`{name}` is no function",
                {"where": self.shown, "expected": f"the `def {name}` of the skeleton, with lines added"},
            )
        return found

    def place(self, name: str) -> str:
        """Where a function stands, as `file:line`."""
        code = getattr(getattr(self.module, name, None), "__code__", None)
        return f"{self.shown}:{code.co_firstlineno}, in {name}" if code else self.shown

    @contextlib.contextmanager
    def blaming(self, doing: str, name: str = "") -> Generator[None]:
        """Turn whatever the learner's code raises into a Wrong with its line, or with the place of a function."""
        try:
            yield
        except Wrong:
            raise
        except (Exception, SystemExit) as error:
            raise raised(error, self, doing).at(self.place(name)) from error


def load(path: Path, shown: str) -> Attempt:
    """Import a file; Wrong with its line if that fails."""
    spec = importlib.util.spec_from_file_location("answer", path)
    if spec is None or spec.loader is None:
        raise Wrong("the file is no Python file", {"where": shown})
    module = importlib.util.module_from_spec(spec)
    sys.modules["answer"] = module
    attempt = Attempt(path, shown, module)
    with attempt.blaming("Python could read the file"):
        spec.loader.exec_module(module)
    return attempt


def raised(error: BaseException, attempt: Attempt, doing: str) -> Wrong:
    """What was raised, in its own words, at the innermost line of the learner's file."""
    kind, path, shown = type(error).__name__, attempt.path, attempt.shown
    if isinstance(error, SyntaxError) and error.filename == str(path):
        line = (error.text or "").rstrip().lstrip()
        return Wrong(f"{kind} before {doing}", {"where": f"{shown}:{error.lineno}", "found": f"{error.msg}\n{line}"})
    frames = traceback.extract_tb(error.__traceback__)
    mine = max((at for at, frame in enumerate(frames) if frame.filename == str(path)), default=None)
    details, sign = {}, said_by(kind, error)
    if mine is not None:
        frame, code = frames[mine], frames[mine].line or ""
        details = {"where": f"{shown}:{frame.lineno}, in {frame.name}", "code": code}
        through = " ".join(f"{one.filename}:{one.name}" for one in frames[mine + 1 :])
        sign += f"\nin {frame.name}: {code}\nraised in {through}"
    found = first_lines(said_by(kind, error)).replace(str(path), shown)
    return Wrong(f"{kind} before {doing}", {**details, "found": found}, cause_of_error(sign))


def said_by(kind: str, error: BaseException) -> str:
    """What was raised, in its own words; of what was raised in a callback of jax, the words at the end of its trace."""
    text = str(error)
    if "Traceback (most recent call last)" in text:
        ends = re.findall(r"^(?:\w+\.)*\w*(?:Error|Exception): .*", text, flags=re.MULTILINE)
        return ends[-1] if ends else kind
    return f"{kind}: {text}" if text else kind


def first_lines(text: str) -> str:
    """The beginning of an error: its first paragraph, less a sentence that leads on to the next, and not too long."""
    first = " ".join(re.split(r"\n\s*\n", text.strip())[0].split())
    first = re.sub(r" at 0x\w+", "", re.sub(r"(?<=[.:]) [^.]*:$", "", first))
    return first if len(first) <= LONGEST else first[:LONGEST] + " ..."


def same_code(text: str, other: str, names: tuple[str, ...]) -> bool:
    """Whether both texts define these functions alike; a text that cannot be parsed is like no other."""
    try:
        mine, theirs = (definitions(ast.parse(source), names) for source in (text, other))
    except SyntaxError:
        return False
    return mine == theirs


def definitions(tree: ast.Module, names: tuple[str, ...]) -> dict[str, str]:
    """The named functions as text that knows no layout."""
    return {node.name: ast.dump(node) for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names}
