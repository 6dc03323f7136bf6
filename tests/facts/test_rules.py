"""Reading the lowering table from source: every form that is known, and no other."""

from __future__ import annotations

import pytest

from track.anchors import symbols
from track.errors import Finding
from track.facts import catalog, rules

TYPES = ("TC", "SC_SCALAR_SUBCORE", "SC_VECTOR_SUBCORE")
CORE = """
import enum

class CoreType(enum.Enum):
    TC = 0
    SC_SCALAR_SUBCORE = 1
    SC_VECTOR_SUBCORE = 2

    def __repr__(self):
        return self.name
"""


def counted(text: str) -> list[tuple[tuple[str, ...], tuple[str, ...], bool]]:
    module = symbols.parse("lowering.py", text)
    return [(site.primitives, site.core_types, site.is_decorator) for site in rules.sites(module, TYPES)]


def test_core_types_are_the_members_of_the_enum():
    assert rules.core_types(symbols.parse("core.py", CORE)) == TYPES


def test_a_core_module_without_the_enum_is_a_finding():
    with pytest.raises(Finding, match="no class CoreType"):
        rules.core_types(symbols.parse("core.py", "x = 1\n"))


@pytest.mark.parametrize(
    ("text", "primitives", "types", "is_decorator"),
    [
        ("@register_lowering_rule(lax.add_p)\ndef f(): pass", ("lax.add_p",), ("TC",), True),
        ("@register_lowering_rule(add_p, ensure_mlir_values=False)\ndef f(): pass", ("add_p",), ("TC",), True),
        ("register_lowering_rule(add_p)(rule)", ("add_p",), ("TC",), False),
        ("register_lowering_rule(add_p, kernel_types=[*CoreType])(rule)", ("add_p",), TYPES, False),
        ("register_lowering_rule(add_p, kernel_types=tpu_core.CoreType)(rule)", ("add_p",), TYPES, False),
        ("register_lowering_rule(add_p, kernel_types=(CoreType.TC,))(rule)", ("add_p",), ("TC",), False),
        (
            "register_lowering_rule(add_p, kernel_types=[core.CoreType.TC, core.CoreType.SC_VECTOR_SUBCORE])(rule)",
            ("add_p",),
            ("TC", "SC_VECTOR_SUBCORE"),
            False,
        ),
        ("for p in [a_p, b_p]:\n    register_lowering_rule(p)(rule)", ("a_p", "b_p"), ("TC",), False),
        ("lowering.register_lowering_rule(add_p)(rule)", ("add_p",), ("TC",), False),
    ],
)
def test_a_registration_of_a_known_form_is_read(text, primitives, types, is_decorator):
    assert counted(text) == [(primitives, types, is_decorator)]


@pytest.mark.parametrize(
    "text",
    [
        "register_lowering_rule(*primitives)(rule)",
        "register_lowering_rule()(rule)",
        "register_lowering_rule(get('add'))(rule)",
        "register_lowering_rule(prim)(rule)",
        "for p in PRIMITIVES:\n    register_lowering_rule(p)(rule)",
        "for p, rule in [(a_p, f)]:\n    register_lowering_rule(p)(rule)",
        "register_lowering_rule(add_p, kernel_types=TYPES)(rule)",
        "register_lowering_rule(add_p, kernel_types=[*TYPES])(rule)",
        "register_lowering_rule(add_p, kernel_types=[CoreType.OTHER])(rule)",
        "register = register_lowering_rule",
        "register = functools.partial(register_lowering_rule, kernel_types=[CoreType.TC])",
    ],
)
def test_a_registration_of_an_unknown_form_is_a_finding_with_its_line(text):
    with pytest.raises(Finding, match="form that is not known") as caught:
        counted("\n\n" + text)
    path, _, line = caught.value.details["code"].partition(":")
    assert (path, line) == ("lowering.py", str(3 + text.split("register_lowering_rule")[0].count("\n")))
    assert caught.value.next_step


def test_the_definition_itself_is_no_registration():
    assert counted("def register_lowering_rule(prim, *, kernel_types=(CoreType.TC,)):\n    return prim\n") == []


def test_sites_come_in_the_order_of_the_file():
    text = "@register_lowering_rule(a_p)\ndef f(): pass\n\nregister_lowering_rule(b_p)(f)\n"
    assert [primitives for primitives, _, _ in counted(text)] == [("a_p",), ("b_p",)]


def test_a_primitive_registered_twice_is_one_primitive_and_two_sites():
    text = "register_lowering_rule(a_p)(f)\nregister_lowering_rule(a_p, kernel_types=[*CoreType])(g)\n"
    sites = rules.sites(symbols.parse("lowering.py", text), TYPES)
    table = rules.table(sites, TYPES)
    assert len(sites) == 2
    assert {name: len(found) for name, found in table.items()} == dict.fromkeys(TYPES, 1)


def test_an_unknown_form_makes_the_facts_absent_with_the_reason():
    """So a page that names the count does not build, and no wrong number is printed."""
    files = {catalog.LOWERING: "register_lowering_rule(prim)(rule)\n", catalog.MOSAIC_CORE: CORE}

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
