"""What every test has: no accelerator, laws that CI can repeat, a browser, and no skip that nobody expected."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

os.environ["JAX_PLATFORMS"] = "cpu"  # before anything imports jax

# A law that fails prints how to repeat it. In CI the examples are the same at every run, so a change is judged by what
# it changed. No deadline, because two busy cores are slow at times.
hypothesis.settings.register_profile("dev", print_blob=True, deadline=None)
hypothesis.settings.register_profile("ci", parent=hypothesis.settings.get_profile("dev"), derandomize=True)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "dev")

PROGRAMS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
    "java": ("java",),
    "node": ("node",),
}
"""What tests drive, and the names under which a machine may have it; tools/programs.sh knows the packages."""
NO_NPM = "no build/npm: tools/programs.sh makes it"

# The reasons for which a test may be skipped on a person's machine. In CI there are none, because .ci/run and make
# install what is missing.
EXPECTED_SKIPS = (
    frozenset() if "CI" in os.environ else frozenset({NO_NPM, *(f"no {name} on PATH" for name in PROGRAMS)})
)


def program(name: str) -> str:
    """The path of a program of this machine; without it, the test is skipped."""
    for known in PROGRAMS[name]:
        if path := shutil.which(known):
            return path
    pytest.skip(f"no {name} on PATH")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium or Chrome of this machine."""
    return program("chromium")


@pytest.fixture(scope="session")
def firefox() -> str:
    """The path of a Firefox of this machine."""
    return program("firefox")


@pytest.fixture(scope="session")
def java() -> str:
    """The path of a Java of this machine."""
    return program("java")


@pytest.fixture(scope="session")
def npm() -> Path:
    """The folder with the packages of tests/browser/package-lock.json."""
    folder = Path(__file__).parents[1] / "build" / "npm" / "node_modules"
    if not folder.is_dir():
        pytest.skip(NO_NPM)
    return folder


@pytest.fixture(scope="session")
def node(npm: Path) -> Callable[..., list[dict[str, Any]]]:
    """Runs a script of tests/browser with Node, and gives the lines that it printed, which are JSON."""
    path = program("node")

    def run(script: str, *arguments: object, seconds: float) -> list[dict[str, Any]]:
        command = [path, str(Path(__file__).parent / "browser" / script), *map(str, arguments)]
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "NODE_PATH": str(npm), "HOME": home, "DO_NOT_TRACK": "1"}
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=seconds, check=False
            )
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


class SkipWatch:
    """Fails a run that skipped a test for a reason that is not expected."""

    def __init__(self) -> None:
        self.unexpected: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.note(report)

    def note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail") and isinstance(report.longrepr, tuple):
            reason = report.longrepr[2].removeprefix("Skipped: ")
            if reason not in EXPECTED_SKIPS:
                self.unexpected.append(f"{report.nodeid}: {reason}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unexpected and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for skip in self.unexpected:
            terminalreporter.write_line(f"unexpected skip: {skip}", red=True)


class Summaries:
    """Shows what tests record as their `summary`, so that the log of a run that passed has it."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.lines += [str(text) for name, text in report.user_properties if name == "summary"]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in sorted(self.lines):
            terminalreporter.write_line(line)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SkipWatch())
    config.pluginmanager.register(Summaries())
