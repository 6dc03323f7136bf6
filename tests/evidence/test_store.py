"""What is known is not run again; what is damaged is; and a kill loses nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.evidence.helpers import PINS, WITH_TOOLS, write_topic
from track.evidence import Evidence, Runner, collect, keys, lanes
from track.evidence.keys import key_of
from track.evidence.record import Job
from track.evidence.store import Store
from track.files import digest


@pytest.fixture
def known(evidence: Evidence, root: Path, tmp_path: Path) -> Path:
    """A copy of the checkout, with all its evidence."""
    assert evidence.ran
    shutil.copytree(root, tmp_path / "known")
    return tmp_path / "known"


def lengthen(path: Path) -> None:
    """Add an empty line to a file."""
    path.write_text(path.read_text() + "\n")


def entries(root: Path) -> dict[str, bytes]:
    """The entries of the store."""
    return {path.name: path.read_bytes() for path in (root / "build" / "evidence").glob("*.evidence")}


def test_nothing_unchanged_runs_again(evidence: Evidence, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "fork", refuse)
    again = collect(root, PINS)
    assert again.ran == 0
    assert (again.records, again.tables, again.chips) == (evidence.records, evidence.tables, evidence.chips)


def test_with_nothing_to_run_jax_is_not_imported_and_little_time_goes_by(evidence: Evidence, root: Path) -> None:
    assert evidence.ran
    code = f"""
