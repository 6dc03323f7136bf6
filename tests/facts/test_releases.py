"""Facts against numbers that were counted in other ways, from the files of five releases.

The rule counts were taken from the tables of the five packages after importing them, `fuser.custom_fusion_lib`
included, the sites with `grep`, and the spans by reading the files.
"""

from __future__ import annotations

import pytest

from tests.facts.conftest import ROOT
from track import checkout
from track.errors import BadInput
from track.facts import rules

RULES = {
    #            TC  SC_SCALAR  SC_VECTOR  union  sites  decorators
    "0.10.2": (127, 58, 58, 127, 122, 118),
    "0.11.0": (127, 58, 60, 127, 122, 118),
    "0.11.1": (132, 59, 63, 132, 127, 123),
    "0.11.2": (137, 59, 65, 137, 132, 128),
    "0.12.0.1": (140, 62, 68, 140, 135, 131),
}
RULE_FACTS = ("tc", "sc-scalar", "sc-vector", "union", "sites", "decorators")

GPU_FACTS = (
    "triton.rules",
    "triton.rules.all",
    "mgpu.rules.lane-warpgroup",
    "mgpu.rules.lane-warp",
    "mgpu.rules.warpgroup-warpgroup",
    "mgpu.rules.warpgroup-warp",
    "mgpu.rules.union",
)
GPU_RULES = {
    #           Triton       Mosaic GPU: L×WG, L×W, WG×WG, WG×W, any
    "0.10.2": (96, 101, 112, 51, 113, 45, 114),
    "0.11.0": (96, 101, 114, 53, None, 48, 116),
    "0.11.1": (96, 101, 115, 55, 116, 52, 116),
    "0.11.2": (98, 103, 118, 56, 119, 54, 119),
    "0.12.0.1": (98, 103, 127, 61, 127, 59, 127),
}
SHARED = {
    #         both GPU backends, Triton alone, Mosaic GPU alone, all three
    "0.11.0": (59, 42, 57, 58),
    "0.11.1": (59, 42, 57, 59),
    "0.11.2": (62, 41, 57, 62),
    "0.12.0.1": (63, 40, 64, 63),
}
TABLES = ("TPU TC", "TPU SC_SCALAR_SUBCORE", "TPU SC_VECTOR_SUBCORE", "Triton")
LIVE = {
    #            TC   scalar  vector  Triton  Mosaic GPU
    "0.10.2": (131, 84, 90, 101, 112, 51, 113, 45),
    "0.11.0": (131, 84, 92, 101, 114, 53, 115, 48),
    "0.11.1": (136, 85, 95, 101, 115, 55, 116, 52),
    "0.11.2": (141, 85, 97, 103, 118, 56, 119, 54),
    "0.12.0.1": (143, 87, 99, 103, 127, 61, 127, 59),
}

LINES = {"0.11.0": 2507, "0.11.1": 2530, "0.11.2": 2804, "0.12.0.1": 2928}

SPANS = {
    #                       0.11.0       0.11.2       0.12.0.1
    "trivial-windowing": ("187–225", "205–243", "230–267"),
    "buffered-ref-base": ("273–442", "291–464", "353–534"),
    "buffered-ref": ("454–974", "476–993", "546–1094"),
    "lookahead": ("977–1046", "996–1067", "1097–1165"),
    "scheduler": ("1128–1399", "1149–1439", "1247–1563"),
    "out-of-fetch": ("1209–1215", "1241–1247", "1335–1341"),
    "has-changed": ("1217–1224", "1249–1256", "1343–1356"),
    "will-change-current": ("1226–1233", "1258–1265", "1358–1365"),
    "will-change-fetch": ("1235–1246", "1267–1278", "1367–1380"),
    "allocations": ("1415–1490", "1465–1544", "1589–1677"),
    "partition-grid": ("1500–1610", "1554–1664", "1687–1802"),
    "step": ("1641–1672", "1695–1726", "1833–1846"),
    "loop": ("1675–1893", "1729–1972", "1849–2112"),
    "door": ("1959–2102", "2039–2206", "2179–2349"),
}
BEGINS = {
    "initialize-step": (1259, 1291, 1393),
    "wait-in": (1311, 1346, 1453),
    "copy-in": (1324, 1360, 1473),
    "wait-out": (1352, 1392, 1505),
    "copy-out": (1369, 1409, 1525),
    "advance-slots": (1393, 1433, 1557),
    "sync-copy": (1613, 1667, 1805),
}
VERSIONS = ("0.11.0", "0.11.2", "0.12.0.1")


