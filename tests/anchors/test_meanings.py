"""What a name in a file means: small files that try to mislead, and the real ones against Python's own answers."""

from __future__ import annotations

import dis
import importlib
import types

import pytest

from tests.pages.helpers import library, pinned
from track.anchors.meanings import Definition, Meanings

CORE = """\
class Base:
    size: int = 0

    def grow(self):
        return self.size


class Spec(Base):
    kind = "spec"

    def check(self, other):
        self.grow()
        self.kind
        self.missing
        other.check()


def make(kind):
    return kind


if Base:
    def twice():
        return 1
else:
    def twice():
        return 2
"""

USER = """\
import os
import pkg.core
from pkg import core as words
from pkg.core import Spec, make as build
from pkg.door import Spec as Shown
from . import core as near

words.Spec
words.Spec.grow
build(1)
Shown.check
near.make(2)
pkg.core.make
os.path
words.twice
words.absent
words.make.kind


def hides(build, words=words.Spec, other=Shown):
    build(3)
    words.Base
    item = [Spec for Spec in other]
    Spec.check
    return lambda near: near.make(4)


def inner():
    def Shown():
        return Shown(5)
    build(6)


class Thing:
    build = 3
    other = build

    def annotated(self: Spec) -> Shown:
        build(7)

    @staticmethod
    def free(thing):
        thing.build

    def nested(me):
        me.other
        def deeper(me):
            return me.annotated
"""

FILES = {
    "pkg/core.py": CORE,
    "pkg/door.py": "from pkg.core import Spec as Spec, make as _hidden\nimport os\nLIMIT = 3\n",
    "pkg/user.py": USER,
}


@pytest.fixture(scope="module")
def meanings(tmp_path_factory):
    return Meanings(library(tmp_path_factory.mktemp("meanings"), FILES))


def shown(found: Definition | None) -> str | None:
    return f"{found.path}:{found.symbol.qualname if found.symbol else ''}" if found else None


def meant(meanings: Meanings, code: str, name: str, path: str = "pkg/user.py") -> str | None:
    (line,) = (n for n, text in enumerate(FILES[path].splitlines(), 1) if text.strip() == code)
    return shown(meanings.in_code(path).get((line, name)))


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        ("words.Spec", "words.Spec", "pkg/core.py:Spec"),
        ("words.Spec", "words", "pkg/core.py:"),
        ("words.Spec.grow", "words.Spec.grow", "pkg/core.py:Base.grow"),
        ("build(1)", "build", "pkg/core.py:make"),
        ("Shown.check", "Shown.check", "pkg/core.py:Spec.check"),
        ("near.make(2)", "near.make", "pkg/core.py:make"),
        ("pkg.core.make", "pkg.core.make", "pkg/core.py:make"),
        ("from pkg import core as words", "words", "pkg/core.py:"),
        ("from pkg.core import Spec, make as build", "build", "pkg/core.py:make"),
        ("def hides(build, words=words.Spec, other=Shown):", "words.Spec", "pkg/core.py:Spec"),
        ("build(6)", "build", "pkg/core.py:make"),
        ("def annotated(self: Spec) -> Shown:", "Shown", "pkg/core.py:Spec"),
        ("build(7)", "build", "pkg/core.py:make"),
        ("me.other", "me.other", "pkg/user.py:Thing.other"),
    ],
)
def test_a_name_is_followed_through_imports_aliases_doors_and_bases(meanings, code, name, expected):
    assert meant(meanings, code, name) == expected


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("os.path", "os.path"),  # not pinned
        ("words.twice", "words.twice"),  # defined twice
        ("words.absent", "words.absent"),
        ("words.make.kind", "words.make.kind"),  # nothing is known of what a function has
        ("build(3)", "build"),  # a parameter
        ("words.Base", "words.Base"),  # a parameter, though its default was the module
        ("Spec.check", "Spec.check"),  # a loop's variable
        ("return lambda near: near.make(4)", "near.make"),
        ("return Shown(5)", "Shown"),  # a function inside
        ("other = build", "build"),  # the class has its own
        ("thing.build", "thing.build"),  # no self in a static method
        ("return me.annotated", "me.annotated"),  # another parameter of that name
    ],
)
def test_a_name_that_may_mean_something_else_means_nothing(meanings, code, name):
    assert meant(meanings, code, name) is None


