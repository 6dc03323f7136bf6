"""What is run, for whom, and what stands in where nothing is: excuses, missing packages, committed records."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from tests.evidence.helpers import PINS, PROJECT, write_topic
from track.cli import main
from track.errors import BadInput
from track.evidence import Evidence, Runner, collect, committed, lanes, prune, show
from track.evidence.keys import key_of
from track.evidence.plan import Asked, check
from track.evidence.record import Job, Ledger, Listed, Measures, Ptxas, Record, Region, Timing, Verdict

EVERY = {(lane, target) for lane, entry in lanes.LANES.items() for target in entry.targets}
REST = {lane: "of no interest" for lane in lanes.LANES if lane != "hlo"}


def listed(**changes: object) -> Listed:
    """A kernel that runs in one lane and excuses the others, changed."""
    return replace(Listed("k", {"ones": "float32[8, 128]"}, ("hlo",), REST), **changes)


def test_every_kernel_has_a_record_for_every_lane_and_target(evidence: Evidence) -> None:
    for kernel in evidence.kernels:
        assert {(lane, target) for name, _, lane, target in evidence.records if name == kernel} == EVERY
    assert not [record for record in evidence.records.values() if record.status == "harness-error"]


def test_an_excuse_is_the_reason_of_its_record(evidence: Evidence) -> None:
    record = evidence.records["revisit", "", "gpu-aot", "sm100"]
    assert record.status == "not-applicable"
    assert "DMA engines" in record.reason


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, ""),
        ({"lanes": ("hlo", "dream")}, "asks for an unknown lane, 'dream'"),
        ({"lanes": ()}, "says nothing of 'hlo'"),
        ({"not_applicable": {**REST, "hlo": "no"}}, "both takes and excuses 'hlo'"),
        ({"not_applicable": {**REST, "hlo:moon": "no"}}, "speaks of an unknown lane or target, 'hlo:moon'"),
        ({"expected": {"tpu-aot:v9": "ok"}}, "speaks of an unknown lane or target, 'tpu-aot:v9'"),
        ({"expected": {"hlo": "fine"}}, "expects an unknown verdict, 'fine', of 'hlo'"),
    ],
)
def test_what_a_kernel_says_of_lanes_is_checked(changes: dict[str, object], problem: str) -> None:
    if not problem:
        check([Asked("t", listed(**changes))])
        return
    with pytest.raises(BadInput) as raised:
        check([Asked("t", listed(**changes))])
    assert raised.value.what == f"kernel 'k' {problem}"
    assert raised.value.details["file"] == "kernels/t/cases.py"


def test_two_kernels_of_one_name_are_bad_input() -> None:
    with pytest.raises(BadInput, match="kernel 'k' is there twice"):
        check([Asked("one", listed()), Asked("other", listed())])


def test_a_target_of_its_own_may_be_excused_and_have_an_expectation_of_its_own() -> None:
    kernel = listed(
        lanes=("hlo", "tpu-aot"),
        not_applicable={**{k: v for k, v in REST.items() if k != "tpu-aot"}, "tpu-aot:7x": "too new"},
        expected={"tpu-aot": "refused", "tpu-aot:v4": "ok"},
    )
    check([Asked("t", kernel)])
    assert [kernel.excuse("tpu-aot", target) for target in ("v4", "7x")] == ["", "too new"]
    assert [kernel.expects("tpu-aot", target) for target in ("v4", "v5e")] == ["ok", "refused"]
    assert kernel.expects("hlo", "any") == "ok"


def test_the_target_and_the_line_of_its_lane_are_in_a_key(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("judge", str(root), "pipeline", "revisit", "32 rows", "tpu-aot", "v4")
    before = key_of(job, PINS)
    assert key_of(replace(job, target="v5e"), PINS) != before
    monkeypatch.setitem(lanes.LANES, "another", lanes.Lane("track.evidence.lanes.hlo", ("any",), 1.0))
    assert key_of(job, PINS) == before
    monkeypatch.setitem(lanes.LANES, "tpu-aot", replace(lanes.LANES["tpu-aot"], limit=7.0))
    assert key_of(job, PINS) != before


@pytest.fixture
def chip_topic(tmp_path: Path) -> Path:
    """A checkout whose only kernel is for a chip."""
    write_topic(tmp_path, "measured", "return x", lane="h200")
    return tmp_path


def test_what_only_a_chip_can_say_is_unavailable_until_a_record_is_committed(chip_topic: Path, runner: Runner) -> None:
    def found() -> Record:
        return collect(chip_topic, PINS, runner=runner).records["measured", "ones", "h200", "H200"]

    before = found()
    assert (before.status, before.reason) == ("unavailable", "only an H200 can say, and none has been asked")
    seen = replace(before, verdict=Verdict("ok", measures=replace(before.measures, timing=Timing(1e-3, 20, 8, 4))))
    assert committed.write_all(chip_topic, [seen], PINS, "an H200", "2026-01-31") == 1
    assert committed.write_all(chip_topic, [seen], PINS, "an H200", "2026-01-31") == 0
    after = found()
    assert (after.status, after.stamp) == ("ok", "recorded on an H200, 2026-01-31")
    assert after.measures.timing == Timing(1e-3, 20, 8, 4)
    assert after.versions == before.versions
    moved = collect(chip_topic, {**PINS, "jax": "a later one"}, runner=runner)
    assert moved.records["measured", "ones", "h200", "H200"].stamp.endswith("; older than the pin of jax")
    (chip_topic / "kernels/measured/more.py").touch()
    assert found().stamp.endswith("; the topic's files have changed since")


def test_a_committed_record_that_cannot_be_read_is_bad_input(chip_topic: Path, runner: Runner) -> None:
    path = chip_topic / "kernels/measured/records/measured-h200-H200.json"
    path.parent.mkdir()
    path.write_text("{}")
    with pytest.raises(BadInput, match="a committed record cannot be read") as raised:
        collect(chip_topic, PINS, runner=runner)
    assert raised.value.details["file"] == "kernels/measured/records/measured-h200-H200.json"


def test_a_lane_without_its_package_shows_the_committed_record(
    tmp_path: Path, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_topic(tmp_path, "fine", "return x")
    ran = collect(tmp_path, PINS, runner=runner)
    committed.write_all(tmp_path, ran.records.values(), PINS, "a machine that has it", "2026-01-31")
    monkeypatch.setitem(lanes.LANES, "hlo", replace(lanes.LANES["hlo"], packages=("no_such_package",)))
    record = collect(tmp_path, PINS, runner=runner).records["fine", "ones", "hlo", "any"]
    assert record.status == "ok"
    assert record.stamp == (
        "recorded on a machine that has it, 2026-01-31;"
        " shown because this machine cannot run the lane (not installed: no_such_package)"
    )


def test_cases_that_differ_in_numbers_alone_share_a_compilation(tmp_path: Path, runner: Runner) -> None:
    write_topic(tmp_path, "twins", "return x", lane="tpu-aot")
    cases = tmp_path / "kernels/twins/cases.py"
    text = cases.read_text().replace(
        "\nOTHER", "\nCASES += (Case('other', CASES[0].make, CASES[0].tolerance, 7),)\nOTHER"
    )
    cases.write_text(text)
    found = collect(tmp_path, PINS, runner=runner, lane="tpu-aot", target="v5e")
    assert found.ran == 3  # the list, the peaks and one verdict
    verdicts = [found.records["twins", case, "tpu-aot", "v5e"].verdict for case in ("ones", "other")]
    assert verdicts[0] == verdicts[1]


def test_pruning_deletes_what_nothing_asks_for_and_nothing_else(tmp_path: Path, runner: Runner) -> None:
    write_topic(tmp_path, "fine", "return x")
    collect(tmp_path, PINS, runner=runner)
    store = tmp_path / "build" / "evidence"
    before = {*store.iterdir()}
    (store / f"{'0' * 64}.evidence").write_text("old")
    (store / f"{'0' * 64}.seconds").write_text("1")
    assert prune(tmp_path, PINS) == 1
    assert {*store.iterdir()} == before
    assert collect(tmp_path, PINS).ran == 0


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout for the command line, with a right kernel and a wrong one."""
    root = tmp_path_factory.mktemp("commands")
    shutil.copy(PROJECT / "pins.toml", root)
    write_topic(root, "fine", "return x")
    write_topic(root, "off", "return x + 1")
    return root