@pytest.mark.parametrize("version", RULES)
def test_the_rules_of_a_release_are_counted(release, version):
    assert tuple(release(version)[f"tpu.rules.{name}"].value for name in RULE_FACTS) == RULES[version]


@pytest.mark.parametrize("version", GPU_RULES)
def test_the_rules_for_gpus_of_a_release_are_counted(release, version):
    assert tuple(release(version)[name].value for name in GPU_FACTS) == GPU_RULES[version]


@pytest.mark.parametrize("version", SHARED)
def test_the_rules_that_backends_share_are_counted(release, version):
    names = ("gpu.both", "gpu.triton-only", "gpu.mosaic-only", "all-backends")
    assert tuple(release(version)[f"rules.{name}"].value for name in names) == SHARED[version]


@pytest.mark.parametrize("version", LIVE)
def test_every_table_of_a_release_is_what_its_packages_register(edition, version):
    tables = rules.tables(edition(version).module)
    assert tuple(map(len, tables.values())) == LIVE[version]
    assert tuple(tables)[:4] == TABLES


def test_the_one_rule_that_depends_on_jaxlib_is_told_apart(edition, release):
    """At 0.11.0 `concatenate` is registered only where jaxlib's dialect has an operation for it."""
    found = rules.conditions(edition("0.11.0").module)
    assert found == {("Mosaic GPU Warpgroup×Warpgroup", "concatenate"): "hasattr(mgpu.dialect, 'vector_concat')"}
    assert "depends on another package" in release("0.11.0")["mgpu.rules.warpgroup-warpgroup"].why
    assert not any(rules.conditions(edition(version).module) for version in LIVE if version != "0.11.0")


@pytest.mark.parametrize("version", LIVE)
def test_no_file_of_a_release_registers_rules_unseen(edition, version):
    rules.check_complete(edition(version).texts, edition(version).module)


@pytest.mark.parametrize("version", LINES)
def test_the_lines_of_the_pipeline_are_counted(release, version):
    assert release(version)["pipeline.lines"].value == LINES[version]


@pytest.mark.parametrize("name", SPANS)
def test_the_sections_of_the_pipeline_are_found(release, name):
    assert tuple(release(version)[f"pipeline.{name}.span"].value for version in VERSIONS) == SPANS[name]


@pytest.mark.parametrize("name", BEGINS)
def test_the_verbs_of_the_schedule_are_found(release, name):
    spans = [release(version)[f"pipeline.{name}.span"].value for version in VERSIONS]
    assert tuple(int(span.partition("–")[0]) for span in spans) == BEGINS[name]


def test_the_buffer_types_are_found(release):
    spans = [release(version)["pipeline.buffer-type.span"].value for version in VERSIONS]
    assert spans[:2] == ["228–247", "246–265"]
    assert spans[2].endswith("–302")  # from 0.12 a metaclass, at 270, stands before the class


@pytest.mark.parametrize("version", VERSIONS)
def test_the_lines_of_a_symbol_are_those_of_its_span(release, version):
    facts = release(version)
    for name in [*SPANS, *BEGINS]:
        first, last = map(int, facts[f"pipeline.{name}.span"].value.split("–"))
        assert facts[f"pipeline.{name}.lines"].value == last - first + 1


def test_a_symbol_that_a_release_lacks_is_absent_with_the_reason(release):
    """`finalize` became `finalize_step` in 0.12."""
    assert release("0.11.2")["pipeline.finalize.span"].value == "1422–1431"
    fact = release("0.12.0.1")["pipeline.finalize.span"]
    assert fact.value is None
    assert "Scheduler.finalize" in fact.why


@pytest.mark.parametrize("version", LINES)
def test_nothing_but_what_was_renamed_is_absent_from_a_release(release, version):
    absent = {name for name, fact in release(version).items() if fact.value is None}
    told = {"mgpu.rules.warpgroup-warpgroup"} if version == "0.11.0" else set()
    assert {name for name in absent if not name.startswith("pipeline.finalize.")} == told


def test_the_facts_of_the_pin_are_those_of_its_release(release, pinned):
    assert pinned["jax.version"].value == "0.11.2"
    for name, fact in release("0.11.2").items():
        assert pinned[name] == fact


@pytest.mark.parametrize("name", ["jax=0.11.9", "jax=", "jax"])
def test_an_unknown_release_is_bad_input_with_those_that_are_known(name):
    with pytest.raises(BadInput, match="no release") as caught:
        checkout.facts_of_release(ROOT, name)
    assert {f"jax={version}" for version in RULES} <= set(caught.value.details["expected"].split(", "))
    assert caught.value.details["file"] == "requirements/history.txt"
