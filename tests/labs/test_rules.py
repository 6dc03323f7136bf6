"""The rules of all labs: solving adds lines, every part has hints, nothing but jax and numpy is needed."""

from __future__ import annotations

import ast
import difflib
import sys

import pytest

from kernels.labkit.lab import Lab
from tests.labs.helpers import LABS, ROOT, wrong_answers
from track.pages.plan import read_plan

ids = [lab.number for lab in LABS]
every_lab = pytest.mark.parametrize("lab", LABS, ids=ids)


@every_lab
def test_the_solution_is_the_skeleton_with_lines_added(lab: Lab) -> None:
    skeleton, solution = (path.read_text("utf-8").splitlines() for path in (lab.skeleton, lab.solution))
    marks = {line[:2] for line in difflib.ndiff(skeleton, solution)}
    rest = iter(solution)
    assert all(line in rest for line in skeleton)
    assert "+ " in marks


@every_lab
def test_every_part_has_hints_and_no_other(lab: Lab) -> None:
    assert list(lab.hints) == [part.name for part in lab.parts]
    assert all(hint.strip() for hints in lab.hints.values() for hint in hints)
    assert all(len(hints) >= 3 for hints in lab.hints.values())


@every_lab
def test_the_functions_of_the_parts_are_those_of_the_skeleton(lab: Lab) -> None:
    tree = ast.parse(lab.skeleton.read_text("utf-8"))
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert sorted(name for part in lab.parts for name in part.functions) == sorted(defined)


@every_lab
def test_every_part_has_wrong_answers_of_several_kinds(lab: Lab) -> None:
    assert len({wrong["cause"] for wrong in wrong_answers(lab)}) >= 3
    assert {wrong["part"] for wrong in wrong_answers(lab)} == {part.name for part in lab.parts}


@every_lab
def test_a_lab_is_in_the_plan_of_the_track_under_its_number(lab: Lab) -> None:
    planned = {page.path: page for phase in read_plan(ROOT / "docs") for page in phase.pages}[lab.page]
    assert (planned.kind, planned.title) == ("lab", f"Lab {lab.number}: {lab.title}")
    assert (ROOT / "docs" / lab.page).is_file()


def test_numbers_and_files_are_each_one_labs() -> None:
    assert len({lab.number for lab in LABS}) == len({lab.work for lab in LABS}) == len(LABS)
    assert {lab.folder for lab in LABS} == {path.parent for path in (ROOT / "kernels").glob("*/lab.py")} - {
        ROOT / "kernels" / "labkit"
    }


@pytest.mark.parametrize("folder", ["labkit", *(lab.folder.name for lab in LABS)])
def test_labs_import_jax_numpy_and_themselves(folder: str) -> None:
    allowed = {"jax", "numpy", "kernels", *sys.stdlib_module_names}
    for path in (ROOT / "kernels" / folder).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.partition(".")[0] for name in names} <= allowed, path
