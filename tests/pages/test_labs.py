"""Lab pages: how to work on a lab, its hints, what its checker says, its notebook, and a sweep of kernels."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import nbformat
import pytest

from kernels.lab_first.lab import LAB
from tests.labs.helpers import checkout
from tests.pages.helpers import NOTHING_KNOWN, ROOT
from track import labs
from track.anchors.library import Library
from track.errors import BadInput, Finding
from track.evidence import Evidence
from track.evidence.record import Chip, Grid, Ledger, Measures, Record, Region, Verdict, Window, Work
from track.pages import notebooks, sweep
from track.pages.context import Context
from track.pages.document import Fence
from track.pages.labs import FENCES
from track.pages.sweep import Row, words

FIRST = "lab_first"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    root = checkout(tmp_path_factory.mktemp("checkout"))
    return Context(root, Library({}), {}, NOTHING_KNOWN, ())


def fence(kind: str, **given: str) -> Fence:
    return Fence(kind, (), given, (), 7, 9)


def drawn(context: Context, kind: str, **given: str) -> str:
    return FENCES[kind](fence(kind, **given), context)


def test_how_to_work_on_a_lab_names_its_file_its_commands_and_its_notebook(context, monkeypatch):
    monkeypatch.delenv("TRACK_SITE_URL", raising=False)
    said = drawn(context, "lab", lab=FIRST)
    assert "python kernels/lab_first/lab.py" in said
    assert "`labs/first_kernels.py`" in said
    assert re.findall(r"^\| `(\w+)` \|", said, re.MULTILINE) == ["hint", "jaxpr", "diff", "reset"]
    assert re.findall(r"track lab (\w+)", said) == ["check", "hint", "list"]
    assert "Colab" not in said
    assert json.loads(context.files["notebooks/lab_first.ipynb"])["nbformat"] == 4
    monkeypatch.setenv("TRACK_SITE_URL", "https://site.example/")
    assert "https%3A%2F%2Fsite.example%2Fnotebooks%2Flab_first.ipynb" in drawn(context, "lab", lab=FIRST)


def test_each_hint_is_closed_and_as_it_is_in_the_file(context):
    said = drawn(context, "hints", lab=FIRST, part="reduce")
    assert said.count("??? tip") == len(LAB.hints["reduce"])
    assert "???+" not in said
    for hint in LAB.hints["reduce"]:
        assert "\n".join(f"    {line}".rstrip() for line in hint.splitlines()) in said


def test_progress_shows_on_no_page(context):
    before = drawn(context, "hints", lab=FIRST, part="add") + drawn(context, "lab", lab=FIRST)
    (context.root / "labs").mkdir()
    (context.root / "labs" / "progress.json").write_text("{ damaged")
    labs.describe(context.root, FIRST, bare=True)
    assert before == drawn(context, "hints", lab=FIRST, part="add") + drawn(context, "lab", lab=FIRST)
    shutil.rmtree(context.root / "labs")


def test_what_a_lab_says_is_run_once_and_kept(context, monkeypatch):
    given = {"lab": FIRST, "command": "jaxpr", "file": "solution.py", "part": "add"}
    said = drawn(context, "lab-says", **given)
    assert said.startswith("```text\nadd:\n{ lambda ;")
    assert "pallas_call[" in said
    monkeypatch.setattr(labs, "said", lambda *_: pytest.fail("it ran again"))
    assert drawn(context, "lab-says", **given) == said


def test_what_a_lab_says_is_all_that_its_check_leaves_in_the_checkout(context):
    """With libtpu, a check compiles the kernels for chips, and libtpu writes logs wherever temporary files go."""
    (context.root / "build").mkdir(exist_ok=True)
    before = {*context.root.rglob("*")}
    assert "3 of 3 parts done" in drawn(context, "lab-says", lab=FIRST, command="check", file="solution.py")
    left = {path for path in {*context.root.rglob("*")} - before if path.is_file()}
    assert {path.parent for path in left} == {context.root / "build" / "labs"}


def test_a_lab_whose_file_is_not_as_the_page_says_does_not_build(context):
    solution = context.root / "kernels" / FIRST / "solution.py"
    text = solution.read_text()
    solution.write_text(text.replace("x_ref[...] + y_ref[...]", "nothing"))
    try:
        with pytest.raises(Finding, match="is not what the page says") as caught:
            drawn(context, "lab-says", lab=FIRST, command="jaxpr", file="solution.py", part="add")
    finally:
        solution.write_text(text)
    assert "NameError" in caught.value.details["found"]
    assert caught.value.details["page"] == "line 7"


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("lab", {"lab": "nowhere"}, "no lab 'nowhere'"),
        ("lab", {}, "missing option 'lab'"),
        ("hints", {"lab": FIRST, "part": "divide"}, "has no part 'divide'"),
        ("lab-says", {"lab": FIRST, "command": "reset", "file": "solution.py"}, "no lab can be asked to reset"),
        ("lab-says", {"lab": FIRST, "command": "check", "file": "nothing.py"}, "asked to check nothing.py"),
    ],
)
def test_what_a_fence_cannot_show_is_wrong_input_with_its_place(context, kind, given, said):
    with pytest.raises(BadInput, match=said) as caught:
        drawn(context, kind, **given)
    assert caught.value.details["page"] == "line 7"


# The notebook.


def test_a_labs_notebook_is_valid_closes_the_checker_and_ends_with_the_file_and_its_check():
    made = notebooks.lab_notebook(ROOT, labs.describe(ROOT, FIRST, bare=True))
    assert made == notebooks.lab_notebook(ROOT, labs.describe(ROOT, FIRST, bare=True))
    read = nbformat.reads(made.decode(), as_version=nbformat.NO_CONVERT)
    nbformat.validate(read)
    code = [cell for cell in read.cells if cell.cell_type == "code"]
    for cell in code:
        assert bool(cell.metadata) == cell.source.startswith("%%writefile kernels/")
        if cell.source.startswith("%%writefile "):
            name, _, text = cell.source.removeprefix("%%writefile ").partition("\n")
            path = ROOT / "kernels/lab_first/skeleton.py" if name == "labs/first_kernels.py" else ROOT / name
            assert text.strip("\n") == path.read_text("utf-8").strip("\n")
    assert code[-3].source.startswith("%%writefile labs/first_kernels.py\n")
    assert [cell.source for cell in code[-2:]] == [f"!python kernels/lab_first/lab.py{do}" for do in ("", " hint")]
    assert not any("solution.py" in cell.source.partition("\n")[0] for cell in code)


def test_a_labs_notebook_checks_where_there_is_nothing_else(tmp_path: Path):
    """As Jupyter would: the files are written, and the last command runs beside them."""
    made = json.loads(notebooks.lab_notebook(ROOT, labs.describe(ROOT, FIRST, bare=True)))
    for source in ("".join(cell["source"]) for cell in made["cells"]):
        if source.startswith("%%writefile "):
            name, _, text = source.removeprefix("%%writefile ").partition("\n")
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-B", "kernels/lab_first/lab.py"]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=100
        )

    first = run()
    assert (first.returncode, first.stderr) == (1, "")
    assert "add: not begun" in first.stdout
    shutil.copy(ROOT / "kernels/lab_first/solution.py", tmp_path / "labs/first_kernels.py")
    assert run().returncode == 0


# A sweep. One step of 2 × 2 blocks: 2 blocks in and 1 out, of 100 bytes each, at 100 bytes a second: 3 seconds.

CHIP = Chip("v5e", "TPU v5 lite", 1, 100, 100_000, 1_000)
WINDOW = ((10, 10), (10, 10), (10, 10))


def swept(work: Work, bundles: int) -> str:
    once = ((0, 0),)
    windows = (
        *(Window(name, "input", *WINDOW, 1, 2, once) for name in "xy"),
        Window("o", "output", *WINDOW, 1, 2, once),
    )
    measures = Measures(regions=(Region("start", bundles, kernel="k"),), ledger=Ledger((), 600, 0))
    record = Record(
        "t", "k", "c", "tpu-aot", "v5e", "", {}, confined=False, output="", verdict=Verdict("ok", measures=measures)
    )
    evidence = Evidence(
        {("k", "c", "tpu-aot", "v5e"): record},
        {},
        {("k", "c"): (Grid("k", (1,), windows),)},
        {("k", "c"): work},
        {"v5e": CHIP},
        {},
        0,
    )
    return sweep.sweep(fence("sweep", kernels="k", chip="v5e"), Context(ROOT, Library({}), {}, evidence, ()))


def test_a_sweep_counts_what_the_model_says():
    said = swept(Work(3_000, 300), 5)
    cells = [cell.strip() for cell in said.splitlines()[2].split("|")[1:-1]]
    assert cells[:6] == ["k", "1", "300", "10", "600", "5"]
    assert cells[6] == "3000000.0"  # 300 bytes at 100 bytes a second, in microseconds
    assert "whose roofs meet at 1,000 FLOP for a byte" in said
    assert "the bandwidth of HBM. Copies go on nearly all of its time" in said
    assert said.endswith("`k` moves the fewest bytes and takes the least time.")


def test_a_sweep_names_the_kernel_that_is_best_in_either_column():
    small, large = replace(row(9, 9, 10), name="small", moved=1), replace(row(1, 9, 8), name="large", moved=2)
    assert sweep._best([large, small]) == "`small` moves the fewest bytes, and `large` takes the least time."


def row(copying: int, computing: int, total: int) -> Row:
    parts = (Fraction(copying), Fraction(computing), Fraction(total))
    return Row("k", 1, 1, Fraction(1), None, Fraction(1), *parts, Fraction(1, 2), "the bandwidth of HBM")


@pytest.mark.parametrize(
    ("copying", "computing", "said"),
    [
        (95, 40, "Copies go on nearly all of its time"),
        (90, 95, "Copies go on nearly all of its time"),
        (40, 95, "The core computes nearly all of its time"),
        (60, 70, "Copies take 60% of its time and bundles 70%"),
    ],
)
def test_what_holds_a_kernel_up_is_what_takes_nearly_all_of_its_time(copying, computing, said):
    assert said in words(row(copying, computing, 100))
    assert words(row(copying, computing, 100)).startswith("`k` reaches 50% of the lower of its roofs")


def test_a_sweep_of_what_is_not_there_is_wrong_input():
    known = Context(ROOT, Library({}), {}, Evidence({}, {}, {}, {}, {"v5e": CHIP}, {}, 0), ())
    with pytest.raises(BadInput, match="no chip 'v9'"):
        sweep.sweep(fence("sweep", kernels="k", chip="v9"), known)
    with pytest.raises(BadInput, match="no kernel 'k' of one case"):
        sweep.sweep(fence("sweep", kernels="k", chip="v5e"), known)