def test_self_is_the_class_that_a_method_stands_in(meanings):
    assert meant(meanings, "self.grow()", "self.grow", "pkg/core.py") == "pkg/core.py:Base.grow"
    assert meant(meanings, "self.kind", "self.kind", "pkg/core.py") == "pkg/core.py:Spec.kind"
    assert meant(meanings, "self.missing", "self.missing", "pkg/core.py") is None
    assert meant(meanings, "other.check()", "other.check", "pkg/core.py") is None


def test_two_meanings_on_one_line_are_none(tmp_path):
    files = {"pkg/one.py": "def f():\n    pass\n\n\nboth = [f(), (lambda f: f)(1)]\n"}
    assert (5, "f") not in Meanings(library(tmp_path, files)).in_code("pkg/one.py")


def test_what_a_door_passes_on_is_public_and_leads_to_where_it_is_defined(meanings):
    exported = {name: shown(found) for name, found in meanings.exported("pkg.door").items()}
    assert exported == {"Spec": "pkg/core.py:Spec", "LIMIT": "pkg/door.py:LIMIT"}
    assert meanings.exported("pkg.nowhere") == {}
    assert shown(meanings.dotted("pkg.door.Spec.grow")) == "pkg/core.py:Base.grow"


def test_overloads_are_one_definition(tmp_path):
    source = "import typing\n\n\n@typing.overload\ndef cut(x: int): ...\n\n\ndef cut(x):\n    return x\n"
    found = Meanings(library(tmp_path, {"pkg/one.py": source})).dotted("pkg.one.cut")
    assert found.symbol.selector == "cut (2 of 2)"


def test_a_package_that_imports_from_itself_is_no_riddle(tmp_path):
    files = {"pkg/__init__.py": "from pkg import core\nfrom .core import make\n", "pkg/core.py": CORE}
    meanings = Meanings(library(tmp_path, files))
    assert shown(meanings.dotted("pkg.core.make")) == shown(meanings.dotted("pkg.make")) == "pkg/core.py:make"


REAL = (
    "jax/_src/pallas/core.py",
    "jax/_src/pallas/pallas_call.py",
    "jax/_src/pallas/primitives.py",
    "jax/_src/pallas/mosaic/lowering.py",
    "jax/_src/pallas/mosaic/pipeline.py",
    "jax/_src/pallas/triton/lowering.py",
    "jax/experimental/pallas/ops/tpu/flash_attention.py",
)


@pytest.fixture(scope="module")
def real():
    return Meanings(pinned())


def imported(path: str) -> types.ModuleType:
    return importlib.import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))


@pytest.mark.parametrize("path", REAL)
def test_python_itself_gives_every_name_of_the_real_files_the_same_meaning(real, path):
    """Each function, class and module that a name is said to mean is the object that the imported module has there."""
    module, checked = imported(path), 0
    for (line, name), found in real.in_code(path).items():
        head, *rest = name.split(".")
        if head in {"self", "cls"} or (found.symbol and found.symbol.kind == "name") or not hasattr(module, head):
            continue
        value = getattr(module, head)
        for part in rest:
            value = getattr(value, part)
        expected = imported(found.path)
        for part in found.symbol.qualname.split(".") if found.symbol else []:
            expected = getattr(expected, part)
        assert value == expected, (line, name)
        checked += 1
    assert checked > 50


def locals_by_line(code: types.CodeType) -> set[tuple[int | None, str]]:
    """The names that bytecode takes from a function and not from the module, by the lines of their own positions."""
    found: set[tuple[int | None, str]] = set()
    for step in dis.get_instructions(code):
        if "FAST" in step.opname or "DEREF" in step.opname:
            names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            found |= {(step.positions.lineno if step.positions else None, name) for name in names}
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return found.union(*map(locals_by_line, inner))


@pytest.mark.parametrize("path", REAL)
def test_no_name_that_the_compiler_takes_for_a_local_one_is_followed(real, path):
    code = compile(real.library.module(path).text, path, "exec", dont_inherit=True)
    local = locals_by_line(code)
    assert len(local) > 100
    wrong = {
        (line, name)
        for line, name in real.in_code(path)
        if (head := name.partition(".")[0]) not in {"self", "cls"} and (line, head) in local
    }
    assert wrong == set()
