"""What a check has to say of an answer that is not right: what, where, and which mistake it looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Cause", "LabError", "Wrong", "laid_out"]


@dataclass(frozen=True)
class Cause:
    """A mistake that people make: a short name, and a sentence that says what is the matter."""

    name: str
    says: str

    def __str__(self) -> str:
        return f"{self.name}: {self.says}"


class Wrong(Exception):
    """An answer that is not right. `details` are labelled facts, in the order in which they are shown."""

    def __init__(self, what: str, details: Mapping[str, object] | None = None, cause: Cause | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.details = {label: str(value) for label, value in (details or {}).items()}
        self.cause = cause

    def at(self, place: str) -> Wrong:
        """The same with its place first, unless it names one."""
        return self if "where" in self.details else Wrong(self.what, {"where": place, **self.details}, self.cause)

    def __str__(self) -> str:
        return laid_out(self.what, {**self.details, **({"looks like": self.cause} if self.cause else {})})

    def plain(self) -> dict[str, Any]:
        """As what JSON can hold."""
        cause = [self.cause.name, self.cause.says] if self.cause else None
        return {"what": self.what, "details": self.details, "cause": cause}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Wrong:
        """Back from JSON."""
        return cls(plain["what"], plain["details"], Cause(*plain["cause"]) if plain["cause"] else None)


class LabError(Exception):
    """What keeps a lab from being worked on, with the exit code that says whose matter it is."""

    def __init__(self, what: str, details: Mapping[str, object], *, exit_code: int = 2) -> None:
        super().__init__(what)
        self.what, self.details, self.exit_code = what, details, exit_code

    def __str__(self) -> str:
        return laid_out(self.what, self.details)


def laid_out(what: str, details: Mapping[str, object]) -> str:
    """An error as `track` shows its own: a sentence, then labelled lines."""
    width = max(map(len, details), default=0)
    pad = "\n" + " " * (width + 4)
    return "\n".join(
        [f"error: {what}", *(f"  {k:<{width}}  {str(v).replace(chr(10), pad)}" for k, v in details.items())]
    )
