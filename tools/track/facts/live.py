"""Counting what the installed package registers when it is imported; run as a child process, prints one JSON object.

    python -m track.facts.live

The static count of `mosaic/lowering.py` misses the rules that other modules add. What counts them all is the table
itself, after the imports that a user's program makes.
"""

from __future__ import annotations

import enum
import importlib
import json
from typing import cast

__all__ = ["main"]

REGISTERING = ("jax.experimental.pallas.tpu", "jax.experimental.pallas.tpu_sc")
"""What a user's program imports, for the TensorCore and for the SparseCore."""


def main() -> None:
    """Print the number of primitives with a rule, by core type, and how many there are over all of them."""
    for module in REGISTERING:
        importlib.import_module(module)
    # A child's import, never this tool's.
    from jax._src.pallas.mosaic import lowering  # noqa: PLC0415

    rules = cast("dict[enum.Enum, dict[object, object]]", lowering.lowering_rules)
    counts = {core_type.name: len(table) for core_type, table in rules.items()}
    union = set[object]().union(*rules.values())
    print(json.dumps({**counts, "union": len(union)}))  # noqa: T201 -- the parent reads it


if __name__ == "__main__":
    main()
