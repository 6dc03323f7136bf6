"""Reading the lowering tables from source: every form that is known, and no other."""

from __future__ import annotations

import ast

import pytest

from track.anchors import symbols
from track.errors import Finding
from track.facts import backends, catalog, rules
from track.facts.names import Names, primitive

TYPES = ("TC", "SC_SCALAR_SUBCORE", "SC_VECTOR_SUBCORE")
SPARSE = TYPES[1:]
LOWERING = "jax/_src/pallas/mosaic/lowering.py"
CORE = """
import enum

class CoreType(enum.Enum):
    TC = 0
    SC_SCALAR_SUBCORE = 1
    SC_VECTOR_SUBCORE = 2

    def __repr__(self):
        return self.name
"""
SC_LOWERING = """
import functools
from jax._src.pallas.mosaic import core as tpu_core
from jax._src.pallas.mosaic import lowering as tc_lowering

register_lowering_rule = functools.partial(
    tc_lowering.register_lowering_rule,
    kernel_types=(tpu_core.CoreType.SC_SCALAR_SUBCORE, tpu_core.CoreType.SC_VECTOR_SUBCORE),
)
"""
GPU_CORE = """
LANExWG_SEMANTICS = (
    mgpu.LoweringSemantics.Lane, PrimitiveSemantics.Warpgroup)
LANExWARP_SEMANTICS = (mgpu.LoweringSemantics.Lane, PrimitiveSemantics.Warp)
WGxWG_SEMANTICS = (mgpu.LoweringSemantics.Warpgroup, PrimitiveSemantics.Warpgroup)
WGxWARP_SEMANTICS = (mgpu.LoweringSemantics.Warpgroup, PrimitiveSemantics.Warp)
"""
IMPORTS = """
from jax._src import lax
from jax._src.pallas import primitives
from jax._src.state import primitives as sp
from jax._src.pallas.mosaic_gpu import core as gpu_core
"""
LANE_WG, LANE_WARP, WG_WG, WG_WARP = (
    f"Mosaic GPU {pair}" for pair in ("Lane×Warpgroup", "Lane×Warp", "Warpgroup×Warpgroup", "Warpgroup×Warp")
)


def found(backend: backends.Backend, files: dict[str, str]) -> list[tuple[str, str, bool]]:
    """The rules that some files register."""
    registering = [path for path in files if path in backend.files]
    read = backend.rules(lambda path: symbols.parse(path, files[path]), registering)
    return [(rule.primitive, rule.table.removeprefix("TPU "), rule.is_decorator) for rule in read]


def tpu(text: str, path: str = LOWERING) -> list[tuple[str, str, bool]]:
    return found(backends.TPU, {backends.TPU.core: CORE, path: IMPORTS + text})


def triton(text: str) -> list[str]:
    return [name for name, _, _ in found(backends.TRITON, {backends.TRITON.core: IMPORTS + text})]


def gpu(text: str) -> list[tuple[str, str]]:
    read = found(backends.GPU, {backends.GPU.core: GPU_CORE, backends.GPU.files[0]: IMPORTS + text})
    return [(name, table) for name, table, _ in read]


def test_core_types_are_the_members_of_the_enum():
    assert backends.core_types(symbols.parse("core.py", CORE)) == TYPES


def test_semantics_are_the_pairs_that_the_constants_name():
    pairs = backends.semantics(symbols.parse("core.py", GPU_CORE))
    assert pairs["LANExWARP_SEMANTICS"] == ("Lane", "Warp")
    assert len(pairs) == 4


@pytest.mark.parametrize(
    ("read", "what"),
    [
        (backends.core_types, "no class CoreType"),
        (backends.semantics, "no constant that ends in _SEMANTICS"),
    ],
)
def test_a_core_module_without_what_names_the_tables_is_a_finding(read, what):
    with pytest.raises(Finding, match=what):
        read(symbols.parse("core.py", "x = 1\n"))


