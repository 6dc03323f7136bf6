"""The learner's folder: nothing that was written is lost, and progress is what the last check said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.labkit.cli import main
from kernels.labkit.desk import Desk, Progress, keep
from kernels.labkit.lab import Lab
from kernels.labkit.problem import LabError
from tests.labs.helpers import LABS, ROOT, checkout, there

FIRST, _ = LABS


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return there(FIRST, checkout(tmp_path))


def test_the_skeleton_is_laid_out_once(lab: Lab) -> None:
    desk = Desk(lab)
    assert desk.lay_out()
    desk.work.write_text("mine")
    assert not desk.lay_out()
    assert desk.work.read_text() == "mine"


def test_a_reset_keeps_every_file_under_a_name_of_its_own_and_says_where(lab: Lab, capsys) -> None:
    desk = Desk(lab)
    for number in range(1, 4):
        desk.lay_out()
        desk.work.write_text(f"version {number}")
        assert main(lab, ["reset"]) == 0
        kept = lab.root / f"labs/kept/first_kernels-{number}.py"
        assert kept.read_text() == f"version {number}"
        assert (
            capsys.readouterr().out.strip().endswith(f"what you had written is in labs/kept/first_kernels-{number}.py")
        )
        assert desk.work.read_bytes() == lab.skeleton.read_bytes()
    assert main(lab, ["reset"]) == 0
    assert "nothing had been written in it" in capsys.readouterr().out
    assert len(list((lab.root / "labs/kept").iterdir())) == 3


@settings(max_examples=20, deadline=None)
@given(texts=st.lists(st.binary(max_size=8), max_size=6), taken=st.sets(st.integers(1, 6)))
def test_what_is_kept_never_replaces_what_is_there(tmp_path_factory, texts: list[bytes], taken: set[int]) -> None:
    folder = tmp_path_factory.mktemp("kept")
    for number in taken:
        (folder / f"a-{number}.py").write_bytes(b"there before")
    places = []
    for text in texts:
        (folder / "a.py").write_bytes(text)
        places.append(keep(folder / "a.py", folder))
    assert [place.read_bytes() for place in places] == texts
    assert all((folder / f"a-{number}.py").read_bytes() == b"there before" for number in taken)


def test_progress_is_beside_that_of_other_labs(lab: Lab) -> None:
    desk = Desk(lab)
    desk.folder.mkdir()
    desk.notes.write_text('{"9.9": {"done": ["x"]}}')
    desk.note(Progress(["add"], "text", {"add": 2}))
    assert desk.progress() == Progress(["add"], "text", {"add": 2})
    assert json.loads(desk.notes.read_text())["9.9"] == {"done": ["x"]}


@pytest.mark.parametrize("text", ["{", "[]", '{"1.1": {"unknown": 1}}', '{"1.1": 3}'])
def test_progress_that_cannot_be_read_is_an_error_with_its_place(lab: Lab, text: str) -> None:
    desk = Desk(lab)
    desk.folder.mkdir()
    desk.notes.write_text(text)
    with pytest.raises(LabError, match="progress cannot be read") as caught:
        desk.progress()
    assert caught.value.details["file"] == "labs/progress.json"


def test_where_progress_cannot_be_read_a_reset_moves_nothing(lab: Lab, capsys) -> None:
    desk = Desk(lab)
    desk.lay_out()
    desk.work.write_text("mine")
    desk.notes.write_text("{")
    assert main(lab, ["reset"]) == 2
    assert "progress cannot be read" in capsys.readouterr().err
    assert desk.work.read_text() == "mine"


def test_where_the_solution_is_not_the_last_hint_names_its_page(lab: Lab, capsys) -> None:
    lab.solution.unlink()
    for _ in lab.hints["add"]:
        assert main(lab, ["hint", "add"]) == 0
    assert capsys.readouterr().out.endswith("the solution is on the lab's page\n")


def test_hints_come_one_by_one_and_the_last_names_the_solution(lab: Lab, capsys) -> None:
    hints = lab.hints["scale"]
    said = []
    for _ in range(len(hints) + 1):
        assert main(lab, ["hint", "scale"]) == 0
        said.append(capsys.readouterr().out)
    for number, (hint, text) in enumerate(zip(hints, said, strict=False), 1):
        assert text.startswith(f"scale, hint {number} of {len(hints)}:\n\n{hint}\n")
    assert said[-1] == said[-2]
    assert said[-1].endswith("the solution is kernels/lab_first/solution.py\n")
    assert "solution.py" not in "".join(said[: len(hints) - 1])


def test_a_hint_is_for_the_first_part_that_is_not_done(lab: Lab, capsys) -> None:
    Desk(lab).note(Progress(["add", "scale"]))
    assert main(lab, ["hint"]) == 0
    assert capsys.readouterr().out.startswith("reduce, hint 1 of")


def test_the_difference_is_shown_when_the_lab_is_done_or_on_request(lab: Lab, capsys) -> None:
    desk = Desk(lab)
    assert main(lab, ["diff"]) == 1
    assert "not done: add, scale, reduce" in capsys.readouterr().err
    shutil.copy(lab.solution, desk.work) if desk.folder.is_dir() else desk.lay_out()
    assert main(lab, ["diff", "--spoil"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("--- labs/first_kernels.py\n+++ kernels/lab_first/solution.py\n")
    assert "+    o_ref[...] = x_ref[...] + y_ref[...]" in shown


def test_a_check_notes_what_is_done_and_a_changed_file_is_known(lab: Lab, capsys) -> None:
    desk = Desk(lab)
    desk.lay_out()
    shutil.copy(lab.solution, desk.work)
    assert main(lab, ["check"]) == 0
    assert desk.progress().done == ["add", "scale", "reduce"]
    capsys.readouterr()
    assert main(lab, ["diff"]) == 0
    assert capsys.readouterr().out == "your file and the solution are the same\n"
    desk.work.write_text(desk.work.read_text() + "# more\n")
    assert main(lab, ["diff"]) == 1
    assert "your file has changed since it was checked" in capsys.readouterr().err
    assert main(lab, ["describe"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert (described["started"], described["changed"]) == (True, True)
    assert main(lab, ["describe", "--bare"]) == 0
    bare = json.loads(capsys.readouterr().out)
    assert (bare["started"], bare["changed"], {part["done"] for part in bare["parts"]}) == (False, False, {False})


def test_a_file_that_is_not_there_is_wrong_input(lab: Lab, capsys) -> None:
    assert main(lab, ["check", "--file", "nowhere.py"]) == 2
    assert "error: there is no such file" in capsys.readouterr().err


def test_git_ignores_the_learners_folder() -> None:
    assert "/labs/" in (ROOT / ".gitignore").read_text().splitlines()
