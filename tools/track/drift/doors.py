"""The public names of a package, read from the modules that users import, without importing them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from track.anchors.symbols import Module
from track.errors import Finding

__all__ = ["is_door", "public_names"]

FOLDERS = ("jax/experimental/pallas", "tokamax")
"""Their modules, but not those of folders below, are what users import."""

DEPRECATED = "_deprecations"
"""The dict in which jax keeps a message for each deprecated name, and its value, or None once it is removed."""


def is_door(path: str) -> bool:
    """Whether users import this file's names."""
    return str(PurePosixPath(path).parent) in FOLDERS


def public_names(door: Module) -> Mapping[str, bool]:
    """Each public name, and whether using it warns that it is deprecated.

    Names that begin with an underscore are private; so is what a file imports for itself, which is everything that is
    not said again after `as`, as type checkers have it. Finding for an import of everything, which hides its names.
    """
    found = {name: False for node in door.tree.body for name in _bound(door, node) if not name.startswith("_")}
    for node in door.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=keys, values=values)) if (
                name == DEPRECATED
            ):
                found |= dict.fromkeys(_warning(keys, values), True)
            case ast.Delete(targets=targets):
                for target in targets:
                    found.pop(ast.unparse(target), None)
            case _:
                pass
    return found


def _bound(door: Module, node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ImportFrom(names=names) | ast.Import(names=names):
            for alias in names:
                if alias.name == "*":
                    raise _unknown(door, node)
                if alias.asname is not None:
                    yield alias.asname
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.If(test=test, body=body, orelse=orelse):
            # What only type checkers see are the deprecated names, which the dict has too.
            for inner in [*([] if "TYPE_CHECKING" in ast.unparse(test) else body), *orelse]:
                yield from _bound(door, inner)
        case _:
            pass


def _warning(keys: list[ast.expr | None], values: list[ast.expr]) -> Iterator[str]:
    for key, value in zip(keys, values, strict=True):
        match key, value:
            case ast.Constant(str(name)), ast.Tuple(elts=[_, ast.Constant(None)]):
                del name  # removed: asking for it is an error
            case ast.Constant(str(name)), _:
                yield name
            case _:
                pass


def _unknown(door: Module, node: ast.stmt) -> Finding:
    return Finding(
        "a door that imports everything from another module",
        {"code": f"{door.path}:{node.lineno}"},
        "teach track/drift/doors.py where its names are",
    )
