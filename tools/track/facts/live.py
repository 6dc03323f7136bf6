"""Counting what the installed package registers when it is imported; run as a child process, prints one JSON object.

    python -m track.facts.live

The static count of `mosaic/lowering.py` misses the rules that other modules add. What counts them all is the table
itself, after the imports that a user's program makes.
"""

from __future__ import annotations

import json

__all__ = ["main"]


def main() -> None:
    """Print the number of primitives with a rule, by core type, and how many there are over all of them."""
    import jax.experimental.pallas.tpu  # noqa: PLC0415  a child's import, never this tool's; it registers the rules
    import jax.experimental.pallas.tpu_sc  # noqa: F401, PLC0415  as above, for the SparseCore
    from jax._src.pallas.mosaic import lowering  # noqa: PLC0415  as above

    counts = {core_type.name: len(table) for core_type, table in lowering.lowering_rules.items()}
    union = set[object]().union(*lowering.lowering_rules.values())
    print(json.dumps({**counts, "union": len(union)}))  # noqa: T201 -- the parent reads it


if __name__ == "__main__":
    main()
