"""Notebooks: the companion files in cells, the same bytes every time, valid, and they run."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import nbformat
import pytest

from tests.pages.helpers import ROOT
from track.pages.notebooks import INSTALL, notebook, open_in_colab

TOPICS = sorted(path.parent.name for path in (ROOT / "kernels").glob("*/kernel.py"))
WRITE = "%%writefile reference.py\n"


def cells(made: bytes) -> list[tuple[str, str]]:
    return [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(made)["cells"]]


def test_there_are_topics():
    assert "pipeline" in TOPICS


@pytest.mark.parametrize("topic", TOPICS)
def test_a_notebook_holds_the_files_of_its_topic_as_they_stand(topic):
    folder = ROOT / "kernels" / topic
    made = cells(notebook(ROOT, topic))
    assert [kind for kind, _ in made] == ["markdown", "code", "code", "code"]
    assert f"kernels/{topic}/kernel.py" in made[0][1]
    assert made[1][1] == INSTALL
    assert made[2][1] + "\n" == WRITE + (folder / "reference.py").read_text("utf-8")
    assert made[3][1] + "\n" == (folder / "kernel.py").read_text("utf-8")


def test_a_topic_without_a_reference_has_a_cell_less(tmp_path):
    (tmp_path / "kernels" / "one").mkdir(parents=True)
    (tmp_path / "kernels" / "one" / "kernel.py").write_text("x = 1\n")
    assert [text for _, text in cells(notebook(tmp_path, "one"))[1:]] == [INSTALL, "x = 1"]


def test_a_notebook_is_valid_has_no_ids_and_the_same_bytes_every_time():
    made = notebook(ROOT, "pipeline")
    read = nbformat.reads(made.decode(), as_version=nbformat.NO_CONVERT)
    nbformat.validate(read)
    assert (read.nbformat, read.nbformat_minor) == (4, 4)
    assert read.metadata.kernelspec.name == "python3"
    assert not any("id" in cell for cell in read.cells)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in read.cells)
    assert notebook(ROOT, "pipeline") == made


def test_a_notebook_runs(tmp_path):
    """As Jupyter would run it: cell by cell in one namespace, in the folder where the reference was written."""
    code = [text for kind, text in cells(notebook(ROOT, "pipeline")) if kind == "code"]
    (tmp_path / "reference.py").write_text(next(text for text in code if text.startswith(WRITE)).removeprefix(WRITE))
    run = [text for text in code if not text.startswith("%")]
    (tmp_path / "cells.json").write_text(json.dumps(run))
    program = "import json\nfor cell in json.load(open('cells.json')): exec(compile(cell, 'cell', 'exec'), globals())"
    (tmp_path / "notebook.py").write_text(program)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "notebook.py"],
        cwd=tmp_path,
        env={**environment, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["scaled_copy", "revisit"]
    assert all(line.endswith("interpreted, largest error 0") for line in lines)


def test_a_link_to_colab_carries_the_whole_address():
    link = open_in_colab("https://a.example/b c?d&e")
    assert link == "https://colab.research.google.com/#fileId=https%3A%2F%2Fa.example%2Fb%20c%3Fd%26e"
