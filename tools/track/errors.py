"""Every error that `track` raises on purpose.

    TrackError
    ├── BadInput        exit 2   something a person wrote is wrong: a pin, a page, an option
    ├── BadEnvironment  exit 3   the machine lacks something: a package, the network, a free lock
    ├── Finding         exit 1   a check found something: a lost note, a wrong byte, a failed kernel
    └── Findings        exit of its worst member   several of the above, shown together

An error says what is wrong, where, what was expected and found, and the next command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["BadEnvironment", "BadInput", "Finding", "Findings", "TrackError"]


class TrackError(Exception):
    """An error with a place.

    `what` is one sentence, `details` are labelled facts (`page`, `code`, `pin`, `expected`, `found`, ...) in the
    order in which they are shown, and `next_step` is the command or action that helps.
    """

    exit_code = 2

    def __init__(self, what: str, details: Mapping[str, object] | None = None, next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.details = {label: str(value) for label, value in (details or {}).items()}
        self.next_step = next_step

    def __str__(self) -> str:
        rows = [*self.details.items(), *([("next", self.next_step)] if self.next_step else [])]
        width = max((len(label) for label, _ in rows), default=0)
        pad = " " * (width + 4)
        shown = [f"  {label:<{width}}  " + value.replace("\n", "\n" + pad) for label, value in rows]
        return "\n".join([f"error: {self.what}", *shown])


class BadInput(TrackError):
    """Something that a person wrote is wrong."""

    exit_code = 2


class BadEnvironment(TrackError):
    """The machine lacks something that the command needs."""

    exit_code = 3


class Finding(TrackError):
    """A check looked, and found something."""

    exit_code = 1


class Findings(TrackError):
    """Several errors that are shown together."""

    def __init__(self, errors: Sequence[TrackError]) -> None:
        super().__init__(f"{len(errors)} errors")
        self.errors = tuple(errors)
        self.exit_code = max(error.exit_code for error in errors)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.errors), f"{len(self.errors)} error{'s' * (len(self.errors) != 1)}"])


def raise_all(errors: Sequence[TrackError]) -> None:
    """Raise nothing, the one error, or all of them together."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise Findings(errors)
