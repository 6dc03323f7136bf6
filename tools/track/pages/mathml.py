r"""Formulas as MathML, which browsers draw without a script: `\( ... \)` in a line, `\[ ... \]` on its own."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from latex2mathml import converter, exceptions

from track.errors import BadInput

__all__ = ["replace_math"]

_FORMULA = re.compile(r"\\\((?P<inline>.+?)\\\)|\\\[(?P<block>.+?)\\\]", re.DOTALL)
_OWN = tuple(e for e in vars(exceptions).values() if isinstance(e, type) and issubclass(e, Exception))
_REFUSALS = (*_OWN, StopIteration, ValueError, LookupError)  # the last three escape it where a formula breaks off
_MARKDOWN = str.maketrans({"*": "&#42;", "_": "&#95;", "`": "&#96;", "\n": " "})


def replace_math(text: str, at: Callable[[int], str]) -> str:
    """The text with every formula as MathML; characters that Markdown would read are written as references.

    `at` turns a line of `text`, counted from 0, into the place that an error names.
    """

    def drawn(found: re.Match[str]) -> str:
        formula = (found["inline"] or found["block"]).strip()
        try:
            return _mathml(formula, "inline" if found["inline"] else "block")
        except _REFUSALS as error:
            said = " ".join(filter(None, (type(error).__name__, str(error))))
            details = {"page": at(text.count("\n", 0, found.start())), "formula": formula, "found": said}
            raise BadInput("a formula that cannot be read", details) from error

    return _FORMULA.sub(drawn, text)


@functools.lru_cache(maxsize=1024)
def _mathml(formula: str, display: str) -> str:
    return converter.convert(formula, display=display).translate(_MARKDOWN)
