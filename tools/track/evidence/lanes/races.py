"""What the interpreters of jax say of races: printed up to 0.11, raised or logged since."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any

__all__ = ["going_on", "noted_by"]


def noted_by(note: Callable[[str], None], *modules: types.ModuleType) -> None:
    """From now on, what these modules print or log, which is their races, goes to `note`."""
    log = types.SimpleNamespace(warning=note)
    for module in modules:
        for name, speaker in (("print", note), ("logging", log), ("logger", log)):
            setattr(module, name, speaker)


def going_on(params: type) -> dict[str, Any]:
    """The option by which an interpreter goes on after a race, if its parameters have one: without it, jax 0.12 raises.

    What raises would be taken for a refusal, and the kernel's numbers would never be known.
    """
    return {"on_race": "warn"} if any(one.name == "on_race" for one in dataclasses.fields(params)) else {}
