"""The lowering tables of every backend, read from the sources without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from track.anchors.symbols import Module
from track.errors import Finding
from track.facts.backends import BACKENDS, SPARSE, Backend, ModuleOf
from track.facts.names import Names
from track.facts.registrations import Rule

__all__ = ["certain", "check_complete", "conditions", "tables"]


def tables(module_of: ModuleOf) -> Mapping[str, frozenset[str]]:
    """The primitives of every table of every backend, with all modules of Pallas imported.

    Those are among them that are registered only where another package is new enough: see `conditions`.
    """
    return {name: found for backend in BACKENDS for name, found in backend.tables(module_of).items()}


def conditions(module_of: ModuleOf) -> Mapping[tuple[str, str], str]:
    """For each table and primitive whose rules are all registered under a condition: the condition of the first."""
    rules = [rule for backend in BACKENDS for rule in backend.rules(module_of)]
    always = {(rule.table, rule.primitive) for rule in rules if not rule.condition}
    return {(r.table, r.primitive): r.condition for r in reversed(rules) if (r.table, r.primitive) not in always}


def certain(rules: Iterable[Rule]) -> frozenset[str]:
    """The primitives of some rules; Finding where it depends on another package whether one of them has a rule."""
    rules = list(rules)
    always = frozenset(rule.primitive for rule in rules if not rule.condition)
    for rule in rules:
        if rule.primitive not in always:
            raise Finding(
                f"whether {rule.primitive} has a rule depends on another package: {rule.condition}",
                {"table": rule.table, "line": rule.line},
            )
    return always


def check_complete(texts: Mapping[str, str], module_of: ModuleOf) -> None:
    """Raise Finding if a file registers rules that is not among those we read: then every count would be short."""
    for backend in BACKENDS:
        form = backend.form({path: module_of(path) for path in (backend.core, SPARSE)})
        wanted = {*form.register, form.table}
        for path in sorted(texts.keys() - set(backend.files)):
            if any(_may_name(texts[path], name) for name in wanted):
                _check_stranger(backend, module_of(path), wanted)


def _may_name(text: str, full: str) -> bool:
    """Whether a file says the name itself, and the package that it would import it from."""
    module, _, name = full.rpartition(".")
    return name in text and module.rpartition(".")[0] in text


def _check_stranger(backend: Backend, module: Module, wanted: set[str]) -> None:
    """Finding if a module names a registering function or a table when it is imported."""
    names = Names.of(module)
    for node in (inner for statement in module.tree.body for inner in _outside_functions(statement)):
        if names.full(node) in wanted:
            raise Finding(
                f"a file that registers lowering rules for {backend.name} and is not read for them",
                {"code": f"{module.path}:{getattr(node, 'lineno', 1)}"},
                "add it to its backend in track/facts/backends.py",
            )


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    inside = node.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ()
    for child in ast.iter_child_nodes(node):
        if child not in inside:
            yield from _outside_functions(child)