@pytest.mark.parametrize(
    ("text", "primitives", "types", "is_decorator"),
    [
        ("@register_lowering_rule(lax.add_p)\ndef f(): pass", ["add"], ["TC"], True),
        ("@register_lowering_rule(lax.add_p, ensure_mlir_values=False)\ndef f(): pass", ["add"], ["TC"], True),
        ("register_lowering_rule(lax.add_p)(rule)", ["add"], ["TC"], False),
        ("register_lowering_rule(lax.add_p, kernel_types=[*CoreType])(rule)", ["add"], TYPES, False),
        ("register_lowering_rule(lax.add_p, kernel_types=tpu_core.CoreType)(rule)", ["add"], TYPES, False),
        ("register_lowering_rule(lax.add_p, kernel_types=(CoreType.TC,))(rule)", ["add"], ["TC"], False),
        (
            "register_lowering_rule(lax.add_p, kernel_types=[core.CoreType.TC, CoreType.SC_VECTOR_SUBCORE])(rule)",
            ["add"],
            ["TC", "SC_VECTOR_SUBCORE"],
            False,
        ),
        ("for p in [lax.a_p, lax.b_p]:\n    register_lowering_rule(p)(rule)", ["a", "b"], ["TC"], False),
        ("for p, f in ((lax.a_p, x), (lax.b_p, y)):\n    register_lowering_rule(p)(f)", ["a", "b"], ["TC"], False),
    ],
)
def test_a_registration_for_the_tpu_of_a_known_form_is_read(text, primitives, types, is_decorator):
    assert tpu(text) == [(name, kind, is_decorator) for name in primitives for kind in types]


def test_the_sparse_cores_register_by_a_function_of_their_own():
    path = "jax/_src/pallas/mosaic/sc_primitives.py"
    text = (
        "from jax._src.pallas.mosaic import lowering, sc_lowering\n"
        "@sc_lowering.register_lowering_rule(load_p)\ndef f(): pass\n"
        "@lowering.register_lowering_rule(load_p)\ndef f(): pass\n"
    )
    read = found(backends.TPU, {backends.TPU.core: CORE, backends.SPARSE: SC_LOWERING, path: text})
    name = "mosaic.sc_primitives.load"
    assert read == [(name, SPARSE[0], True), (name, SPARSE[1], True), (name, "TC", True)]


def test_a_function_of_the_same_name_elsewhere_registers_nothing():
    text = "from jax._src.pallas import core\ncore.register_lowering_rule(CompilerParams, rule, 'tpu')\n"
    assert tpu(text) == []


