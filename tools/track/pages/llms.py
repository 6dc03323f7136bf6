"""`llms.txt`: every page with one line on what it holds, for programs that read the site."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

from track.pages.places import page_address

__all__ = ["about", "llms_txt"]

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def llms_txt(title: str, description: str, nav: object, page: Callable[[str], str], site: str) -> str:
    """The index in the order of the navigation; `page` gives the woven text of a page."""
    lines = [f"# {title}", "", f"> {description}"]
    for part, entries in _parts(nav):
        lines += ["", f"## {part}", ""]
        for name, path in entries:
            lines.append(f"- [{name or heading(page(path))}]({site}{page_address(path)}): {about(page(path))}")
    return "\n".join(lines) + "\n"


def heading(text: str) -> str:
    """The first heading of a page."""
    return next((line.removeprefix("# ") for line in text.split("\n") if line.startswith("# ")), "")


def about(text: str) -> str:
    """What a page says of itself: its description, else its first sentence, which has a line of its own."""
    lines = text.split("\n")
    body = lines.index("---", 1) + 1 if lines[0] == "---" else 0
    described = (line.partition(":")[2].strip() for line in lines[:body] if line.startswith("description:"))
    plain = (line.strip() for line in lines[body:] if line[:1].isalpha())
    return _LINK.sub(r"\1", next(described, "") or next(plain, ""))


def _parts(nav: object) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """The parts of a navigation, each with the titles and paths of its pages; what has no part comes first."""
    top: list[tuple[str, str]] = []
    parts: list[tuple[str, list[tuple[str, str]]]] = []
    for item in _listed(nav):
        for name, value in _named(item):
            if isinstance(value, str):
                top.append((name, value))
            else:
                parts.append((name, list(_pages(value))))
    return iter([("Start", top), *parts] if top else parts)


def _pages(value: object) -> Iterator[tuple[str, str]]:
    """The pages below a part, however deep."""
    for item in _listed(value):
        for name, inner in _named(item):
            if isinstance(inner, str):
                yield name, inner
            else:
                yield from _pages(inner)


def _listed(value: object) -> list[object]:
    """A list of YAML, which is untyped; of anything else nothing."""
    return cast("list[object]", value) if isinstance(value, list) else []


def _named(item: object) -> Iterable[tuple[str, object]]:
    """An entry of a navigation: a path alone has no title."""
    return cast("dict[str, object]", item).items() if isinstance(item, dict) else [("", item)]
