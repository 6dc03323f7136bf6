"""What a decorator says that a function is for, where it registers the function as a rule of a primitive.

A primitive is called by its variable, which is what the line says; its own name is often set in a file of jax that no
pin holds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from track.anchors.symbols import Symbol

__all__ = ["role_by_decorator"]

TPU_RULES = "jax/_src/pallas/mosaic/lowering.py"
"""The file whose rules name kinds of TPU cores."""

_TABLES = {
    "register_lowering_rule": "Lowers {}",
    "register_lowering": "Lowers {}",
    "register_discharge_rule": "Discharges {}: rewrites it with arrays in place of references",
}
"""Decorators that take a primitive, and what their rule does to it."""

_METHODS = {
    "def_abstract_eval": "Says, while tracing, which shapes and dtypes {} returns",
    "def_effectful_abstract_eval": "Says, while tracing, which shapes and dtypes {} returns, and which effects it has",
    "def_impl": "Runs {} outside of a trace",
}
"""Decorators that are methods of the primitive, and what their rule does."""


def role_by_decorator(symbol: Symbol, path: str) -> str | None:
    """A sentence made from the decorators that register a function of a file; None where there is none."""
    sentences: dict[str, list[str]] = {}
    for node in getattr(symbol.node, "decorator_list", []):
        for sentence, primitive in _registration(node, path):
            sentences.setdefault(sentence, []).append(f"`{primitive}`")
    return " ".join(f"{s.format(_listed(names))}." for s, names in sentences.items()) or None


def _registration(node: ast.expr, path: str) -> Iterator[tuple[str, str]]:
    """The sentence of one decorator, with a hole for the primitive, and the primitive."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[primitive, *_]) if name in _TABLES:
            where = _cores(node) if path == TPU_RULES else ""
            if where is not None:
                yield f"{_TABLES[name]}{where}", _variable(primitive)
        case ast.Attribute(value=primitive, attr=name) if name in _METHODS:
            yield _METHODS[name], _variable(primitive)
        case _:
            pass


def _cores(call: ast.Call) -> str | None:
    """The kinds of core that a Mosaic rule is for, the TensorCore unless it says; None if it says so in a new form."""
    match next((k.value for k in call.keywords if k.arg == "kernel_types"), None):
        case None:
            return " on the TensorCore"
        case ast.List(elts=[ast.Starred(value=ast.Attribute(attr="CoreType"))]) | ast.Attribute(attr="CoreType"):
            return " on every kind of core"
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            named = [f"`{item.attr}`" for item in elements if isinstance(item, ast.Attribute)]
            return f" on {_listed(named)}" if named and len(named) == len(elements) else None
        case _:
            return None


def _variable(node: ast.expr) -> str:
    """`lax.dot_general_p` is `dot_general_p`; what a jaxpr calls the primitive may differ, as it does for `load_p`."""
    return ast.unparse(node).rpartition(".")[2]


def _listed(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