@pytest.mark.parametrize(
    ("text", "primitives"),
    [
        ("triton_lowering_rules: dict[Primitive, Callable] = {}", []),
        ("triton_lowering_rules = {}", []),
        ("@register_lowering(lax.add_p)\ndef f(): pass", ["add"]),
        ("register_lowering(lax.sign_p)(lower_fun(f))", ["sign"]),
        ("triton_lowering_rules.update({lax.a_p: f, sp.b_p: g})", ["a", "b"]),
        ("triton_lowering_rules[lax.a_p] = functools.partial(f, 1)", ["a"]),
        ("MORE = {lax.a_p: f, lax.b_p: g}\nfor p, f in MORE.items():\n    triton_lowering_rules[p] = f", ["a", "b"]),
        ("for p, f in MORE.items():\n    def rule(f=f): return f\n    done[p] = rule\nMORE = {lax.a_p: f}", []),
        ("def lower(eqn):\n    return triton_lowering_rules[eqn.primitive]", []),
        ("def register_lowering(p):\n    def deco(f):\n        triton_lowering_rules[p] = f\n    return deco", []),
        # Pallas has a swap of its own beside the one of refs, and both are lowered.
        ("register_lowering(sp.swap_p)(f)\nregister_lowering(primitives.swap_p)(f)", ["swap", "pallas.swap"]),
    ],
)
def test_a_registration_for_triton_of_a_known_form_is_read(text, primitives):
    assert triton(text) == primitives


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mosaic_lowering_rules = {gpu_core.LANExWG_SEMANTICS: {}, gpu_core.WGxWG_SEMANTICS: {}}", []),
        ("@register_lowering_rule(lax.a_p, mgpu.LoweringSemantics.Lane)\ndef f(): pass", [("a", LANE_WG)]),
        ("register_lowering_rule(lax.a_p, LoweringSemantics.Warpgroup)(f)", [("a", WG_WG)]),
        ("register_lowering_rule(lax.a_p, *gpu_core.WGxWARP_SEMANTICS)(f)", [("a", WG_WARP)]),
        (
            "register_lowering_rule(lax.a_p, LoweringSemantics.Lane, gpu_core.PrimitiveSemantics.Warp)(f)",
            [("a", LANE_WARP)],
        ),
        (
            (
                "@register_lowering_rule(lax.a_p, LoweringSemantics.Lane)\n"
                "@register_lowering_rule(lax.a_p, LoweringSemantics.Warpgroup)\ndef f(): pass"
            ),
            [("a", LANE_WG), ("a", WG_WG)],
        ),
        ("mosaic_lowering_rules[gpu_core.LANExWARP_SEMANTICS].update({lax.a_p: f})", [("a", LANE_WARP)]),
        ("mosaic_lowering_rules[gpu_core.WGxWG_SEMANTICS][lax.a_p] = f", [("a", WG_WG)]),
        (
            (
                "for s in [gpu_core.LANExWG_SEMANTICS, gpu_core.WGxWG_SEMANTICS]:\n"
                "    mosaic_lowering_rules[s].update({lax.a_p: f, lax.b_p: f})"
            ),
            [("a", LANE_WG), ("b", LANE_WG), ("a", WG_WG), ("b", WG_WG)],
        ),
        (
            (
                "for op, x in [(lax.a_p, 1), (lax.b_p, 2)]:\n    rule = partial(f, x)\n"
                "    mosaic_lowering_rules[gpu_core.WGxWG_SEMANTICS][op] = rule"
            ),
            [("a", WG_WG), ("b", WG_WG)],
        ),
    ],
)
def test_a_registration_for_mosaic_gpu_of_a_known_form_is_read(text, expected):
    assert gpu(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "register_lowering_rule(*primitives)(rule)",
        "register_lowering_rule()(rule)",
        "register_lowering_rule(get('add'))(rule)",
        "register_lowering_rule(prim)(rule)",
        "register_lowering_rule",
        "register_lowering_rule(lax.add_p)",
        "for p in PRIMITIVES:\n    register_lowering_rule(p)(rule)",
        "for p in [*PRIMITIVES]:\n    register_lowering_rule(p)(rule)",
        "for p, q in [(a_p, b_p, c_p)]:\n    register_lowering_rule(p)(rule)",
        "for p in MORE.items():\n    register_lowering_rule(p)(rule)",
        "while more():\n    register_lowering_rule(lax.add_p)(rule)",
        "if sys.platform == 'linux':\n    register_lowering_rule(lax.add_p)(rule)",
        "try:\n    register_lowering_rule(lax.add_p)(rule)\nexcept AttributeError: pass",
        "def later():\n    register_lowering_rule(lax.add_p)(rule)",
        "@wraps(register_lowering_rule)\ndef f(): pass",
        "register_lowering_rule(add_p, kernel_types=TYPES)(rule)",
        "register_lowering_rule(add_p, kernel_types=[*TYPES])(rule)",
        "register_lowering_rule(add_p, kernel_types=[CoreType.OTHER])(rule)",
        "register = register_lowering_rule",
        "register = functools.partial(register_lowering_rule, kernel_types=[CoreType.TC])",
        "lowering_rules[CoreType.TC][lax.add_p] = rule",
        "lowering_rules = {CoreType.TC: {lax.add_p: rule}}",
    ],
)
def test_a_registration_of_an_unknown_form_is_a_finding_with_its_line(text):
    with pytest.raises(Finding, match="form that is not known") as caught:
        tpu("\n\n" + text)
    path, _, line = caught.value.details["code"].partition(":")
    assert path == LOWERING
    assert 1 <= int(line) - IMPORTS.count("\n") - 2 <= 1 + text.count("\n")
    assert caught.value.next_step


