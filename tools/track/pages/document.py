"""Reading a page: which fences are ours, what they ask for, and the notes under them.

The form is plain Markdown. A fence names a file and its symbols; in the list under it each item begins with the code
that it speaks of, as a code span, or two with an ellipsis between them for everything from one to the other.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from track.errors import BadInput, TrackError, raise_all

__all__ = ["Document", "Fence", "Item", "Target", "read"]

LISTING, FOLDED, SOURCE = "listing", "folded", "source"
BOUND = frozenset({LISTING, FOLDED, SOURCE})
"""Fences that show lines of a file, and take a list."""
SETUP, RUN, RAISES = RUNNABLE = "python setup", "python run", "python raises"
_PARSER = MarkdownIt("commonmark")
_LEAD = re.compile(r"(?P<fold>fold\s+)?(?P<ticks>`+)(?P<first>.+?)(?P=ticks)", re.DOTALL)
_THEN = re.compile(r"\s*(?:…|\.\.\.)\s*(?P<ticks>`+)(?P<last>.+?)(?P=ticks)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Target:
    """A line of a listing: a file, and a symbol of it, or no symbol for module-level code."""

    path: str
    symbol: str


@dataclasses.dataclass(frozen=True)
class Item:
    """A list item: a note on quoted code, or a fold of it."""

    kind: Literal["note", "fold"]
    first: str
    last: str | None
    body: str
    line: int
    end: int
    """The page line after its last."""

    @property
    def quote(self) -> str:
        """The quote as it is written on the page."""
        return self.first if self.last is None else f"{self.first} … {self.last}"


@dataclasses.dataclass(frozen=True)
class Fence:
    """A fence of ours with the list that belongs to it, at page lines `line` to `end` (the last excluded)."""

    kind: str
    targets: tuple[Target, ...]
    options: dict[str, str]
    items: tuple[Item, ...]
    line: int
    end: int
    code: str = ""
    """What a fence of Python holds, which has no options."""


@dataclasses.dataclass(frozen=True)
class Document:
    """A page as a person wrote it."""

    path: str
    lines: tuple[str, ...]
    front: dict[str, str]
    body: int
    """Number of lines that the front matter takes."""
    fences: tuple[Fence, ...]

    def at(self, line: int) -> str:
        """`path:line`, for errors."""
        return f"{self.path}:{line}"

    @property
    def title(self) -> str:
        """Text of the first heading."""
        heads = (line.removeprefix("# ").strip() for line in self.lines if line.startswith("# "))
        return next(heads, self.path)


def read(path: str, text: str, kinds: frozenset[str]) -> Document:
    """Parse a page; `kinds` are the fence names that are ours besides `listing`, `folded` and `source`."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # as Markdown counts lines
    front, skip = _front(path, lines)
    tokens = _PARSER.parse("\n".join([""] * skip + lines[skip:]))
    fences: list[Fence] = []
    errors: list[TrackError] = []
    for index, token in enumerate(tokens):
        name = _name(token)
        if name in BOUND or name in kinds or name.startswith("python "):
            try:
                fences.append(_fence(path, lines, tokens, index, name))
            except TrackError as error:
                errors.extend(getattr(error, "errors", [error]))
    raise_all(errors)
    return Document(path, tuple(lines), front, skip, tuple(fences))


def _front(path: str, lines: Sequence[str]) -> tuple[dict[str, str], int]:
    if not lines or lines[0] != "---":
        return {}, 0
    if "---" not in lines[1:]:
        raise BadInput("front matter is not closed", {"page": f"{path}:1", "expected": "a second line of ---"})
    end = lines.index("---", 1)
    front: dict[str, str] = {}
    for number, line in enumerate(lines[1:end], 2):
        key, colon, value = line.partition(":")
        if not colon or key.strip() not in {"title", "description", "file"}:
            raise BadInput(
                f"unknown front matter '{line}'",
                {"page": f"{path}:{number}", "expected": "title, description or file, a colon, and a value"},
            )
        front[key.strip()] = value.strip()
    return front, end + 1


def _name(token: Token) -> str:
    """What a fence is called: its first word, or all of them where it is Python to run."""
    words = token.info.split() if token.type == "fence" else []
    return " ".join(words if words[:1] == ["python"] else words[:1])


