"""Kernels that misbehave become records; the collecting goes on."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import gettempdir

import msgspec
import pytest

from tests.evidence.helpers import PINS, write_topic
from track.errors import BadInput
from track.evidence import Evidence, Runner, child, collect
from track.evidence.confine import child_environment
from track.evidence.record import Job, Verdict

BODIES = {
    "fine": "return x",
    "raises": "raise RuntimeError('no <b>such</b> luck')",
    "aborts": "os.abort()",
    "segfaults": "import ctypes; ctypes.string_at(0)",
    "leaves": "os._exit(0)",
    "exits": "sys.exit('enough')",
    "script": "print('<script>alert(1)</script>'); return x",
    "floods": "line = 'x' * 99 + chr(10)\nfor _ in range(10**6): sys.stdout.write(line)\nreturn x",
    "off": "return x.at[3, 4].set(1.5)",
    "nan": "return x.at[0, 0].set(float('nan'))",
    "shape": "return x[:8]",
    "network": "import socket\nassert [name for _, name in socket.if_nameindex()] == ['lo']\nreturn x",
    "secret": "assert 'TRACK_SECRET' not in os.environ and os.environ['JAX_PLATFORMS'] == 'cpu'\nreturn x",
    "backend": "return pl.pallas_call(lambda a, b: None, out_shape=x)(x)",
}


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory, runner: Runner) -> Evidence:
    """The evidence of a checkout where almost nothing is right."""
    root = tmp_path_factory.mktemp("bad")
    for name, body in BODIES.items():
        write_topic(root, name, body)
    (root / "kernels" / "broken").mkdir()
    (root / "kernels" / "broken" / "cases.py").write_text("def f(:\n")
    return collect(root, PINS, runner=runner)


@pytest.mark.parametrize(
    ("kernel", "status", "error"),
    [
        ("fine", "ok", ""),
        ("raises", "crashed", "RuntimeError: no <b>such</b> luck"),
        ("aborts", "crashed", "SIGABRT"),
        ("segfaults", "crashed", "SIGSEGV"),
        ("leaves", "crashed", "exit code 0"),
        ("exits", "crashed", "SystemExit: enough"),
        ("script", "ok", ""),
        ("floods", "ok", ""),
        ("off", "wrong", "1 of 2048 elements differ from the reference"),
        ("nan", "wrong", "1 of 2048 elements differ from the reference"),
        ("shape", "wrong", "the output is [8, 128], the reference [16, 128]"),
        ("secret", "ok", ""),
        ("backend", "refused", "ValueError: Only interpret mode is supported on CPU backend."),
    ],
)
def test_what_a_kernel_does_to_itself_is_its_verdict(bad: Evidence, kernel: str, status: str, error: str) -> None:
    record = bad.records[kernel, "ones", "hlo", "any"]
    assert record.status == status, record
    assert record.error.startswith(error) if error else not record.error
    assert bad.records[kernel, "", "tpu-interpret", "v5e"].status == "not-applicable"


def test_a_nan_is_further_off_than_any_number(bad: Evidence) -> None:
    numbers = {name: bad.records[name, "ones", "hlo", "any"].measures.numbers for name in ("off", "nan")}
    assert [found and found.largest_error for found in numbers.values()] == [0.5, None]


def test_a_crash_says_where_in_the_kernel_and_names_no_folder_of_this_machine(bad: Evidence) -> None:
    raised = bad.records["raises", "ones", "hlo", "any"].verdict
    assert raised.where.startswith("kernels/raises/cases.py:")
    assert "in kernel: raise RuntimeError(" in raised.where
    everything = str(list(bad.records.values()))
    assert not any(folder in everything for folder in (gettempdir(), "site-packages", "/home/", "/root/"))


def test_output_is_kept_as_text_and_cut(bad: Evidence) -> None:
    assert bad.records["script", "ones", "hlo", "any"].output == "<script>alert(1)</script>"
    assert 1000 < len(bad.records["floods", "ones", "hlo", "any"].output) < 3000


def test_a_topic_that_does_not_parse_has_a_record_of_its_own(bad: Evidence) -> None:
    record = bad.records["broken", "", "", ""]
    assert record.status == "crashed"
    assert "SyntaxError" in record.error


def test_a_confined_child_sees_no_network_and_the_record_says_whether_it_was(bad: Evidence) -> None:
    record = bad.records["network", "ones", "hlo", "any"]
    assert record.confined == (record.status == "ok")
    assert {other.confined for other in bad.records.values() if other.case} == {record.confined}


def test_a_kernel_that_hangs_is_timed_out_and_gone(
    tmp_path: Path, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    hang = """
        import subprocess
        print(subprocess.Popen(['sleep', '600']).pid, flush=True)
        time.sleep(600)
    """
    write_topic(tmp_path, "hangs", hang)
    monkeypatch.setattr(runner, "limit", 3.0)
    found = collect(tmp_path, PINS, runner=runner)
    record = found.records["hangs", "ones", "hlo", "any"]
    assert (record.status, record.error) == ("timed-out", "still running after 3 s")
    state = Path(f"/proc/{record.output}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


def test_the_interpreter_refuses_an_index_out_of_bounds_with_the_real_cause(tmp_path: Path, runner: Runner) -> None:
    body = """
        def copy(a, b):
            b[...] = a[pl.ds(pl.program_id(0) * 0 + 8, 16), :]
        params = pltpu.InterpretParams() if interpret is True else interpret
        return pl.pallas_call(copy, grid=(1,), out_shape=x, interpret=params)(x)
    """
    write_topic(tmp_path, "outside", body, lane="tpu-interpret")
    record = collect(tmp_path, PINS, runner=runner).records["outside", "ones", "tpu-interpret", "v5e"]
    assert record.status == "refused"
    assert record.error.startswith("IndexError: Out-of-bounds read")
    assert "CpuCallback" not in record.error
    assert "kernels/outside/cases.py" in record.verdict.where


def test_a_race_makes_right_numbers_wrong(tmp_path: Path, runner: Runner) -> None:
    body = """
        def copy(a, b, half_way, s):
            inward = pltpu.make_async_copy(a, half_way, s)
            inward.start()
            half_way[...] = jnp.ones(x.shape, x.dtype)  # what the copy brings too, but it may come before or after
            inward.wait()
            pltpu.sync_copy(half_way, b)
        anywhere = pl.BlockSpec(memory_space=pl.ANY)
        scratch = [pltpu.VMEM(x.shape, x.dtype), pltpu.SemaphoreType.DMA]
        specs = dict(in_specs=[anywhere], out_specs=anywhere, out_shape=x, scratch_shapes=scratch)
        return pl.pallas_call(copy, **specs, interpret=interpret)(x)
    """
    write_topic(tmp_path, "races", body, lane="tpu-interpret")
    record = collect(tmp_path, PINS, runner=runner).records["races", "ones", "tpu-interpret", "v5e"]
    assert record.status == "wrong"
    assert record.error.startswith("RACE DETECTED write of")
    assert record.measures.numbers is not None
    assert record.measures.numbers.differing == 0


def test_a_kernel_that_forgets_a_lane_or_invents_one_is_bad_input(tmp_path: Path, runner: Runner) -> None:
    write_topic(tmp_path, "strange", "return x", lane="tpu-dream")
    with pytest.raises(BadInput, match="'strange' asks for an unknown lane, 'tpu-dream'") as raised:
        collect(tmp_path, PINS, runner=runner)
    assert raised.value.details["file"] == "kernels/strange/cases.py"


def test_a_name_that_no_kernel_has_is_bad_input(root: Path, runner: Runner) -> None:
    with pytest.raises(BadInput, match="no kernel or topic is called 'nothing'"):
        collect(root, PINS, only="nothing", runner=runner)


def test_a_confined_child_writes_nowhere_but_in_its_folder_and_connects_to_nothing(
    tmp_path: Path, runner: Runner
) -> None:
    outside = tmp_path / "outside"
    with socket.create_server(("127.0.0.1", 0)) as server:
        body = f"""
            import contextlib, socket
            open('inside', 'w').write('x')
            with contextlib.suppress(OSError):
                open({str(outside)!r}, 'w').write('x')
                print('written')
            with contextlib.suppress(OSError):
                socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), timeout=5).close()
                print('connected')
            return x
        """
        write_topic(tmp_path, "reaches", body)
        record = collect(tmp_path, PINS, runner=runner).records["reaches", "ones", "hlo", "any"]
    assert record.status == "ok", record
    assert record.output.split() == ([] if record.confined else ["written", "connected"])
    assert outside.exists() != record.confined


def test_a_confined_child_cannot_let_itself_out(tmp_path: Path, runner: Runner) -> None:
    body = """
        import ctypes
        if os.path.exists('confined'):
            assert ctypes.CDLL(None).mount(None, b'/', None, 32 | 4096, None) == -1  # remounted, writable
        return x
    """
    write_topic(tmp_path, "undoes", body)
    assert collect(tmp_path, PINS, runner=runner).records["undoes", "ones", "hlo", "any"].status == "ok"


def test_a_fresh_interpreter_does_what_a_forked_child_does(tmp_path: Path) -> None:
    write_topic(tmp_path, "fine", "assert 'jax' in sys.modules; return x")
    work = tmp_path / "work"
    work.mkdir()
    job = Job("judge", str(tmp_path), "fine", "fine", "ones", "hlo", "any")
    (work / child.JOB).write_bytes(msgspec.json.encode(job))
    environment = child_environment(os.environ, work)
    subprocess.run([sys.executable, "-P", "-m", "track.evidence.child"], cwd=work, env=environment, check=True)
    verdict = msgspec.json.decode((work / child.RESULT).read_bytes(), type=Verdict)
    assert (verdict.status, verdict.error) == ("ok", "")
