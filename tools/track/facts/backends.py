"""The backends of Pallas: which files fill their lowering tables, and in which form.

TPU         mosaic/lowering.py, one table a core type, and the modules that add to it
Triton      triton/lowering.py, one table, and triton/primitives.py
Mosaic GPU  mosaic_gpu/lowering.py, a table for each pair of lowering and primitive semantics, and its primitives.py
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

from track.anchors.symbols import Module
from track.errors import Finding
from track.facts.registrations import Env, Form, Rule, Unknown, read

__all__ = ["BACKENDS", "GPU", "SPARSE", "TPU", "TRITON", "Backend", "ModuleOf", "core_types", "semantics"]

type ModuleOf = Callable[[str], Module]

PALLAS = "jax/_src/pallas"
SPARSE = f"{PALLAS}/mosaic/sc_lowering.py"
REGISTER = "register_lowering_rule"


@dataclasses.dataclass(frozen=True)
class Backend:
    """The files that register rules, the first of which makes the tables, and the one that names them."""

    name: str
    core: str
    files: tuple[str, ...]
    form: Callable[[Mapping[str, Module]], Form]
    names: Callable[[Module], tuple[str, ...]]

    def rules(self, module_of: ModuleOf, files: Sequence[str] = ()) -> tuple[Rule, ...]:
        """Every rule, or those of some files; raises Finding where one has a form that is not known."""
        return _read(self, module_of(self.core), *(module_of(path) for path in files or self.files))

    def tables(self, module_of: ModuleOf) -> Mapping[str, frozenset[str]]:
        """The primitives in each table, which may be empty."""
        rules = self.rules(module_of)
        names = self.names(module_of(self.core))
        return {name: frozenset(r.primitive for r in rules if r.table == name) for name in names}


@functools.lru_cache(maxsize=32)  # several facts are counted in the same rules
def _read(backend: Backend, core: Module, *modules: Module) -> tuple[Rule, ...]:
    form = backend.form({module.path: module for module in (core, *modules)})
    return tuple(rule for module in modules for rule in read(module, form))


def core_types(core: Module) -> tuple[str, ...]:
    """Member names of the enum `CoreType` in `mosaic/core.py`."""
    for node in core.tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "CoreType":
            return tuple(
                t.id for n in node.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
            )
    raise _gone(core, "class CoreType")


def _tpu_form(modules: Mapping[str, Module]) -> Form:
    home = "jax._src.pallas.mosaic"
    types = core_types(modules[TPU.core])
    register = {f"{home}.lowering.{REGISTER}": _tpu_names(["TC"])}
    if SPARSE in modules:
        register[f"{home}.sc_lowering.{REGISTER}"] = _sparse_default(modules[SPARSE], types)
    return Form(register, f"{home}.lowering.lowering_rules", lambda call, _: _kernel_types(call, types), _no_key)


def _sparse_default(module: Module, types: Sequence[str]) -> tuple[str, ...]:
    """The core types that the SparseCore's own registering function stands for."""
    for node in module.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if name == REGISTER:
                if found := _kernel_types(call, types):
                    return found
            case _:
                pass
    raise _gone(module, f"{REGISTER} with kernel_types of its own")


def _kernel_types(call: ast.Call, types: Sequence[str]) -> tuple[str, ...] | None:
    given = next((k.value for k in call.keywords if k.arg == "kernel_types"), None)
    if given is None:
        return None
    if _tail(given) == "CoreType":  # the enum itself, which stands for all its members
        return _tpu_names(types)
    if not isinstance(given, ast.List | ast.Tuple):
        raise Unknown("its kernel_types")
    named: list[str] = []
    for item in given.elts:
        if isinstance(item, ast.Starred) and _tail(item.value) == "CoreType":
            named.extend(types)
        elif _tail(item) in types:
            named.append(_tail(item))
        else:
            raise Unknown("its kernel_types")
    return _tpu_names(dict.fromkeys(named))


def _tpu_names(types: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"TPU {core_type}" for core_type in types)


def _no_key(*_: object) -> tuple[str, ...]:
    raise Unknown("an assignment into the table")


def _triton_form(_: Mapping[str, Module]) -> Form:
    home = "jax._src.pallas.triton.lowering"
    return Form({f"{home}.register_lowering": ("Triton",)}, f"{home}.triton_lowering_rules", _all, None, "Triton")


def _all(call: ast.Call, _: Env) -> None:
    if len(call.args) != 1 or call.keywords:
        raise Unknown("its arguments")


def semantics(core: Module) -> Mapping[str, tuple[str, ...]]:
    """The constants of `mosaic_gpu/core.py` that name a pair of lowering and primitive semantics."""
    pairs = {
        target.id: tuple(_tail(item) for item in items)
        for node in core.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
        for target, items in [(node.targets[0], node.value.elts)]
        if isinstance(target, ast.Name) and target.id.endswith("_SEMANTICS") and len(items) == len(("lowering", "own"))
    }
    if not pairs:
        raise _gone(core, "constant that ends in _SEMANTICS")
    return pairs


def _gpu_form(modules: Mapping[str, Module]) -> Form:
    home = "jax._src.pallas.mosaic_gpu.lowering"
    pairs = semantics(modules[GPU.core])
    return Form(
        {f"{home}.{REGISTER}": ()},
        f"{home}.mosaic_lowering_rules",
        lambda call, env: (_pair(call.args[1:], pairs, env),),
        lambda key, env: (_pair([ast.Starred(key)], pairs, env),),
    )


def _pair(given: Sequence[ast.expr], pairs: Mapping[str, tuple[str, ...]], env: Env) -> str:
    """The table for `*CONSTANT`, or for one or two members of the enums."""
    match given:
        case [ast.Starred(value=value)]:
            found = env.get(value.id, value) if isinstance(value, ast.Name) else value
            parts = pairs.get(_tail(found), ())
        case [lowering]:
            parts = (_tail(lowering), "Warpgroup")  # the parameter's default
        case [lowering, own]:
            parts = (_tail(lowering), _tail(own))
        case _:
            parts = ()
    if parts not in pairs.values():
        raise Unknown("its semantics")
    return _gpu_name(parts)


def _gpu_name(parts: Sequence[str]) -> str:
    return "Mosaic GPU " + "×".join(parts)


def _tail(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _gone(module: Module, what: str) -> Finding:
    return Finding(f"no {what}", {"file": module.path}, "the rule tables are read by it; see track/facts/backends.py")


def _files(*names: str) -> tuple[str, ...]:
    return tuple(f"{PALLAS}/{name}.py" for name in names)


TPU = Backend(
    "the TPU",
    f"{PALLAS}/mosaic/core.py",
    _files(
        "mosaic/lowering",
        "mosaic/sc_lowering",
        "mosaic/sc_primitives",
        "mosaic/pipeline",
        "einshape",
        "fuser/custom_fusion_lib",
    ),
    _tpu_form,
    lambda core: _tpu_names(core_types(core)),
)
TRITON = Backend(
    "Triton",
    f"{PALLAS}/triton/lowering.py",
    _files("triton/lowering", "triton/primitives"),
    _triton_form,
    lambda _: ("Triton",),
)
GPU = Backend(
    "Mosaic GPU",
    f"{PALLAS}/mosaic_gpu/core.py",
    _files("mosaic_gpu/lowering", "mosaic_gpu/primitives"),
    _gpu_form,
    lambda core: tuple(map(_gpu_name, semantics(core).values())),
)
BACKENDS = (TPU, TRITON, GPU)
