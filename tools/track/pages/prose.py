"""What weaving does to prose: facts by name, formulas, glossary-free plain Markdown otherwise."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping

from markdown_it import MarkdownIt

from track.errors import BadInput, TrackError, raise_all
from track.facts.catalog import Fact
from track.pages.mathml import replace_math

__all__ = ["CODE", "fill"]

_NAME = re.compile(r"\{\{\s*(?P<name>[^{}]+?)\s*\}\}")
CODE = re.compile(r"(?P<ticks>(?<!`)`+(?!`)).+?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
"""A code span."""

_PARSER = MarkdownIt("commonmark")


def fill(text: str, facts: Mapping[str, Fact], at: Callable[[int], str]) -> str:
    """Put facts and formulas into a piece of Markdown.

    Fenced and indented code is left alone, code spans keep their formulas but get their facts. `at` turns a line of
    `text`, counted from 0, into the place that an error names.
    """
    lines = text.split("\n")
    errors: list[TrackError] = []
    code = {
        n
        for token in _PARSER.parse(text)
        if token.type in {"fence", "code_block"}
        for n in range(*(token.map or [0, 0]))
    }
    for number, line in enumerate(lines):
        if number not in code:
            lines[number] = _NAME.sub(lambda m, n=number: _value(m["name"], facts, at(n), errors), line)
    raise_all(errors)
    return "\n".join(_with_math(lines, code, at))


def shown(fact: Fact) -> str:
    """A fact as a page shows it."""
    return f"{fact.value:,}" if isinstance(fact.value, int) else str(fact.value)


def _value(name: str, facts: Mapping[str, Fact], place: str, errors: list[TrackError]) -> str:
    fact = facts.get(name)
    if fact is None:
        near = difflib.get_close_matches(name, list(facts), n=3, cutoff=0.4)
        details = {"page": place, "closest": ", ".join(near) or "nothing alike"}
        errors.append(BadInput(f"no fact '{name}'", details, "see the names with: track facts"))
        return ""
    if fact.value is None:
        errors.append(BadInput(f"fact '{name}' has no value at this pin", {"page": place, "why": fact.why}))
        return ""
    return shown(fact)


def _with_math(lines: list[str], code: set[int], at: Callable[[int], str]) -> list[str]:
    """Formulas may span lines, so they are replaced in each stretch of lines between code."""
    result: list[str] = []
    stretch: list[str] = []
    for number, line in enumerate([*lines, None]):
        if line is not None and number not in code:
            stretch.append(line)
            continue
        if stretch:
            first = number - len(stretch)
            result.extend(_outside_code_spans("\n".join(stretch), lambda n, first=first: at(first + n)).split("\n"))
        stretch = []
        if line is not None:
            result.append(line)
    return result


def _outside_code_spans(text: str, at: Callable[[int], str]) -> str:
    def math(first: int, end: int) -> str:
        return replace_math(text[first:end], lambda n: at(text.count("\n", 0, first) + n))

    parts: list[str] = []
    last = 0
    for span in CODE.finditer(text):
        parts += [math(last, span.start()), span[0]]
        last = span.end()
    return "".join([*parts, math(last, len(text))])
