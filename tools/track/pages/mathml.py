r"""Formulas as MathML, which browsers draw without a script: `\( ... \)` in a line, `\[ ... \]` on its own."""

from __future__ import annotations

import functools
import re

from latex2mathml import converter

__all__ = ["replace_math"]

_FORMULA = re.compile(r"\\\((?P<inline>.+?)\\\)|\\\[(?P<block>.+?)\\\]", re.DOTALL)
_MARKDOWN = str.maketrans({"*": "&#42;", "_": "&#95;", "`": "&#96;", "\n": " "})


def replace_math(text: str) -> str:
    """The text with every formula as MathML; characters that Markdown would read are written as references."""
    return _FORMULA.sub(lambda m: _mathml(m["inline"] or m["block"], "inline" if m["inline"] else "block"), text)


@functools.lru_cache(maxsize=1024)
def _mathml(formula: str, display: str) -> str:
    return converter.convert(formula.strip(), display=display).translate(_MARKDOWN)
