"""The TPU lowering table, read from the source of `mosaic/lowering.py` without running it."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from track.anchors.symbols import Module
from track.errors import Finding

__all__ = ["Site", "core_types", "sites", "table"]

REGISTER = "register_lowering_rule"


@dataclasses.dataclass(frozen=True)
class Site:
    """One call of `register_lowering_rule`: a decorator, a direct call, or a call in a loop over primitives."""

    line: int
    primitives: tuple[str, ...]
    core_types: tuple[str, ...]
    is_decorator: bool


def core_types(core: Module) -> tuple[str, ...]:
    """Member names of the enum `CoreType` in `mosaic/core.py`."""
    for node in core.tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "CoreType":
            return tuple(
                t.id for n in node.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
            )
    raise Finding(
        "no class CoreType", {"file": core.path}, "the rule table is read by core type; see track/facts/rules.py"
    )


def sites(lowering: Module, types: Sequence[str]) -> tuple[Site, ...]:
    """Every registration in the file, in order; raises Finding for one of a form that is not known."""
    decorators = {id(d) for n in ast.walk(lowering.tree) for d in getattr(n, "decorator_list", [])}
    loops = dict(_loops(lowering.tree))
    found: list[Site] = []
    called: set[int] = set()
    for call in ast.walk(lowering.tree):
        if isinstance(call, ast.Call) and _names_it(call.func):
            called.add(id(call.func))
            primitives = _primitives(lowering, call, loops)
            found.append(Site(call.lineno, primitives, _types(lowering, call, types), id(call) in decorators))
    for node in ast.walk(lowering.tree):
        if _names_it(node) and id(node) not in called:
            raise _unknown(lowering, node, "a mention that is no call")
    return tuple(sorted(found, key=lambda site: site.line))


def table(found: Sequence[Site], types: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """The primitives that each core type has a rule for."""
    return {t: frozenset(p for site in found if t in site.core_types for p in site.primitives) for t in types}


def _names_it(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name == REGISTER
        case _:
            return False


def _loops(tree: ast.Module) -> Iterator[tuple[int, tuple[str, tuple[str, ...]]]]:
    """For each call in a `for name in [...]` loop: the name and what the list holds."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.For)
            and isinstance(node.target, ast.Name)
            and isinstance(node.iter, ast.List | ast.Tuple)
        ):
            values = tuple(ast.unparse(value) for value in node.iter.elts)
            for inner in ast.walk(node):
                yield id(inner), (node.target.id, values)


def _primitives(lowering: Module, call: ast.Call, loops: Mapping[int, tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    first = call.args[0] if call.args else None
    name, values = loops.get(id(call), ("", ()))
    if isinstance(first, ast.Name) and first.id == name:
        return values
    # A name without the ending of a primitive is a variable, which may stand for any number of them.
    if isinstance(first, ast.Name | ast.Attribute) and ast.unparse(first).endswith("_p"):
        return (ast.unparse(first),)
    raise _unknown(lowering, call, "its first argument")


def _types(lowering: Module, call: ast.Call, types: Sequence[str]) -> tuple[str, ...]:
    given = next((k.value for k in call.keywords if k.arg == "kernel_types"), None)
    if given is None:
        return ("TC",)  # the parameter's default
    if _is_enum(given):
        return tuple(types)
    if not isinstance(given, ast.List | ast.Tuple):
        raise _unknown(lowering, call, "its kernel_types")
    named: list[str] = []
    for item in given.elts:
        if isinstance(item, ast.Starred) and _is_enum(item.value):
            named.extend(types)
        elif isinstance(item, ast.Attribute) and item.attr in types:
            named.append(item.attr)
        else:
            raise _unknown(lowering, call, "its kernel_types")
    return tuple(dict.fromkeys(named))


def _is_enum(node: ast.expr) -> bool:
    """Whether this is the enum itself, which stands for all its members."""
    return ast.unparse(node).rpartition(".")[2] == "CoreType"


def _unknown(lowering: Module, node: ast.AST, part: str) -> Finding:
    return Finding(
        f"a {REGISTER} call of a form that is not known",
        {"code": f"{lowering.path}:{getattr(node, 'lineno', 1)}", "found": f"{part}: {ast.unparse(node)}"},
        "teach track/facts/rules.py the new form",
    )
