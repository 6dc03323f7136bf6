"""What a name in a source file stands for, read from the file's imports without running them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from track.anchors.symbols import Module

__all__ = ["Names", "primitive"]

PALLAS = "jax._src.pallas."


@dataclasses.dataclass(frozen=True)
class Names:
    """The names of one file: its own begin with `own`, the others are imported."""

    own: str
    imported: Mapping[str, str]

    @classmethod
    def of(cls, module: Module) -> Names:
        """Read the import statements anywhere in the file."""
        own = module.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return cls(own, dict(pair for node in _statements(module.tree.body) for pair in _imported(node)))

    def full(self, node: ast.AST) -> str:
        """The full name of a `Name` or of a chain of attributes; empty for anything else."""
        match node:
            case ast.Name(id=name):
                return self.imported.get(name, f"{self.own}.{name}")
            case ast.Attribute(value=value, attr=attr):
                above = self.full(value)
                return f"{above}.{attr}" if above else ""
            case _:
                return ""


def primitive(full: str) -> str:
    """The name of a primitive by the full name of its variable, which ends in `_p`.

    One that Pallas defines is called by where it does so too, as `pallas.swap` and `mosaic_gpu.wgmma`: Pallas and its
    backends use names of jax, and of each other, for primitives of their own.
    """
    where, _, variable = full.rpartition(".")
    name = variable.removesuffix("_p")
    if not where.startswith(PALLAS):
        return name
    parts = where.removeprefix(PALLAS).split(".")
    inside = parts[:-1] if parts[-1] == "primitives" else parts
    return ".".join([*(inside or ["pallas"]), name])


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements at every depth, but no expression, which spares most of the walk."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, field, ()))
        for handler in getattr(node, "handlers", ()):
            yield from _statements(handler.body)


def _imported(node: ast.stmt) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        case ast.ImportFrom(module=str(above), level=0, names=names):
            for alias in names:
                yield alias.asname or alias.name, f"{above}.{alias.name}"
        case _:
            pass
