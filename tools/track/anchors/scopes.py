"""The names of a file: what its top level binds, and where a dotted name is used."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

from track.anchors.symbols import Module

__all__ = ["Use", "bound_once", "is_overload", "uses"]

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclasses.dataclass(frozen=True)
class Use:
    """A name, or several with dots between, as it is written on one line."""

    line: int
    text: str
    owner: str = ""
    """The class whose method it stands in, if it begins with the method's first parameter."""
    hidden: bool = False
    """Whether a function that it stands in binds its first name itself."""


def bound_once(tree: ast.Module) -> Mapping[str, ast.AST]:
    """The node that binds each name at the top level, less the names that several bind."""
    found: dict[str, ast.AST | None] = {}
    for node in _statements(tree.body):
        for name in () if is_overload(node) else _bound_by(node):
            found[name] = None if name in found else node
    return {name: node for name, node in found.items() if node}


def is_overload(node: ast.AST) -> bool:
    """Whether a function only tells type checkers of one more way to call what is defined below it."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return any(ast.unparse(decorator).rpartition(".")[2] == "overload" for decorator in decorators)


def uses(module: Module) -> Sequence[Use]:
    """Every name that a file reads, and the beginnings of dotted ones; what an import binds counts as read there."""
    found: list[Use] = []
    _Scope(found.append).children(module.tree)
    return found


@dataclasses.dataclass(frozen=True)
class _Scope:
    """What hides the names of the top level at some place; in a class or a method, which class and what names it."""

    found: Callable[[Use], None]
    hides: frozenset[str] = frozenset()
    owner: str = ""
    me: str = ""
    around: frozenset[str] | None = None
    """Directly in a class: what hides names around it, and so in its methods, which do not see what it binds."""

    def node(self, node: ast.AST) -> None:
        if (
            isinstance(node, ast.Attribute | ast.Name)
            and isinstance(node.ctx, ast.Load)
            and (text := _dotted_text(node))
        ):
            self.name(node, text)
        elif isinstance(node, ast.ClassDef):
            self.class_(node)
        elif isinstance(node, Function):
            self.function(node)
        elif isinstance(node, ast.alias):
            bound = node.asname or node.name
            self.found(Use(node.lineno, bound, hidden=bound in self.hides))
        else:
            self.children(node)

    def children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            self.node(child)

    def class_(self, node: ast.ClassDef) -> None:
        for part in [*node.decorator_list, *node.bases, *node.keywords, *node.type_params]:
            self.node(part)
        names = frozenset(name for inner in _statements(node.body) for name in _bound_by(inner))
        around = self.hides if self.around is None else self.around
        owner = "" if around else f"{self.owner}.{node.name}".strip(".")
        inside = _Scope(self.found, self.hides | names, owner, "", around)
        for inner in node.body:
            inside.node(inner)

    def function(self, node: Function) -> None:
        """Decorators, defaults and annotations are outside of the function, its body is inside."""
        for part in [*getattr(node, "decorator_list", []), node.args, *filter(None, [getattr(node, "returns", None)])]:
            self.node(part)
        own = frozenset(_names_of(node))
        is_method = self.around is not None
        me = _first_parameter(node) if is_method else "" if self.me in own else self.me
        inside = _Scope(self.found, (self.hides if self.around is None else self.around) | own, self.owner, me)
        for part in node.body if isinstance(node.body, list) else [node.body]:
            inside.node(part)

    def name(self, node: ast.expr, text: str) -> None:
        first = text.partition(".")[0]
        mine = first == self.me
        self.found(Use(node.lineno, text, self.owner if mine else "", not mine and first in self.hides))
        if isinstance(node, ast.Attribute):
            self.node(node.value)


def _dotted_text(node: ast.expr) -> str | None:
    """`a.b.c` where it is written so, on one line."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr) if node.end_lineno == value.lineno:
            before = _dotted_text(value)
            return f"{before}.{attr}" if before else None
        case _:
            return None


def _first_parameter(node: Function) -> str:
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in getattr(node, "decorator_list", []))
    given = [*node.args.posonlyargs, *node.args.args]
    return given[0].arg if given and not static else ""


def _names_of(node: Function) -> Iterator[str]:
    """Every name that a function binds; what it declares global or nonlocal is taken for its own."""
    spread = (node.args.vararg, node.args.kwarg)
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *(a for a in spread if a)]
    yield from (a.arg for a in given)
    yield from (p.name for p in getattr(node, "type_params", []))
    for part in node.body if isinstance(node.body, list) else [node.body]:
        yield from _bound_inside(part)


def _bound_inside(node: ast.AST) -> Iterator[str]:
    yield from _bound_by(node)
    if not isinstance(node, Function | ast.ClassDef):
        for child in ast.iter_child_nodes(node):
            yield from _bound_inside(child)


def _bound_by(node: ast.AST) -> Iterator[str]:
    """The names that one node binds by itself."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (a.asname or a.name.partition(".")[0] for a in names)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.TypeAlias(name=ast.Name(id=name)):
            yield name
        case _:
            pass


def _statements(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node of some statements that can bind a name of theirs, but for what functions and classes hold."""
    for node in body:
        yield from _outside(node)


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, Function | ast.ClassDef):
        for child in ast.iter_child_nodes(node):
            yield from _outside(child)