@pytest.mark.parametrize(
    "text",
    [
        "triton_lowering_rules.update(more)",
        "triton_lowering_rules.update({**more})",
        "triton_lowering_rules |= more",
        "triton_lowering_rules = {lax.add_p: f}",
        "triton_lowering_rules[prim] = f",
        "del triton_lowering_rules[lax.add_p]",
        "triton_lowering_rules.pop(lax.add_p)",
        "def later():\n    triton_lowering_rules[lax.add_p] = f",
        "def later():\n    triton_lowering_rules.setdefault(lax.add_p, f)",
        "register_lowering(lax.add_p, 'cuda')(f)",
        "MORE = {lax.a_p: f}\nMORE = {lax.b_p: f}\nfor p, f in MORE.items():\n    triton_lowering_rules[p] = f",
        "MORE = {**other}\nfor p, f in MORE.items():\n    triton_lowering_rules[p] = f",
    ],
)
def test_a_change_of_the_triton_table_of_an_unknown_form_is_a_finding(text):
    with pytest.raises(Finding, match="form that is not known"):
        triton(text)


@pytest.mark.parametrize(
    "text",
    [
        "register_lowering_rule(lax.a_p)(f)",
        "register_lowering_rule(lax.a_p, semantics)(f)",
        "register_lowering_rule(lax.a_p, *SEMANTICS)(f)",
        "register_lowering_rule(lax.a_p, LoweringSemantics.Lane, PrimitiveSemantics.Thread)(f)",
        "mosaic_lowering_rules[key].update({lax.a_p: f})",
        "mosaic_lowering_rules[lax.a_p] = f",
        "mosaic_lowering_rules.update({gpu_core.LANExWG_SEMANTICS: {lax.a_p: f}})",
    ],
)
def test_a_registration_for_mosaic_gpu_of_an_unknown_form_is_a_finding(text):
    with pytest.raises(Finding, match="form that is not known"):
        gpu(text)


def test_the_definition_itself_is_no_registration():
    text = "def register_lowering_rule(prim, *, kernel_types=(CoreType.TC,)):\n    lowering_rules[k][prim] = f\n"
    assert tpu(text) == []


def test_rules_come_in_the_order_of_the_file():
    text = "@register_lowering_rule(lax.b_p)\ndef f(): pass\n\nregister_lowering_rule(lax.a_p)(f)\n"
    assert [name for name, _, _ in tpu(text)] == ["b", "a"]


GUARDED = (
    "if hasattr(mgpu.dialect, 'new'):\n"
    "    @register_lowering_rule(lax.a_p, LoweringSemantics.Lane)\n"
    "    def f(): pass\n"
)


def gpu_tables(text: str):
    files = {backends.GPU.core: GPU_CORE, backends.GPU.files[0]: IMPORTS + text, backends.GPU.files[1]: ""}
    return backends.GPU.rules(lambda path: symbols.parse(path, files[path]))


def test_a_rule_that_needs_another_package_to_be_new_enough_says_so():
    (rule,) = gpu_tables(GUARDED)
    assert (rule.primitive, rule.condition) == ("a", "hasattr(mgpu.dialect, 'new')")
    with pytest.raises(Finding, match="depends on another package"):
        rules.certain([rule])


