"""The symbols of a Python file: classes, functions and module- or class-level names, with the lines they own."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import functools
import io
import tokenize
from collections.abc import Iterator
from typing import Literal

from track.errors import BadInput
from track.spans import Span

__all__ = ["Module", "Symbol", "find", "parse"]

Kind = Literal["class", "function", "name"]


@dataclasses.dataclass(frozen=True)
class Symbol:
    """One definition. `place` of `of` tells definitions with the same qualified name apart."""

    qualname: str
    kind: Kind
    span: Span
    """From the first decorator to the last line of the body."""
    lead: int
    """First line of the comments that stand directly before it, or the span's own first line."""
    node: ast.stmt = dataclasses.field(repr=False, compare=False)
    place: int = 1
    of: int = 1

    @functools.cached_property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    @property
    def parent(self) -> str:
        """The qualified name of what it is defined in; empty at module level."""
        return self.qualname.rpartition(".")[0]

    @property
    def selector(self) -> str:
        """The text that selects this symbol and no other in its file."""
        return self.qualname if self.of == 1 else f"{self.qualname} ({self.place} of {self.of})"

    @functools.cached_property
    def owned(self) -> Span:
        """The span together with the comments before it."""
        return Span(self.lead, self.span.last)

    @property
    def docstring(self) -> Span | None:
        """Lines of the docstring, if there is one and it is not the whole body."""
        body: list[ast.stmt] = getattr(self.node, "body", [])
        if len(body) <= 1 or not _is_docstring(body[0]):
            return None
        return Span(body[0].lineno, body[0].end_lineno or body[0].lineno)


@dataclasses.dataclass(frozen=True)
class Module:
    """A parsed source file."""

    path: str
    text: str = dataclasses.field(repr=False)
    tree: ast.Module = dataclasses.field(repr=False, compare=False)

    @functools.cached_property
    def lines(self) -> tuple[str, ...]:
        """Source lines without their ends; line *n* is `lines[n - 1]`."""
        return tuple(self.text.removesuffix("\n").split("\n"))

    @functools.cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every symbol, in file order."""
        return _numbered(list(_walk(self, self.tree.body, "")))

    @functools.cached_property
    def comments(self) -> tuple[tuple[int, int, int], ...]:
        """Every comment as (line, first column, column after its end), columns in characters."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return tuple((t.start[0], t.start[1], t.end[1]) for t in tokens if t.type == tokenize.COMMENT)

    @functools.cached_property
    def header(self) -> Span | None:
        """The comment block at the very top, where upstream keeps its license notice."""
        last = 0
        while last < len(self.lines) and self.lines[last].startswith("#"):
            last += 1
        return Span(1, last) if last else None

    @functools.cached_property
    def quiet(self) -> frozenset[int]:
        """Lines that hold only white space or a comment."""
        full = {line for line, first, _ in self.comments if not self.lines[line - 1][:first].strip()}
        return frozenset(
            full | {n for n, text in enumerate(self.lines, 1) if not text.strip() and n not in self.in_strings}
        )

    @functools.cached_property
    def in_strings(self) -> frozenset[int]:
        """Lines on which a string that began earlier goes on."""
        strings = (n for n in ast.walk(self.tree) if isinstance(n, ast.Constant | ast.JoinedStr))
        return frozenset(line for n in strings for line in range(n.lineno + 1, (n.end_lineno or n.lineno) + 1))

    def lead_of(self, first: int) -> int:
        """First line of the comments that belong to what starts at line `first`."""
        floor = self.header.last if self.header else 0
        line = first
        while line - 1 > floor and line - 1 in self.quiet:
            line -= 1
        while line < first and not self.lines[line - 1].strip():
            line += 1
        return line


def parse(path: str, text: str) -> Module:
    """Parse a source file; raise BadInput naming the place where it is no Python."""
    try:
        return Module(path, text, ast.parse(text))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise BadInput(
            f"{path} is not valid Python",
            {"file": f"{path}:{line}" if line else path, "found": getattr(error, "msg", str(error))},
            "the sources need Python 3.12 or newer to parse; check `python --version` and the pin",
        ) from error


def find(module: Module, selector: str) -> Symbol:
    """The one symbol that `selector` names: a qualified name, with `(n of m)` where it occurs m times."""
    exact = [s for s in module.symbols if s.selector == selector]
    if len(exact) == 1:
        return exact[0]
    same = [s for s in module.symbols if s.qualname == selector]
    if same:
        choices = "\n".join(f"{s.selector}, line {s.span.first}" for s in same)
        raise BadInput(
            f"symbol '{selector}' occurs {len(same)} times in {module.path}",
            {"file": module.path, "found": choices},
            f"say which, for instance: {same[0].selector}",
        )
    raise BadInput(
        f"no symbol '{selector}' in {module.path}",
        {"file": module.path, "closest": ", ".join(_closest(module, selector)) or "nothing alike"},
        "name a class, function or module-level name of that file",
    )


def _closest(module: Module, selector: str) -> list[str]:
    return difflib.get_close_matches(selector, [s.selector for s in module.symbols], n=3, cutoff=0.5)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _walk(module: Module, body: list[ast.stmt], scope: str, *, names: bool = True) -> Iterator[Symbol]:
    for node in body:
        yield from _of_statement(module, node, scope, names=names)


def _of_statement(module: Module, node: ast.stmt, scope: str, *, names: bool) -> Iterator[Symbol]:
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            kind: Kind = "class" if isinstance(node, ast.ClassDef) else "function"
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield _symbol(module, scope + node.name, kind, node, first)
            yield from _walk(module, node.body, f"{scope}{node.name}.", names=kind == "class")
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if names:
            yield _symbol(module, scope + name, "name", node, node.lineno)
        case _:
            for inner in _inner_bodies(node):
                yield from _walk(module, inner, scope, names=names)


def _symbol(module: Module, qualname: str, kind: Kind, node: ast.stmt, first: int) -> Symbol:
    return Symbol(qualname, kind, Span(first, node.end_lineno or first), module.lead_of(first), node)


def _inner_bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        yield getattr(node, field, [])
    for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
        yield part.body


def _numbered(symbols: list[Symbol]) -> tuple[Symbol, ...]:
    total: dict[str, int] = {}
    for symbol in symbols:
        total[symbol.qualname] = total.get(symbol.qualname, 0) + 1
    seen: dict[str, int] = {}
    result: list[Symbol] = []
    for symbol in symbols:
        seen[symbol.qualname] = seen.get(symbol.qualname, 0) + 1
        result.append(dataclasses.replace(symbol, place=seen[symbol.qualname], of=total[symbol.qualname]))
    return tuple(result)