def track(checkout: Path, *words: str) -> tuple[int, str]:
    """Exit code and output of a command in the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(checkout)
        ran = CliRunner().invoke(main, ["evidence", *words])
    return ran.exit_code, ran.stdout


def test_list_shows_every_kernel_lane_and_target_as_json(checkout: Path) -> None:
    code, said = track(checkout, "list", "--json")
    rows = json.loads(said)
    assert code == 0
    assert {(row["kernel"], row["lane"], row["target"]) for row in rows} == {
        (kernel, *aim) for kernel in ("fine", "off") for aim in EVERY
    }
    assert {row["kernel"]: row["status"] for row in rows if row["lane"] == "hlo"} == {"fine": "ok", "off": "wrong"}


def test_run_exits_with_1_where_a_verdict_is_not_the_one_expected(checkout: Path) -> None:
    code, said = track(checkout, "run")
    assert code == 1
    assert said.splitlines()[0].startswith("off  ones  hlo  any  wrong  2048 of 2048 elements differ")
    assert "1 not as expected" in said.splitlines()[-1]
    assert track(checkout, "run", "--only", "fine")[0] == 0


def test_prune_deletes_old_results_of_kernels_and_of_pages_and_says_how_many(checkout: Path) -> None:
    track(checkout, "run", "--only", "fine")
    (checkout / "docs").mkdir()
    page = checkout / "docs" / "index.md"
    for folder in ("evidence", "examples"):
        (checkout / "build" / folder).mkdir(exist_ok=True)
        (checkout / "build" / folder / f"{'0' * 64}.evidence").write_text("old")
    page.write_text("# Page\n\n```python unknown\n1\n```\n")
    assert track(checkout, "prune")[0] == 2  # a page that cannot be read may still need what is kept
    page.write_text("# Page\n")
    assert track(checkout, "prune") == (0, "2 results deleted\n")


def test_show_prints_a_record_and_an_unknown_lane_is_bad_input(checkout: Path) -> None:
    code, said = track(checkout, "show", "off", "--lane", "hlo")
    assert code == 0
    assert "verdict   wrong" in said
    assert "largest error 1.0 of 2048 elements" in said
    assert track(checkout, "show", "off", "--lane", "moon")[0] == 2
    assert track(checkout, "show", "off", "--form", "ptx")[0] == 2


def test_a_row_has_what_a_program_takes_in_sum() -> None:
    """Of several programs on a GPU that run after one another, a thread has the registers of one."""
    first = Ptxas("a", 40, 4, 8, 0, 1024, dynamic_shared=512, instructions=100)
    regions = (Region("start", 10), Region("loop", 7, depth=1))
    measures = Measures(ledger=Ledger((), 4096, 16), regions=regions, spills={"stores": 2})
    assert show.sums(measures) == {"VMEM bytes": 4096, "SMEM bytes": 16, "bundles": 17, "spilled stores": 2}
    assert show.sums(Measures(ptxas=(first, replace(first, registers=32, shared=0)))) == {
        "registers": 40,
        "shared memory bytes": 2048,
        "spilled bytes": 24,
        "instructions": 200,
    }
    assert show.sums(Measures()) == {}


def test_a_row_names_what_was_expected(evidence: Evidence) -> None:
    rows = [show.row(record, evidence.kernels) for record in evidence.records.values()]
    assert {row["expected"] for row in rows} == {"ok"}
    assert "measures" not in rows[0]
