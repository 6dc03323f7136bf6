"""Which line of a kernel a refusal is about, where its traceback has only jax's own frames."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from typing import Any

from jax._src import source_info_util

__all__ = ["place_of"]


def place_of(error: BaseException) -> str:
    """The innermost line of a kernel that an equation came from which was being lowered; empty if there was none.

    jax lowers a program equation by equation, in frames that hold the equation at hand, and that knows its line.
    """
    lines = [line for equation in equations(error) for line in lines_of(equation)]
    return lines[-1] if lines else ""


def equations(error: BaseException) -> Iterator[Any]:
    """The equations that were being lowered, outermost first."""
    at = error.__traceback__
    while at:
        equation = at.tb_frame.f_locals.get("eqn")
        if hasattr(equation, "source_info"):
            yield equation
        at = at.tb_next


def lines_of(equation: Any) -> Iterator[str]:
    """Where in `kernels/` the equation was traced, innermost line alone."""
    for frame in source_info_util.user_frames(equation.source_info.traceback):
        if "/kernels/" in frame.file_name:
            text = linecache.getline(frame.file_name, frame.start_line).strip()
            yield f"{frame.file_name}:{frame.start_line}, in {frame.function_name.split('.')[-1]}: {text}"
            return
