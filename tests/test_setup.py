"""The set-up: which Python is found, that an environment is made once and whole, and what may not be committed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("site", "test")


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def python(path: Path, version: str) -> Path:
    """A candidate that answers the probe of setup.sh as a Python of this version would."""
    return script(path, f'echo "{version} $0"')


class Machine:
    """A machine on whose PATH is nothing but what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "a checkout"
        self.bin = folder / "bin"
        self.home = folder / "home"
        for path in (self.checkout / "tools", self.bin, self.home):
            path.mkdir(parents=True)
        shutil.copy(ROOT / "tools" / "setup.sh", self.checkout / "tools")
        for tool in ("dirname", "grep", "head", "sed"):
            (self.bin / tool).symlink_to(shutil.which(tool) or pytest.fail(f"this machine has no {tool}"))

    def find(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.checkout / "tools" / "setup.sh", "--find"],
            env={"PATH": str(self.bin), "HOME": str(self.home), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def finds(self, expected: Path, **environment: str) -> None:
        result = self.find(**environment)
        assert (result.returncode, result.stdout, result.stderr) == (0, f"{expected}\n", "")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_machine_with_no_python_is_told_in_one_sentence_what_to_install(machine):
    result = machine.find()
    assert result.returncode == 3
    assert not result.stdout
    assert result.stderr.startswith("error: no Python 3.12 to 3.14 ")
    assert "install" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("version", ["2.7", "3.11", "3.15", "unusable"])
def test_another_version_is_not_taken(machine, version):
    python(machine.bin / "python3", version)
    assert machine.find().returncode == 3


def test_a_python_that_lacks_a_module_is_not_taken(machine):
    without = "import sys; sys.modules['ensurepip'] = None; exec(sys.argv[1])"
    script(machine.bin / "python3.13", f'exec "{sys.executable}" -I -c "{without}" "$3"')
    machine.finds(python(machine.bin / "python3.12", "3.12"))


def test_the_tested_version_is_preferred_wherever_it_lies(machine):
    for version in ("3.14", "3.12"):
        python(machine.bin / f"python{version}", version)
    best = python(machine.home / ".pyenv/versions/3.13.7/bin/python", "3.13")
    machine.finds(best)


@pytest.mark.parametrize("names", [("3.14", "3.12"), ("3.14",), ("3.12",)])
def test_without_it_the_oldest_is_taken(machine, names):
    for version in names:
        python(machine.bin / f"python{version}", version)
    machine.finds(machine.bin / f"python{min(names)}")


def test_a_shim_that_exits_127_is_passed_over_for_the_python_behind_it(machine):
    for name in ("python3.13", "python3.12", "python3"):
        script(machine.bin / name, "echo 'pyenv: command not found' >&2; exit 127")
    root = machine.home / "elsewhere"
    script(machine.bin / "pyenv", f'[ "$1" = root ] && echo "{root}"')
    python(root / "versions/3.11.7/bin/python", "3.11")
    machine.finds(python(root / "versions/3.12.1/bin/python", "3.12"))


def test_pyenv_is_looked_at_even_if_it_is_not_on_path(machine):
    machine.finds(python(machine.home / ".pyenv/versions/3.12.1/bin/python", "3.12"))


def test_uv_is_asked_and_never_downloads(machine):
    managed = python(machine.home / "uv/cpython-3.12/bin/python3.12", "3.12")
    script(
        machine.bin / "uv",
        f'[ "$UV_PYTHON_DOWNLOADS $1 $2 $3" = "never python find 3.12" ] && echo "{managed}" || exit 2',
    )
    machine.finds(managed)


def test_an_environment_that_works_keeps_its_python(machine):
    python(machine.bin / "python3.13", "3.13")
    base = machine.home / "python3.12"
    script(machine.checkout / ".venv/bin/python", f'echo "3.12 {base}"')
    machine.finds(base)


def test_a_half_made_environment_is_not_made_anew_by_itself(machine):
    link = machine.checkout / ".venv/bin/python"
    link.parent.mkdir(parents=True)
    link.symlink_to(sys._base_executable)  # pyright: ignore[reportAttributeAccessIssue] -- CPython has it
    machine.finds(python(machine.bin / "python3.12", "3.12"), PATH=f"{link.parent}:{machine.bin}")


def test_track_python_ends_the_search(machine):
    python(machine.bin / "python3.13", "3.13")
    mine = python(machine.home / "my python", "3.14")
    machine.finds(mine, TRACK_PYTHON=str(mine))


def test_a_wrong_track_python_is_an_error_not_a_hint(machine):
    python(machine.bin / "python3.13", "3.13")
    result = machine.find(TRACK_PYTHON="/nowhere/python")
    assert result.returncode == 3
    assert "TRACK_PYTHON is /nowhere/python" in result.stderr
    assert "not found" in result.stderr


def test_the_real_probe_names_the_python_of_this_environment(machine):
    result = machine.find(TRACK_PYTHON=sys.executable)
    assert result.returncode == 0
    assert Path(result.stdout.strip()).samefile(sys.executable)


class Checkout:
    """A checkout whose environments are made without pip; `calls` holds what pip would have installed."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        for name in ("pyproject.toml", "tools/setup.sh", "tools/install.py"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        (folder / "requirements").mkdir()
        for layer in LAYERS:
            self.lock(layer, "one==1.0")
        self.calls: list[str] = []
        self.install = self.module()
        monkeypatch.setattr(self.install.venv, "create", lambda *_, **__: self.empty())
        monkeypatch.setattr(self.install, "pip_install", lambda _, *options: self.pip(options[-1]))

    def module(self) -> ModuleType:
        spec = importlib.util.spec_from_file_location("install", self.folder / "tools" / "install.py")
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def lock(self, layer: str, text: str) -> None:
        (self.folder / "requirements" / f"{layer}.txt").write_text(text)

    def empty(self) -> None:
        self.calls.append("empty")
        shutil.rmtree(self.folder / ".venv", ignore_errors=True)
        (self.folder / ".venv").mkdir()

    def pip(self, last: str) -> None:
        self.calls.append(Path(last).stem if last.startswith("--requirement=") else last)

    def made(self, layer: str) -> list[str]:
        self.calls.clear()
        self.install.install(layer)
        return self.calls


SITE = ["empty", "site", "--editable=."]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    return Checkout(tmp_path, monkeypatch)


def test_each_layer_is_installed_once(checkout):
    assert checkout.made("site") == SITE
    assert checkout.made("site") == []
    assert checkout.made("test") == ["test"]
    assert checkout.made("test") == []
    assert checkout.made("site") == []


def test_tests_install_what_they_stand_on(checkout):
    assert checkout.made("test") == [*SITE, "test"]


def test_other_requirements_start_from_an_empty_environment(checkout):
    checkout.made("test")
    checkout.lock("site", "one==2.0")
    assert checkout.made("test") == [*SITE, "test"]
    checkout.lock("test", "one==2.0")
    assert checkout.made("site") == []
    assert checkout.made("test") == ["test"]


def test_only_what_an_install_reads_of_pyproject_counts(checkout):
    checkout.made("site")
    project = checkout.folder / "pyproject.toml"
    project.write_text(project.read_text().replace("line-length = 120", "line-length = 88"))
    assert checkout.made("site") == []
    project.write_text(project.read_text().replace('track = "', 'tracks = "'))
    assert checkout.made("site") == SITE


@pytest.mark.parametrize("layer", LAYERS)
def test_after_a_kill_in_the_middle_the_next_call_starts_anew(checkout, monkeypatch, layer):
    checkout.made("site")
    checkout.lock(layer, "one==3.0")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkout.install, "pip_install", killed)
        with pytest.raises(KeyboardInterrupt):
            checkout.install.install(layer)
    assert checkout.made(layer)[:3] == SITE
    assert checkout.made(layer) == []


def test_a_folder_that_moved_is_installed_again(checkout, tmp_path_factory, monkeypatch):
    checkout.made("site")
    moved = tmp_path_factory.mktemp("moved") / "checkout"
    checkout.folder.rename(moved)
    monkeypatch.setattr(checkout, "folder", moved)
    assert checkout.module().missing("site") == ["site"]


def test_two_set_ups_at_once_make_one_environment(checkout, monkeypatch):
    inside, waits, go_on = threading.Event(), threading.Event(), threading.Event()
    pip = checkout.pip

    def slow(lock: int, *options: str) -> None:
        del lock
        inside.set()
        assert go_on.wait(20)
        pip(options[-1])

    def say(text: str) -> None:
        if text.startswith("waiting for another set-up"):
            waits.set()

    monkeypatch.setattr(checkout.install, "pip_install", slow)
    monkeypatch.setattr(checkout.install, "say", say)
    set_ups = [threading.Thread(target=checkout.install.install, args=("site",)) for _ in range(2)]
    set_ups[0].start()
    assert inside.wait(20)
    set_ups[1].start()
    one_waited = waits.wait(15)
    go_on.set()
    for set_up in set_ups:
        set_up.join(20)
    assert one_waited
    assert checkout.calls == SITE


def test_the_second_command_is_silent_and_quick(checkout):
    checkout.made("test")
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        result = subprocess.run(
            [checkout.folder / "tools" / "setup.sh", "test"],
            env={**os.environ, "TRACK_PYTHON": sys.executable},
            capture_output=True,
            text=True,
            check=True,
        )
        seconds.append(time.perf_counter() - start)
        assert result.stdout + result.stderr == ""
    assert min(seconds) < 1  # 0.1 s on an idle machine; the other worker may keep both cores busy


def test_an_unknown_layer_is_refused():
    result = subprocess.run(
        [ROOT / "tools" / "setup.sh", "everything"],
        env={**os.environ, "TRACK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (2, "usage: tools/setup.sh site|test\n")


def locked(layer: str) -> dict[str, str]:
    """The entries of a lock by name: each a requirement with its hashes, comments left out."""
    text = (ROOT / "requirements" / f"{layer}.txt").read_text("utf-8")
    lines = [line for line in text.replace("\\\n", "").splitlines() if line and not line.lstrip().startswith("#")]
    return {re.split(r"==|@", line)[0].strip(): line for line in lines}


@pytest.mark.parametrize("layer", LAYERS)
def test_every_locked_requirement_is_exact_and_has_hashes(layer):
    entries = locked(layer)
    assert entries
    whole = re.compile(r"==[\w.+!]+.*--hash=sha256:[0-9a-f]{64}")
    assert [name for name, line in entries.items() if not whole.search(line)] == []


@pytest.mark.parametrize("layer", LAYERS)
def test_a_lock_names_no_address(layer):
    text = (ROOT / "requirements" / f"{layer}.txt").read_text("utf-8")
    assert re.findall(r"^.*(?:://|--(?:extra-)?index|--find-links).*$", text, re.MULTILINE) == []


@pytest.mark.parametrize("layer", LAYERS)
def test_everything_asked_for_is_locked(layer):
    asked = (ROOT / "requirements" / f"{layer}.in").read_text("utf-8")
    names = re.findall(r"^([A-Za-z][\w.-]*)", asked, re.MULTILINE)
    assert set(map(str.lower, names)) <= locked(layer).keys()


def test_the_locks_agree_where_they_overlap():
    site, test = map(locked, LAYERS)
    version = re.compile(r"==([^ ;]+)")
    apart = {name for name in site.keys() & test.keys() if version.findall(site[name]) != version.findall(test[name])}
    assert not apart


def test_what_runs_is_what_is_shown():
    pins = tomllib.loads((ROOT / "pins.toml").read_text("utf-8"))
    text = str(pins)
    for name in ("jax", "tokamax"):
        version = re.findall(r"==([^ ;]+)", locked("site")[name])[0]
        assert f"'{version}'" in text


def test_help_lists_every_command_for_people():
    shown = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    commands = [line.split()[1] for line in shown.stdout.splitlines() if line.startswith("make ")]
    assert commands == ["help", "site", "serve", "test", "check", "fmt", "lock", "clean"]


# Hosts of package registries and folders of somebody's machine; written so that these lines do not match themselves.
NOT_COMMITTED = re.compile(
    r"pypi[.]org|pythonhosted[.]org|registry[.]npmjs|(?:deb|security)[.]debian[.]org"
    r"|(?<![\w.~*-])/(?:root|work|home/\w+|Users/\w+|opt/(?:pypi|wheels))/\w"
)


def test_no_committed_file_names_a_registry_or_a_folder_of_this_machine():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    assert files
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1)
        if NOT_COMMITTED.search(line)
    }
    assert found == set()


@pytest.mark.parametrize(
    ("reason", "ci", "code"),
    [
        ("no reason that anyone expects", {}, 1),
        ("no chromium on PATH", {}, 0),
        ("no chromium on PATH", {"CI": "true"}, 1),
    ],
)
def test_a_skip_nobody_expects_fails_the_run(tmp_path, reason, ci, code):
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(
        f"import pytest\ndef test_runs(): pass\ndef test_skips(): pytest.skip({reason!r})\n"
        "@pytest.mark.xfail(strict=True)\ndef test_fails(): assert False\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")}
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, f"--rootdir={tmp_path}", tmp_path],
        env=environment | ci,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == code, result.stdout
    assert ("unexpected skip: " in result.stdout) == bool(code)