def _fence(path: str, lines: Sequence[str], tokens: Sequence[Token], index: int, name: str) -> Fence:
    token = tokens[index]
    first, end = token.map or [0, 0]
    if token.level:
        step = "begin it at the margin; to show it as text, put a longer fence around it"
        raise BadInput(f"a {name} inside a list or a quotation", {"page": f"{path}:{first + 1}"}, step)
    if name.startswith("python "):
        return _runnable(path, token, name)
    if token.info.strip() != name:
        details = {"page": f"{path}:{first + 1}", "found": token.info.strip(), "expected": name}
        raise BadInput(f"words after the name of a {name}", details, "write them as lines of the fence")
    targets, options = _content(path, first + 2, token.content, name)
    items: tuple[Item, ...] = ()
    if name in BOUND and index + 1 < len(tokens) and tokens[index + 1].type == "bullet_list_open":
        items = _items(path, lines, tokens, index + 1)
        end = (tokens[index + 1].map or [0, end])[1]
    return Fence(name, targets, options, items, first + 1, end + 1)


def _runnable(path: str, token: Token, name: str) -> Fence:
    first, end = token.map or [0, 0]
    if name not in RUNNABLE:
        details = {"page": f"{path}:{first + 1}", "found": name, "expected": ", ".join(RUNNABLE)}
        raise BadInput("a word after python that means nothing", details)
    return Fence(name, (), {}, (), first + 1, end + 1, token.content)


def _content(path: str, line: int, content: str, name: str) -> tuple[tuple[Target, ...], dict[str, str]]:
    targets: list[Target] = []
    options: dict[str, str] = {}
    allowed = {LISTING: {"fold", "only"}, FOLDED: set[str](), SOURCE: set[str]()}.get(name)
    for number, text in enumerate(content.removesuffix("\n").split("\n"), line):
        option = re.fullmatch(r"([a-z][a-z-]*):\s*(.*)", text)
        if option and (allowed is None or option[1] in allowed):
            options[option[1]] = option[2]
        elif option or (allowed is None and text.strip()):
            expected = "key: value" if allowed is None else ", ".join(sorted(allowed)) or "no option"
            raise BadInput(f"unknown option '{text}' in a {name}", {"page": f"{path}:{number}", "expected": expected})
        elif text.strip():
            file, _, symbol = text.strip().partition(" ")
            targets.append(Target(file, symbol.strip()))
    if allowed is not None and not targets:
        raise BadInput(f"a {name} that names no file", {"page": f"{path}:{line - 1}", "expected": "path  symbol"})
    for key, choices in (("fold", {"docstrings"}), ("only", {"head"})):
        if allowed is not None and options.get(key, min(choices)) not in choices:
            raise BadInput(
                f"unknown value '{options[key]}' of option '{key}' in a {name}",
                {"page": f"{path}:{line - 1}", "expected": ", ".join(choices)},
            )
    return tuple(targets), options


def _items(path: str, lines: Sequence[str], tokens: Sequence[Token], start: int) -> tuple[Item, ...]:
    """The items of the list that opens at token `start`; what is wrong with them is raised together."""
    depth = tokens[start].level + 1
    items: list[Item] = []
    errors: list[TrackError] = []
    for index in range(start + 1, len(tokens)):
        token = tokens[index]
        if token.type == "bullet_list_close" and token.level == depth - 1:
            break
        if token.type == "list_item_open" and token.level == depth:
            try:
                items.append(_item(path, lines, tokens, index))
            except TrackError as error:
                errors.append(error)
    raise_all(errors)
    return tuple(items)


def _item(path: str, lines: Sequence[str], tokens: Sequence[Token], index: int) -> Item:
    first, end = tokens[index].map or [0, 0]
    indent = len(lines[first]) - len(lines[first].lstrip("-*+ "))
    raw = [
        lines[first][indent:],
        *(line[indent:] if not line[:indent].strip() else line for line in lines[first + 1 : end]),
    ]
    text = "\n".join(raw).strip("\n")
    lead = _LEAD.match(text)
    if not lead or not lead["first"].strip():
        raise BadInput(
            "a note that quotes no code",
            {"page": f"{path}:{first + 1}", "found": text.split("\n")[0] or "an empty item"},
            "begin the item with the code it speaks of, between backticks",
        )
    then = _THEN.match(text, lead.end())
    body = text[then.end() if then else lead.end() :].strip()
    if not body:
        raise BadInput("a note that says nothing", {"page": f"{path}:{first + 1}", "quote": lead["first"]})
    return Item(
        "fold" if lead["fold"] else "note",
        lead["first"].strip(),
        then["last"].strip() if then else None,
        body,
        first + 1,
        end + 1,
    )
