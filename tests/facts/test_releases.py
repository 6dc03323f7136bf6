"""Facts against numbers that were counted in other ways, from the files of five releases.

The rule counts were taken from the tables after importing `lowering.py`, the sites with `grep`, and the spans by
reading the files.
"""

from __future__ import annotations

import pytest

from tests.facts.conftest import ROOT
from track import checkout
from track.errors import BadInput

RULES = {
    #            TC  SC_SCALAR  SC_VECTOR  union  sites  decorators
    "0.10.2": (127, 58, 58, 127, 122, 118),
    "0.11.0": (127, 58, 60, 127, 122, 118),
    "0.11.1": (132, 59, 63, 132, 127, 123),
    "0.11.2": (137, 59, 65, 137, 132, 128),
    "0.12.0.1": (140, 62, 68, 140, 135, 131),
}
RULE_FACTS = ("tc", "sc-scalar", "sc-vector", "union", "sites", "decorators")

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
    assert {name.rpartition(".")[0] for name in absent} <= {"pipeline.finalize"}


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
