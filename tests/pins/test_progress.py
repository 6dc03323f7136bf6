"""A long step is shown, a short one is not."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from track.pins import progress
from track.pins.progress import Terminal


@pytest.fixture
def text(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal has printed; its patience is shortened, so that the tests are."""
    monkeypatch.setattr(progress, "_PATIENCE_SECONDS", 0.1)
    return io.StringIO()


@pytest.mark.parametrize("terminal", [True, False])
def test_a_short_step_prints_nothing(text: io.StringIO, *, terminal: bool) -> None:
    """Nobody has had to wait."""
    with Terminal(Console(file=text, force_terminal=terminal)).busy("fetching"):
        pass
    assert text.getvalue() == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_a_long_step_is_named(text: io.StringIO, *, terminal: bool) -> None:
    """A spinner on a terminal, one line elsewhere."""
    with Terminal(Console(file=text, force_terminal=terminal)).busy("fetching"):
        time.sleep(0.4)
    assert "fetching" in text.getvalue()


def test_a_line_is_printed_as_it_is(text: io.StringIO) -> None:
    """Brackets are no markup, and long lines are not broken."""
    line = "[jax] " + "x" * 200
    Terminal(Console(file=text)).say(line)
    assert text.getvalue() == f"{line}\n"
