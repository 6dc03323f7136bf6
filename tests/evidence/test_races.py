"""What an interpreter says of races is heard, whichever way its version of jax says it."""

from __future__ import annotations

import dataclasses
import types

import pytest

from track.evidence.lanes import hooks
from track.evidence.lanes.races import going_on, noted_by

SAYING = {
    "0.11 prints": "print('RACE')",
    "0.12 logs by its own logger": "logger.warning('RACE')",
    "0.12 logs by the root logger": "logging.warning('RACE')",
}


@pytest.mark.parametrize("code", SAYING.values(), ids=SAYING)
def test_a_race_is_noted_however_it_is_said(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = types.ModuleType("interpreter")
    exec("import logging\nlogger = logging.getLogger('x')\ndef look():\n    " + code, vars(module))  # noqa: S102
    heard: list[str] = []
    noted_by(heard.append, module)
    module.look()
    assert heard == ["RACE"]
    assert capsys.readouterr() == ("", "")


@dataclasses.dataclass
class Before:
    detect_races: bool = False


@dataclasses.dataclass
class Since(Before):
    on_race: str = "raise"


def test_an_interpreter_that_can_raise_is_told_to_go_on() -> None:
    """One that cannot is told nothing, which it would not understand."""
    assert Before(detect_races=True, **going_on(Before)) == Before(detect_races=True)
    assert Since(detect_races=True, **going_on(Since)).on_race == "warn"


@pytest.mark.parametrize("more", [(), (None,)], ids=["0.11", "0.12"])
def test_a_copy_is_noted_with_or_without_the_core_that_it_goes_to(more: tuple[None, ...]) -> None:
    """0.12 names it after the device."""
    site = hooks.Site("", (), 0)
    noted = hooks.note_copy("dma_start", site, 0, 0, 1, 11, (), 1, 12, (), 13, 14, 2, *more)
    assert noted == hooks.Copy(site, 0, 11, noted.source_range, 12, noted.target_range, 13, to=2, sent=14)
