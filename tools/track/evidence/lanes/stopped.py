"""How a lane hands over what it had measured when the kernel, or the compiler, raised."""

from __future__ import annotations

from track.evidence.record import Measures

__all__ = ["Stopped"]


class Stopped(Exception):
    """Raised from the error that is the verdict: `raise Stopped(measures, where) from error`.

    `where` is the line of the kernel that the error is about, if the lane knows it better than the traceback.
    """

    def __init__(self, measures: Measures, where: str = "") -> None:
        super().__init__("the kernel was stopped by the error that is the cause of this one")
        self.measures = measures
        self.where = where
