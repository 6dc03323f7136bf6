"""What every test has: no accelerator, laws that CI can repeat, a browser, and no skip that nobody expected."""

from __future__ import annotations

import os
import shutil

import hypothesis
import pytest

os.environ["JAX_PLATFORMS"] = "cpu"  # before anything imports jax

# A law that fails prints how to repeat it. In CI the examples are the same at every run, so a change is judged by what
# it changed. No deadline, because two busy cores are slow at times.
hypothesis.settings.register_profile("dev", print_blob=True, deadline=None)
hypothesis.settings.register_profile("ci", parent=hypothesis.settings.get_profile("dev"), derandomize=True)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "dev")

NO_BROWSER = "no chromium on PATH"

# The reasons for which a test may be skipped on a person's machine. In CI there are none, because .ci/run and make
# install what is missing.
EXPECTED_SKIPS = frozenset() if "CI" in os.environ else frozenset({NO_BROWSER})


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium or Chrome of this machine."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip(NO_BROWSER)


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


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SkipWatch())