import sys, time
from pathlib import Path
from track.evidence import collect
found = collect(Path({str(root)!r}), {PINS!r})
print(found.ran, "jax" in sys.modules, "numpy" in sys.modules, time.process_time())
"""
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=WITH_TOOLS
    ).stdout.split()
    assert said[:3] == ["0", "False", "False"]
    assert float(said[3]) < 0.3  # of processor time, the start of Python included: the wall clock is not ours alone


def test_moving_the_checkout_runs_nothing(known: Path, evidence: Evidence) -> None:
    found = collect(known, PINS)
    assert found.ran == 0
    assert found.records == evidence.records


@pytest.mark.parametrize("change", ["kernel", "contract", "pins", "other topic"])
def test_a_key_changes_with_what_it_stands_for_and_with_nothing_else(known: Path, change: str) -> None:
    job = Job("judge", str(known), "pipeline", "revisit", "32 rows", "hlo", "any")
    before, pins = key_of(job, PINS), dict(PINS)
    if change == "kernel":
        lengthen(known / "kernels/pipeline/kernel.py")
    elif change == "contract":
        lengthen(known / "kernels/contract.py")
    elif change == "pins":
        pins["jax"] = "another"
    else:
        write_topic(known, "other", "return x")
        (known / "kernels/pipeline/__pycache__").mkdir()
        (known / "kernels/pipeline/__pycache__/x.pyc").write_bytes(b"x")
    assert (key_of(job, pins) != before) == (change != "other topic")


@pytest.mark.parametrize(
    ("changed", "lanes"),
    [
        ("figures/svg.py", set()),
        ("lanes/__init__.py", set()),
        ("lanes/hlo.py", {"hlo"}),
        ("lanes/hooks.py", {"tpu_interpret"}),
        ("lanes/compare.py", {"hlo", "tpu_interpret"}),
        ("events.py", {"tpu_interpret"}),
        ("server.py", {"hlo", "tpu_interpret"}),
        ("confine.py", {"hlo", "tpu_interpret"}),
    ],
)
def test_the_code_behind_a_lane_is_in_its_key_and_no_other_code_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changed: str, lanes: set[str]
) -> None:
    def digests() -> dict[str, str]:
        keys.code_digest.cache_clear()
        return {lane: keys.code_digest(f"track.evidence.lanes.{lane}") for lane in ("hlo", "tpu_interpret")}

    shutil.copytree(keys.TOOLS / "track", tmp_path / "track", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(keys, "TOOLS", tmp_path)
    before = digests()
    lengthen(tmp_path / "track" / "evidence" / changed)
    after = digests()
    keys.code_digest.cache_clear()
    assert {lane for lane in before if before[lane] != after[lane]} == lanes


@pytest.mark.parametrize("damage", ["half", "empty", "changed", "older form"])
def test_a_damaged_entry_is_named_on_stderr_and_run_again(
    known: Path, runner: Runner, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    before = entries(known)
    name, whole = next(iter(before.items()))
    older = b'{"verdict": 3}'
    broken = {
        "half": whole[: len(whole) // 2],
        "empty": b"",
        "changed": whole.replace(b'"seconds"', b'"Seconds"').replace(b'"output":""', b'"output":"x"'),
        "older form": digest(older).encode() + b"\n" + older,
    }[damage]
    (known / "build/evidence" / name).write_bytes(broken)
    found = collect(known, PINS, runner=runner)
    assert found.ran == 1
    assert entries(known) == before
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert name[:12] in said


def test_a_lane_without_its_package_is_unavailable_and_runs_nothing(
    known: Path, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = replace(lanes.LANES["hlo"], packages=("no_such_package",))
    monkeypatch.setitem(lanes.LANES, "hlo", lane)
    found = collect(known, PINS)
    assert found.ran == 0
    record = found.records["revisit", "32 rows", "hlo", "any"]
    assert (record.status, record.reason) == ("unavailable", "not installed: no_such_package")
    assert (
        found.records["revisit", "32 rows", "tpu-interpret", "v5e"]
        == evidence.records["revisit", "32 rows", "tpu-interpret", "v5e"]
    )


def test_seconds_are_in_no_entry(known: Path) -> None:
    seconds = list((known / "build/evidence").glob("*.seconds"))
    assert len(seconds) == len(entries(known))
    assert all(float(path.read_text()) >= 0 for path in seconds)
    assert not any(b"seconds" in body for body in entries(known).values() if b"chips" not in body)


def test_a_failure_of_ours_is_not_kept(tmp_path: Path, runner: Runner) -> None:
    write_topic(tmp_path, "homeless", "raise ValueError('Unsupported TPU device kind: cpu')")
    runs = [collect(tmp_path, PINS, runner=runner) for _ in range(2)]
    assert [found.records["homeless", "ones", "hlo", "any"].status for found in runs] == ["harness-error"] * 2
    assert runs[1].ran == 2  # the verdict and the grid, but not the list of kernels or the peaks


def slow_topic(root: Path) -> Path:
    """A topic whose kernel says which process it is and sleeps for a minute, until the file that is returned exists."""
    hurry = root / "hurry"
    body = f"""
        if not os.path.exists({str(hurry)!r}):
            open('pid.partial', 'w').write(str(os.getpid()))
            os.rename('pid.partial', 'pid')
            time.sleep(60)
        return x
    """
    write_topic(root, "slow", body)
    return hurry


def wait_for(folder: Path) -> int:
    """The number in the file `pid` that a child is about to write to its own folder, somewhere under `folder`."""
    for _ in range(1200):
        if found := list(folder.glob("**/verdict-*/pid")):
            return int(found[0].read_text())
        time.sleep(0.05)
    raise AssertionError("the child never came")


def is_gone(pid: int) -> bool:
    """Whether a process ends within some seconds."""
    for _ in range(100):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_a_killed_server_is_replaced_and_its_job_runs_again(tmp_path: Path) -> None:
    hurry = slow_topic(tmp_path)
    found: list[Evidence] = []
    with Runner() as own:
        collecting = threading.Thread(target=lambda: found.append(collect(tmp_path, PINS, runner=own)))
        collecting.start()
        while own.server is None:
            time.sleep(0.05)
        child = wait_for(own.server.home)
        hurry.touch()
        os.kill(own.server.process.pid, signal.SIGKILL)
        assert is_gone(child)
        collecting.join(40)
    assert found[0].records["slow", "ones", "hlo", "any"].status == "ok"
    store = Store(tmp_path / "build" / "evidence")
    assert all(store.get(name.removesuffix(".evidence")) for name in entries(tmp_path))


def test_a_killed_collecting_leaves_no_process_and_a_store_that_is_whole(tmp_path: Path, runner: Runner) -> None:
    hurry = slow_topic(tmp_path)
    (tmp_path / "tmp").mkdir()
    environment = {**WITH_TOOLS, "TMPDIR": str(tmp_path / "tmp")}
    code = f"from pathlib import Path; from track.evidence import collect; collect(Path({str(tmp_path)!r}), {PINS!r})"
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as process:
        child = wait_for(tmp_path / "tmp")
        hurry.touch()
        process.kill()
    assert is_gone(child)
    left = len(entries(tmp_path))
    store = Store(tmp_path / "build" / "evidence")
    assert all(store.get(name.removesuffix(".evidence")) for name in entries(tmp_path))
    again = collect(tmp_path, PINS, runner=runner)
    assert again.records["slow", "ones", "hlo", "any"].status == "ok"
    assert again.ran == len(entries(tmp_path)) - left


def test_a_closed_runner_has_no_process_left(tmp_path: Path) -> None:
    write_topic(tmp_path, "fine", "return x")
    runner = Runner()
    assert collect(tmp_path, PINS, runner=runner).ran > 0
    server = runner.server
    runner.close()
    assert server is not None
    assert server.process.returncode == 0
