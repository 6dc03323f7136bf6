"""Files appear whole or not at all, and one build at a time holds the checkout."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from track.errors import BadEnvironment
from track.files import blob_id, digest, exclusive, write_if_changed

HOLDER = """
import sys, time
from pathlib import Path
from track.files import exclusive
with exclusive(Path(sys.argv[1]), "build"):
    print("held", flush=True)
    time.sleep(60)
"""
WRITER = """
import sys
from pathlib import Path
from track.files import write_if_changed
print("writing", flush=True)
n = 0
while True:
    n += 1
    write_if_changed(Path(sys.argv[1]), bytes([97 + n % 26]) * 1_000_000)
"""


@contextlib.contextmanager
def child(code: str, path: Path) -> Generator[subprocess.Popen[str]]:
    """A child process that has told that it began; killed at the end."""
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout
            assert process.stdout.readline()
            yield process
        finally:
            process.kill()


def whole(data: bytes) -> bool:
    """Whether this is all of what WRITER writes at a time."""
    return len(data) == 1_000_000 and len(set(data)) == 1


def test_a_blob_id_is_what_git_says(tmp_path):
    for data in (b"", b"a\n", bytes(range(256))):
        (tmp_path / "file").write_bytes(data)
        run = subprocess.run(["git", "hash-object", "file"], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert blob_id(data) == run.stdout.strip()


def test_a_digest_is_sha_256_over_parts_with_their_lengths():
    assert digest("a", b"bc") == hashlib.sha256(b"1:a2:bc").hexdigest()


@given(st.lists(st.text(max_size=4), max_size=4), st.lists(st.text(max_size=4), max_size=4))
def test_equal_digests_mean_equal_parts(one, other):
    assert (digest(*one) == digest(*other)) == (one == other)


def test_a_file_is_written_with_its_folders_and_its_bytes(tmp_path):
    path = tmp_path / "a" / "b" / "file.txt"
    assert write_if_changed(path, "Ünï\n")
    assert path.read_bytes() == "Ünï\n".encode()


def test_an_unchanged_file_is_not_written(tmp_path):
    path = tmp_path / "file"
    write_if_changed(path, b"same")
    os.utime(path, (1, 1))
    assert not write_if_changed(path, "same")
    assert path.stat().st_mtime == 1
    assert write_if_changed(path, b"other")
    assert path.read_bytes() == b"other"


def test_nothing_but_the_file_is_left(tmp_path):
    for data in (b"one", b"two", b"two"):
        write_if_changed(tmp_path / "file", data)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_write_that_fails_leaves_the_old_file_and_no_part_of_a_new_one(tmp_path):
    (tmp_path / "file" / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="file"):
        write_if_changed(tmp_path / "file", b"data")
    assert [path.name for path in tmp_path.rglob("*")] == ["file", "inside"]


def test_a_write_that_breaks_off_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_if_changed(path, b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_if_changed(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_reader_never_sees_half_of_a_file(tmp_path):
    path = tmp_path / "file"
    write_if_changed(path, b"z" * 1_000_000)
    seen: set[bytes] = set()
    with child(WRITER, path):
        for _ in range(300):
            data = path.read_bytes()
            assert whole(data)
            seen.add(data[:1])
    assert len(seen) > 1


def test_a_writer_that_is_killed_leaves_the_file_whole(tmp_path):
    path = tmp_path / "file"
    for delay in (0.02, 0.05, 0.08):
        with child(WRITER, path) as process:
            threading.Event().wait(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert not path.exists() or whole(path.read_bytes())


def test_one_holder_after_the_other_is_fine(tmp_path):
    for _ in range(2):
        with exclusive(tmp_path / "build" / "lock", "build"):
            assert (tmp_path / "build" / "lock").read_text() == f"{os.getpid()}\n"


def test_a_lock_is_freed_by_an_error(tmp_path):
    with pytest.raises(KeyError), exclusive(tmp_path / "lock", "build"):
        raise KeyError
    with exclusive(tmp_path / "lock", "build"):
        pass


def test_a_second_holder_is_told_which_process_is_the_first(tmp_path):
    path = tmp_path / "lock"
    with child(HOLDER, path) as process:
        with pytest.raises(BadEnvironment, match="another build is running") as caught, exclusive(path, "build"):
            pass
        assert caught.value.details == {"lock": "lock", "process": str(process.pid)}
        assert caught.value.next_step


def test_the_second_holder_does_not_spoil_what_the_third_is_told(tmp_path):
    path = tmp_path / "lock"
    with child(HOLDER, path) as process:
        for _ in range(2):
            with pytest.raises(BadEnvironment) as caught, exclusive(path, "build"):
                pass
            assert caught.value.details["process"] == str(process.pid)


def test_a_holder_that_is_killed_holds_no_more(tmp_path):
    path = tmp_path / "lock"
    with child(HOLDER, path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with exclusive(path, "build"):
            assert path.read_text() == f"{os.getpid()}\n"
