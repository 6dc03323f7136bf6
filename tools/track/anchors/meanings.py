"""Which definition a name in a pinned file means, found without running anything.

Names are followed through imports, aliases of modules and base classes, and through the public modules that only pass
on what others define. What is bound twice, or by the function that it stands in, means nothing here: no answer is
better than a wrong one.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping

from track.anchors.library import Library
from track.anchors.scopes import Use, bound_once, is_overload, uses
from track.anchors.symbols import Symbol

__all__ = ["Definition", "Meanings"]


@dataclasses.dataclass(frozen=True)
class Definition:
    """A symbol of a pinned file, or the whole file."""

    path: str
    symbol: Symbol | None = None


@dataclasses.dataclass(frozen=True)
class _Package:
    """A module by its dotted name; it need not be pinned itself."""

    name: str


Meaning = Definition | _Package | None


class Meanings:
    """Answers for the files of a library."""

    def __init__(self, library: Library) -> None:
        self.library = library
        paths = {path for tree in library.trees.values() for path in tree.paths if path.endswith(".py")}
        self.files = {_dotted(path): path for path in sorted(paths)}
        self.packages = {part for name in self.files for part in _beginnings(name)}
        self._by_name: dict[str, dict[str, list[Symbol]]] = {}
        self._bound_by: dict[str, Mapping[str, ast.AST]] = {}

    def in_code(self, path: str) -> Mapping[tuple[int, str], Definition]:
        """What the names of a file mean, by line and dotted text; one that means two things on a line is left out."""
        found: dict[tuple[int, str], Definition | None] = {}
        for use in uses(self.library.module(path)):
            known = self._definition(self._of_use(path, use))
            key = (use.line, use.text)
            found[key] = known if found.get(key, known) == known else None
        return {key: definition for key, definition in found.items() if definition}

    def dotted(self, text: str) -> Definition | None:
        """What a full dotted name means, such as `jax.experimental.pallas.BlockSpec`."""
        first, *rest = text.split(".")
        return self._definition(self._through(_Package(first), rest))

    def exported(self, module: str) -> Mapping[str, Definition]:
        """The public names that a module binds and that lead to a definition in a pinned file, sorted."""
        names = sorted(name for name in self._bindings(module) if not name.startswith("_"))
        found = {name: self._attribute(_Package(module), name) for name in names}
        return {name: meaning for name, meaning in found.items() if isinstance(meaning, Definition)}

    def _definition(self, meaning: Meaning) -> Definition | None:
        """What can be shown of a meaning: a module is its file, if that is pinned."""
        if isinstance(meaning, _Package):
            return Definition(self.files[meaning.name]) if meaning.name in self.files else None
        return meaning

    def _of_use(self, path: str, use: Use) -> Meaning:
        if use.hidden:
            return None
        first, *rest = use.text.split(".")
        if use.owner:
            return self._through(self._symbol(path, use.owner), rest) if rest else None
        return self._through(self._attribute(_Package(_dotted(path)), first, submodules=False), rest)

    def _through(self, meaning: Meaning, names: list[str]) -> Meaning:
        for name in names:
            match meaning:
                case _Package():
                    meaning = self._attribute(meaning, name)
                case Definition(symbol=Symbol(kind="class")):
                    meaning = self._member(meaning, name)
                case _:
                    return None
        return meaning

    def _attribute(self, package: _Package, name: str, *, submodules: bool = True) -> Meaning:
        """What a module's attribute is: a name that it binds, or a module inside of it."""
        node = self._bindings(package.name).get(name)
        if node is not None:
            return self._bound(package.name, name, node)
        inner = f"{package.name}.{name}"
        return _Package(inner) if submodules and inner in self.packages else None

    def _bound(self, module: str, name: str, node: ast.AST) -> Meaning:
        match node:
            case ast.Import(names=names):
                alias = next(a for a in names if (a.asname or a.name.partition(".")[0]) == name)
                return _Package(alias.name if alias.asname else alias.name.partition(".")[0])
            case ast.ImportFrom(module=source, names=names, level=level):
                alias = next(a for a in names if (a.asname or a.name) == name)
                origin = self._absolute(module, source, level)
                if origin == module:  # a package that names a module inside of it
                    return _Package(f"{module}.{alias.name}")
                return self._attribute(_Package(origin), alias.name)
            case _:
                return self._symbol(self.files[module], name)

    def _absolute(self, module: str, source: str | None, level: int) -> str:
        if not level:
            return source or ""
        parts = module.split(".")
        kept = len(parts) - level + self.files[module].endswith("/__init__.py")
        return ".".join([*parts[:kept], *filter(None, [source])])

    def _symbol(self, path: str, qualname: str) -> Definition | None:
        found = self._symbols(path).get(qualname, [])
        return Definition(path, found[0]) if len(found) == 1 else None

    def _symbols(self, path: str) -> Mapping[str, list[Symbol]]:
        if path not in self._by_name:
            self._by_name[path] = {}
            for symbol in (s for s in self.library.module(path).symbols if not is_overload(s.node)):
                self._by_name[path].setdefault(symbol.qualname, []).append(symbol)
        return self._by_name[path]

    def _member(self, owner: Definition, name: str) -> Meaning:
        """An attribute of a class: its own, or that of its first base that can be read and has it."""
        if owner.symbol is None or owner.symbol.kind != "class":
            return None
        qualname = f"{owner.symbol.qualname}.{name}"
        if qualname in self._symbols(owner.path):
            return self._symbol(owner.path, qualname)
        bases = [self._base(owner.path, base) for base in getattr(owner.symbol.node, "bases", [])]
        members = (self._member(base, name) for base in bases if base and base != owner)
        return next((member for member in members if member), None)

    def _base(self, path: str, node: ast.expr) -> Definition | None:
        """The class that a base names, generic arguments aside."""
        first, *rest = ast.unparse(node.value if isinstance(node, ast.Subscript) else node).split(".")
        return self._definition(self._through(self._attribute(_Package(_dotted(path)), first, submodules=False), rest))

    def _bindings(self, module: str) -> Mapping[str, ast.AST]:
        if module not in self._bound_by:
            path = self.files.get(module)
            self._bound_by[module] = bound_once(self.library.module(path).tree) if path else {}
        return self._bound_by[module]


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _beginnings(name: str) -> Iterator[str]:
    """`a.b.c`, `a.b` and `a`."""
    while name:
        yield name
        name = name.rpartition(".")[0]
