"""The git way from the command line, for a second pins file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from track.pins.lock import Pin

if TYPE_CHECKING:
    from .conftest import Mirrored

ROOT = Path(__file__).parents[2]
EARLIER = ROOT / "tests" / "pins" / "earlier.toml"


def track(root: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "track.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True).stdout


def test_sync_and_facts_work_for_a_second_pins_file(
    root: Path, earlier: Mapping[str, Pin], mirrored: Mirrored, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "pins.toml", root)
    text = EARLIER.read_text()
    for project, pin in earlier.items():
        text = text.replace(pin.commit, mirrored.pins[project].commit)
    second = tmp_path / "second.toml"
    second.write_text(text)
    mirrors = ",".join(f"{project}={folder}" for project, folder in mirrored.folders.items())
    said = track(root, "--pins", str(second), "sync", "--from", "git", "--mirror", mirrors)
    assert said.startswith(f"{sum(len(pin.files) for pin in earlier.values())} files of 2 projects")
    facts = json.loads(track(root, "--pins", str(second), "facts", "--json"))
    assert facts["pipeline.lines"]["value"] == 2507
    assert facts["tpu.rules.tc"]["value"] == 127
    assert facts["tpu.rules.live.tc"]["value"] is None
