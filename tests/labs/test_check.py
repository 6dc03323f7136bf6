"""A check from end to end, as a learner runs it: in a child process, whatever the file does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.labkit.check import check
from kernels.labkit.cli import lines_of
from kernels.labkit.lab import Lab
from tests.evidence.helpers import plain_site
from tests.labs.helpers import LABS, ROOT, changed, checkout, script, there, wrong_answers

FIRST, TILES = LABS
BEGIN = "ROWS = 8  # rows in a block"
ADDS = "    o_ref[...] = x_ref[...] + y_ref[...]"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkout(tmp_path_factory.mktemp("checkout"))


def report(lab: Lab, root: Path, text: str, limit: float = 60.0) -> str:
    """What is printed of a file."""
    file = root / "answer.py"
    file.write_text(text)
    here = there(lab, root, limit=limit)
    return "\n".join(lines_of(here, file, check(here, file)))


@pytest.mark.parametrize("lab", LABS, ids=[lab.number for lab in LABS])
def test_with_jax_and_numpy_alone_the_skeleton_fails_by_design_and_the_solution_is_right(
    tmp_path: Path, lab: Lab
) -> None:
    root = checkout(tmp_path / "new")  # in which nothing has been checked before
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "TPU_", "LIBTPU_"))}
    plain["PYTHONPATH"] = str(plain_site(tmp_path))
    folder = root / "kernels" / lab.folder.name

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-S", "-B", folder / "lab.py", *arguments]
        return subprocess.run(command, env=plain, capture_output=True, text=True, check=False, timeout=110)

    first = run("check")
    assert (first.returncode, first.stderr) == (1, "")
    assert f"labs/{lab.work} is new, a copy of the skeleton" in first.stdout
    assert "looks like  no" in first.stdout
    hint = f"python kernels/{lab.folder.name}/lab.py hint {lab.parts[0].name}"
    assert f"0 of {len(lab.parts)} parts done; a hint: {hint}" in first.stdout
    right = run("check", "--file", folder / "solution.py")
    assert (right.returncode, right.stderr) == (0, "")
    assert "not compiled for a TPU: the package libtpu" in right.stdout
    assert right.stdout.count(": done\n") == len(lab.parts)


def test_where_libtpu_is_it_takes_the_solution_for_every_chip_and_says_what_it_refuses(root: Path) -> None:
    said = report(FIRST, root, FIRST.solution.read_text())
    assert said.count("the TPU compiler takes it for v4, v5e, v5p, v6e, 7x") == len(FIRST.parts)
    sorts = "    both = x_ref[...] + y_ref[...]; o_ref[...] = jnp.sort(both, axis=0) * 0 + both"
    refused = report(FIRST, root, changed(FIRST, ADDS, sorts))
    assert "error: the compiler refuses it for v4" in refused
    assert "looks like  refused by the compiler" in refused
    assert "2 of 3 parts done" in refused


@pytest.mark.parametrize(
    ("line", "becomes", "said"),
    [
        (BEGIN, "while True: pass", ["at          the file, as it is read", "still running", "loop without an end"]),
        (ADDS, "    while True: pass", ["at          add", "loop without an end", "scale: not looked at"]),
        (BEGIN, "import os; os._exit(7)", ["exit code 7", "reduce: not looked at"]),
        (ADDS, "    import os; os._exit(0)", ["the check did not come to its end", "exit code 0"]),
        (ADDS, "    import ctypes; ctypes.string_at(0)", ["SIGSEGV", "0 of 3 parts done"]),
        (BEGIN, "import nowhere_at_all", ["ModuleNotFoundError", "answer.py:13", "none of 3 parts was looked at"]),
        (BEGIN, "raise SystemExit(3)", ["SystemExit: 3", "none of 3 parts was looked at"]),
        (BEGIN, "ROWS = (8", ["SyntaxError", "none of 3 parts was looked at"]),
    ],
)  # fmt: skip
def test_whatever_a_file_does_the_report_says_it(root: Path, line: str, becomes: str, said: list[str]) -> None:
    found = report(FIRST, root, changed(FIRST, line, becomes), limit=6.0 if "while" in becomes else 60.0)
    for words in said:
        assert words in found


def test_what_a_file_prints_is_shown_and_a_flood_of_it_is_cut(root: Path) -> None:
    said = report(FIRST, root, changed(FIRST, BEGIN, BEGIN + "\nprint('from the file')"))
    assert said.startswith("your file printed:\n  from the file\n")
    assert "3 of 3 parts done" in said
    flood = report(FIRST, root, changed(FIRST, BEGIN, "while True: print('x' * 10000)"))
    assert "File too large" in flood
    assert len(flood) < 20_000


def test_bytes_that_are_no_text_are_no_surprise(root: Path) -> None:
    file = root / "answer.py"
    file.write_bytes(b"\xff\xfe\x00")
    here = there(FIRST, root)
    assert "none of 3 parts was looked at" in "\n".join(lines_of(here, file, check(here, file)))


def test_a_wrong_answer_is_shown_with_its_numbers_and_a_part_that_builds_on_it_waits(root: Path) -> None:
    wrong = next(one for one in wrong_answers(TILES) if one["cause"] == "overwritten")
    said = report(TILES, root, changed(TILES, wrong["line"], wrong["becomes"]))
    assert "matmul: not yet right" in said
    assert "blocks: not looked at" in said
    assert "first       o_ref[0, 0], in block (0, 0), of steps (0, 0, 0) to (0, 0, 2)" in said
    assert "looks like  overwritten" in said


def test_what_is_not_begun_is_told_from_what_is_wrong(root: Path) -> None:
    text = FIRST.skeleton.read_text()
    begun = text.replace('sum of the blocks of x and y."""\n', 'sum of the blocks of x and y."""\n' + ADDS + "\n")
    said = report(FIRST, root, begun)
    assert "add: done" in said
    assert "scale: not begun\n  error: the grid is not the one" in said
    assert said.endswith("1 of 3 parts done; a hint: python kernels/lab_first/lab.py hint scale")
    assert "\nreduce: not begun\n\n" in said


def test_the_jaxpr_of_a_part_is_printed(root: Path) -> None:
    ran = script(root, "lab_first", "jaxpr", "add", "--file", str(ROOT / "kernels/lab_first/solution.py"))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("add:\n{ lambda ;")
    assert "pallas_call[" in ran.stdout
    assert "grid=(4,)" in ran.stdout


def test_without_jax_it_says_so_and_exits_with_3(tmp_path: Path, root: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-S", "-B", root / "kernels/lab_first/lab.py", "check"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 3
    assert "error: a lab needs jax" in ran.stderr
    assert "next   pip install jax numpy" in ran.stderr
