"""A run of whole lines."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Span"]


class Span(NamedTuple):
    """Lines `first` to `last`, counted from 1, both included."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"

    @property
    def length(self) -> int:
        """Number of lines."""
        return self.last - self.first + 1

    @property
    def lines(self) -> range:
        """The line numbers, in order."""
        return range(self.first, self.last + 1)

    def contains(self, other: Span) -> bool:
        """Whether every line of `other` is one of ours."""
        return self.first <= other.first and other.last <= self.last

    def overlaps(self, other: Span) -> bool:
        """Whether any line is in both."""
        return self.first <= other.last and other.first <= self.last