def test_a_rule_that_is_registered_in_any_case_needs_nothing():
    found = gpu_tables(GUARDED + "register_lowering_rule(lax.a_p, LoweringSemantics.Lane)(f)\n")
    assert rules.certain(found) == {"a"}


def test_a_branch_with_an_alternative_is_a_form_that_is_not_known():
    with pytest.raises(Finding, match="form that is not known"):
        gpu_tables(GUARDED + "else:\n    pass\n")


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("from jax._src.pallas.triton import lowering\n@lowering.register_lowering(a_p)\ndef f(): pass\n", True),
        ("from jax._src.pallas.triton.lowering import triton_lowering_rules as r\nr[a_p] = f\n", True),
        ("from jax._src.pallas.triton import lowering\ndef f():\n    return lowering.triton_lowering_rules\n", False),
        ("from jax._src.interpreters import mlir\nmlir.register_lowering(a_p, f)\n", False),
    ],
)
def test_a_file_that_registers_rules_and_is_not_read_for_them_is_a_finding(text, is_found):
    texts = {path: "" for backend in backends.BACKENDS for path in backend.files}
    texts |= {backends.TPU.core: CORE, backends.GPU.core: GPU_CORE, backends.SPARSE: SC_LOWERING, "jax/new.py": text}
    if is_found:
        with pytest.raises(Finding, match="registers lowering rules for Triton") as caught:
            rules.check_complete(texts, lambda path: symbols.parse(path, texts[path]))
        assert caught.value.details["code"] == "jax/new.py:2"
    else:
        rules.check_complete(texts, lambda path: symbols.parse(path, texts[path]))


def test_an_unknown_form_makes_the_facts_absent_with_the_reason():
    """So a page that names the count does not build, and no wrong number is printed."""
    files = {catalog.LOWERING: "register_lowering_rule(prim)(rule)\n", backends.TPU.core: CORE}

    def module_of(path: str) -> symbols.Module:
        return symbols.parse(path, files.get(path, "x = 1\n"))

    facts = {fact.name: fact for fact in catalog.compute("jax", module_of)}
    assert facts["tpu.rules.tc"].value is None
    assert "form that is not known" in facts["tpu.rules.tc"].why
    assert facts["pipeline.lines"].value == 1


def test_no_two_facts_share_a_name():
    names = [entry.name for entry in catalog.CATALOG]
    assert len(names) == len(set(names))


def test_a_project_has_its_own_facts_only():
    assert list(catalog.compute("tokamax", lambda path: symbols.parse(path, ""))) == []


@pytest.mark.parametrize(
    ("source", "name", "full"),
    [
        ("import jax", "jax.lax.add_p", "jax.lax.add_p"),
        ("import jax.lax", "jax.lax.add_p", "jax.lax.add_p"),
        ("import jax.lax as l", "l.add_p", "jax.lax.add_p"),
        ("from jax import lax", "lax.add_p", "jax.lax.add_p"),
        ("from jax.lax import add_p as a", "a", "jax.lax.add_p"),
        ("", "add_p", "pkg.mod.add_p"),
        ("", "f().add_p", ""),
    ],
)
def test_a_name_stands_for_what_the_file_imports(source, name, full):
    module = symbols.parse("pkg/mod.py", f"{source}\n{name}\n")
    assert Names.of(module).full(ast.parse(name, mode="eval").body) == full


@pytest.mark.parametrize(
    ("full", "name"),
    [
        ("jax._src.lax.lax.add_p", "add"),
        ("jax._src.pallas.primitives.swap_p", "pallas.swap"),
        ("jax._src.pallas.core.run_p", "core.run"),
        ("jax._src.pallas.mosaic_gpu.primitives.wgmma_p", "mosaic_gpu.wgmma"),
        ("jax._src.pallas.mosaic.sc_primitives.load_p", "mosaic.sc_primitives.load"),
    ],
)
def test_a_primitive_of_pallas_is_called_by_where_it_is_defined(full, name):
    assert primitive(full) == name
