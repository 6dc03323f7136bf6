"""`track lab`: it finds labs by number, has them do the work in a process of their own, and exits as they do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.labs.helpers import ROOT, checkout
from track import labs
from track.errors import BadInput, Finding


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkout(tmp_path_factory.mktemp("checkout"))


def track(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    command = [sys.executable, "-B", "-m", "track.cli", "lab", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=110)


def test_labs_are_listed_by_number_with_what_is_done(root: Path) -> None:
    shutil.rmtree(root / "labs", ignore_errors=True)
    listed = track(root, "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout.splitlines() == [
        "1.1  First kernels  labs/first_kernels.py: not begun",
        "     add open, scale open, reduce open",
        "1.2  Tiled matmul   labs/tiled_matmul.py: not begun",
        "     matmul open, blocks open",
    ]


def test_a_lab_is_begun_checked_hinted_and_reset(root: Path) -> None:
    shutil.rmtree(root / "labs", ignore_errors=True)
    first = track(root, "check", "1.1")
    assert first.returncode == 1
    assert "add: not begun" in first.stdout
    assert first.stdout.endswith("a hint: track lab hint 1.1 add\n")
    shutil.copy(root / "kernels/lab_first/solution.py", root / "labs/first_kernels.py")
    assert "0 of 3 parts done, changed since" in track(root, "list").stdout
    assert track(root, "check", "1.1").returncode == 0
    assert "3 of 3 parts done\n" in track(root, "list").stdout
    assert json.loads(track(root, "list", "--json").stdout)[0]["parts"][0]["done"] is True
    assert track(root, "hint", "1.1", "add").stdout.startswith("add, hint 1 of")
    assert track(root, "diff", "1.1").stdout == "your file and the solution are the same\n"
    assert "what you had written is in labs/kept/first_kernels-1.py" in track(root, "reset", "lab_first").stdout
    assert track(root, "diff", "1.1").returncode == 1


@pytest.mark.parametrize("command", ["check", "hint", "reset", "diff", "jaxpr"])
def test_a_lab_that_is_not_there_is_wrong_input_that_lists_those_that_are(root: Path, command: str) -> None:
    ran = track(root, command, "7.7")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: no lab '7.7'\n  expected  1.1  First kernels\n            1.2  Tiled matmul\n")


def test_labs_are_in_the_order_of_their_numbers_not_of_their_letters(tmp_path: Path) -> None:
    for folder, number in (("a", "10.1"), ("b", "2.10"), ("c", "2.9")):
        place = tmp_path / "kernels" / folder
        place.mkdir(parents=True)
        known = {"number": number, "title": "T", "folder": folder, "page": "p.md", "work": "w.py"}
        known |= {"started": False, "changed": False, "parts": []}
        (place / "lab.py").write_text(f"print({json.dumps(known)!r})\n")
    assert [lab.number for lab in labs.find(tmp_path)] == ["2.9", "2.10", "10.1"]


@pytest.mark.parametrize(
    ("code", "found"), [("1 / 0", "ZeroDivisionError"), ("print(3)", "object"), ("print('x')", "JSON")]
)
def test_a_lab_that_does_not_describe_itself_is_a_finding_with_its_file(tmp_path: Path, code: str, found: str) -> None:
    (tmp_path / "kernels" / "odd").mkdir(parents=True)
    (tmp_path / "kernels" / "odd" / "lab.py").write_text(code)
    with pytest.raises(Finding) as caught:
        labs.find(tmp_path)
    assert caught.value.details["file"] == "kernels/odd/lab.py"
    assert found in caught.value.details["found"]


def test_without_labs_there_is_none_to_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        labs.named(labs.find(tmp_path), "1.1")
    assert caught.value.details["expected"] == "no lab at all"
