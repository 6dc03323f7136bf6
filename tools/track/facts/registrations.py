"""Rules that a module registers when it is imported, read from its source without running it.

A backend keeps its lowering rules in a dict, or in several, by primitive. Modules fill it by a decorator, by a call,
by assignment, by `update`, and in loops over literals. Loops are unrolled here as the interpreter would. Anything else
that could change a table is a Finding, so a count is right or is not given.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

from track.anchors.symbols import Module
from track.errors import Finding
from track.facts.names import Names, primitive

__all__ = ["Form", "Rule", "Unknown", "read"]

type Env = Mapping[str, ast.expr]
"""The loop variables, and what each stands for in this turn of the loop."""

PARTIAL = "functools.partial"
MUTATORS = frozenset({"clear", "pop", "popitem", "setdefault", "update"})


class Unknown(Exception):
    """A part of a registration that a form cannot read."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """One primitive in one table, and where it is registered."""

    primitive: str
    table: str
    line: int
    column: int
    is_decorator: bool
    condition: str = ""
    """What has to hold of the installed packages for it to be registered, as the source says it."""

    @property
    def site(self) -> tuple[int, int]:
        """The call or statement that registers it, and maybe others."""
        return self.line, self.column


@dataclasses.dataclass(frozen=True)
class Form:
    """How a backend's tables are filled.

    `register` are the full names of the functions that return a decorator, each with the tables that it fills where
    its call names none. `table` is the full name of the dict. `of_call` and `of_key` read which tables a call, or a
    key of the dict, means; `of_key` is None for a dict that is one table, with the name `only`.
    """

    register: Mapping[str, tuple[str, ...]]
    table: str
    of_call: Callable[[ast.Call, Env], tuple[str, ...] | None]
    of_key: Callable[[ast.expr, Env], tuple[str, ...]] | None
    only: str = ""


def read(module: Module, form: Form) -> tuple[Rule, ...]:
    """Every rule that the import of `module` registers, in the order of the file."""
    reader = _Reader(module, form, Names.of(module))
    for statement in module.tree.body:
        reader.statement(statement, {})
    return tuple(sorted(reader.rules, key=lambda rule: rule.site))


@dataclasses.dataclass
class _Reader:
    module: Module
    form: Form
    names: Names
    condition: str = ""
    rules: list[Rule] = dataclasses.field(default_factory=list[Rule])

    def statement(self, node: ast.stmt, env: Env) -> None:
        if not self.mentions(node) or self.is_beginning(node):
            return
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.definition(node, env)
            case ast.For(orelse=[]):
                for inner in self.turns(node, env):
                    for statement in node.body:
                        self.statement(statement, inner)
            case ast.If(test=ast.Call(func=ast.Name(id="hasattr")) as test, orelse=[]):
                self.under(ast.unparse(test), node.body, env)
            case ast.Expr(ast.Call(func=ast.Call() as call)) if self.registers(call.func):
                self.call(call, env)
            case ast.Expr(ast.Call(func=ast.Attribute(target, "update"), args=[ast.Dict(keys)], keywords=[])):
                self.entries(node, target, keys, env)
            case ast.Assign(targets=[ast.Subscript(value=target, slice=key)]):
                self.entries(node, target, [key], env)
            case _:
                raise self.unknown(node, "a mention that is no registration")

    def under(self, condition: str, body: Sequence[ast.stmt], env: Env) -> None:
        """What a branch registers, which is taken where another package is new enough."""
        inner = dataclasses.replace(self, rules=[], condition=condition)
        for statement in body:
            inner.statement(statement, env)
        self.rules += inner.rules

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, env: Env) -> None:
        """Decorators register; the body may read a table, and only the registering function may write into it."""
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and self.registers(decorator.func):
                self.call(decorator, env, is_decorator=True)
            elif self.mentions(decorator):
                raise self.unknown(decorator, "a decorator")
        if f"{self.names.own}.{node.name}" in self.form.register:
            return
        for inner in (n for statement in node.body for n in ast.walk(statement)):
            if self.writes(inner) or self.registers(inner):
                raise self.unknown(inner, "a registration inside a function")

    def writes(self, node: ast.AST) -> bool:
        match node:
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                return self.mentions_table(value)
            case ast.Attribute(value=value, attr=attr):
                return attr in MUTATORS and self.mentions_table(value)
            case _:
                return False

    def call(self, call: ast.Call, env: Env, *, is_decorator: bool = False) -> None:
        """A call of the registering function, whose first argument is the primitive."""
        default = self.form.register[self.names.full(call.func)]
        try:
            tables = self.form.of_call(call, env) or default
        except Unknown as part:
            raise self.unknown(call, str(part)) from None
        first = call.args[0] if call.args else None
        if first is None or isinstance(first, ast.Starred):
            raise self.unknown(call, "its first argument")
        self.add(call, first, tables, env, is_decorator=is_decorator)

    def entries(self, node: ast.stmt, target: ast.expr, keys: Sequence[ast.expr | None], env: Env) -> None:
        """Primitives that are put into the dict itself."""
        tables = self.tables(node, target, env)
        for key in keys:
            if key is None:
                raise self.unknown(node, "an entry that is another dict")
            self.add(node, key, tables, env)

    def tables(self, node: ast.stmt, target: ast.expr, env: Env) -> tuple[str, ...]:
        """Which tables `TABLE` or `TABLE[key]` is."""
        if self.form.of_key is None and self.is_table(target):
            return (self.form.only,)
        if self.form.of_key and isinstance(target, ast.Subscript) and self.is_table(target.value):
            try:
                return self.form.of_key(target.slice, env)
            except Unknown as part:
                raise self.unknown(node, str(part)) from None
        raise self.unknown(node, "what is assigned to")

    def add(
        self, node: ast.stmt | ast.expr, key: ast.expr, tables: Sequence[str], env: Env, *, is_decorator: bool = False
    ) -> None:
        found = env.get(key.id, key) if isinstance(key, ast.Name) else key
        full = self.names.full(found)
        # A name without the ending of a primitive is a variable, which may stand for any number of them.
        if not full.endswith("_p"):
            raise self.unknown(node, f"a primitive, {ast.unparse(found)}")
        name = primitive(full)
        place = (node.lineno, node.col_offset, is_decorator, self.condition)
        self.rules += [Rule(name, table, *place) for table in tables]

    def turns(self, loop: ast.For, env: Env) -> Iterator[Env]:
        """The loop variables of each turn, for a loop over a literal, or over the items of one."""
        for row in self.rows(loop):
            match loop.target, row:
                case ast.Name(id=name), _:
                    yield {**env, name: row}
                case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                    pairs = zip(names, values, strict=True)
                    yield {**env, **{n.id: value for n, value in pairs if isinstance(n, ast.Name)}}
                case _:
                    raise self.unknown(loop, "a loop whose variables do not fit")

    def rows(self, loop: ast.For) -> list[ast.expr]:
        match loop.iter:
            case ast.List(elts=rows) | ast.Tuple(elts=rows) if not any(isinstance(r, ast.Starred) for r in rows):
                return rows
            case ast.Call(func=ast.Attribute(ast.Name(id=name), "items"), args=[], keywords=[]):
                return [ast.Tuple([key, value]) for key, value in self.literal(loop, name)]
            case _:
                raise self.unknown(loop, "a loop over what is no literal")

    def literal(self, loop: ast.For, name: str) -> Iterator[tuple[ast.expr, ast.expr]]:
        """The entries of a dict that a module-level name stands for."""
        same = [s for s in self.module.tree.body if isinstance(s, ast.Assign) and _binds(s, name)]
        if len(same) != 1 or not isinstance(same[0].value, ast.Dict):
            raise self.unknown(loop, f"a loop over {name}, which is no dict in sight")
        for key, value in zip(same[0].value.keys, same[0].value.values, strict=True):
            if key is None:
                raise self.unknown(loop, "an entry that is another dict")
            yield key, value

    def is_beginning(self, node: ast.stmt) -> bool:
        """Whether this makes the dict, empty, or only says its type; or makes another registering function."""
        match node:
            case ast.Assign(targets=[target], value=ast.Call(func=made, args=[function])):
                return self.registers(target) and self.registers(function) and self.names.full(made) == PARTIAL
            case ast.Assign(targets=[target], value=value):
                return self.is_table(target) and _is_empty(value)
            case ast.AnnAssign(target=target, value=value):
                return self.is_table(target) and (value is None or _is_empty(value))
            case _:
                return False

    def registers(self, node: ast.AST) -> bool:
        return self.names.full(node) in self.form.register

    def is_table(self, node: ast.AST) -> bool:
        return self.names.full(node) == self.form.table

    def mentions_table(self, node: ast.AST) -> bool:
        return any(self.is_table(inner) for inner in ast.walk(node))

    def mentions(self, node: ast.stmt | ast.expr) -> bool:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        text = self.module.lines[first - 1 : node.end_lineno]
        short = {name.rpartition(".")[2] for name in (*self.form.register, self.form.table)}
        if not any(name in line for line in text for name in short):  # which spares a walk over most of the file
            return False
        return any(self.registers(inner) or self.is_table(inner) for inner in ast.walk(node))

    def unknown(self, node: ast.AST, part: str) -> Finding:
        return Finding(
            "a lowering rule is registered in a form that is not known",
            {
                "code": f"{self.module.path}:{getattr(node, 'lineno', 1)}",
                "found": f"{part}: {_first_line(node)}",
            },
            "teach track/facts/registrations.py the new form",
        )


def _binds(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def _is_empty(node: ast.expr) -> bool:
    """An empty dict, or a dict of empty ones."""
    match node:
        case ast.Dict(values=values):
            return all(_is_empty(value) for value in values)
        case ast.DictComp(value=value):
            return _is_empty(value)
        case _:
            return False


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).partition("\n")[0]
