"""What the checks say of wrong answers, in this process: the mistake by its name, at its place, in its part alone."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from kernels.labkit.attempt import Attempt, load
from kernels.labkit.causes import cause_of_error
from kernels.labkit.lab import Lab
from kernels.labkit.problem import Wrong
from tests.labs.helpers import LABS, changed, wrong_answers

SEEDED = [
    pytest.param(lab, wrong, id=f"{lab.number}-{place}-{wrong['cause']}".replace(" ", "_"))
    for lab in LABS
    for place, wrong in enumerate(wrong_answers(lab))
]


def attempt(folder: Path, text: str) -> Attempt:
    path = folder / "answer.py"
    path.write_text(text)
    return load(path, "answer.py")


def judged(lab: Lab, part: str, answer: Attempt) -> list[str]:
    return list(importlib.import_module(lab.checks).PARTS[part].judge(answer))


@pytest.mark.parametrize(("lab", "wrong"), SEEDED)
def test_a_seeded_wrong_answer_is_caught_by_its_name_and_no_other_part_is_blamed(
    tmp_path: Path, lab: Lab, wrong: dict[str, str]
) -> None:
    answer = attempt(tmp_path, changed(lab, wrong["line"], wrong["becomes"]))
    with pytest.raises(Wrong) as caught:
        judged(lab, wrong["part"], answer)
    assert caught.value.cause is not None, caught.value
    assert caught.value.cause.name == wrong["cause"]
    assert re.match(r"answer\.py:\d+", caught.value.details["where"])
    others = [part.name for part in lab.parts if part.name != wrong["part"] and part.after != wrong["part"]]
    for other in others:
        assert judged(lab, other, answer)


@pytest.mark.parametrize("lab", LABS, ids=[lab.number for lab in LABS])
def test_the_solution_is_right_in_all_parts(tmp_path: Path, lab: Lab) -> None:
    answer = attempt(tmp_path, lab.solution.read_text("utf-8"))
    for part in lab.parts:
        assert any("no race" in proved for proved in judged(lab, part.name, answer))


@pytest.mark.parametrize("lab", LABS, ids=[lab.number for lab in LABS])
def test_the_skeleton_is_wrong_in_all_parts(tmp_path: Path, lab: Lab) -> None:
    answer = attempt(tmp_path, lab.skeleton.read_text("utf-8"))
    for part in lab.parts:
        with pytest.raises(Wrong) as caught:
            judged(lab, part.name, answer)
        assert caught.value.cause is not None


FIRST, TILES = LABS
ADDS = "    o_ref[...] = x_ref[...] + y_ref[...]"
CHOSEN = "    return SIZE, SIZE // 2, 128"


@pytest.mark.parametrize(
    ("line", "becomes", "said"),
    [
        (ADDS, "    o_ref[...] = x_ref[...] + z_ref[...]", "NameError"),
        (ADDS, "    return x_ref[...] + y_ref[...]", "nothing is stored"),
        (ADDS, "    import numpy; o_ref[...] = numpy.add(x_ref, y_ref)", "NumPy in a kernel"),
        (ADDS, "    o_ref[...] = (x_ref[...] + y_ref[...]).astype(jnp.bfloat16)", "store of another dtype"),
        (ADDS, "    o_ref[...] = (x_ref[...] + y_ref[...])[:4]", "blocks of different shape"),
        (ADDS, "    o_ref[...] = (x_ref[...] + y_ref[...]) * float('nan')", "found +nan"),
        (ADDS, "    o_ref[...] = x_ref[...] + y_ref[...] + RAISED", r"NameError.*RAISED"),
        ("    block = pl.BlockSpec((ROWS, n), lambda i: (i, 0))", "    return None", "no return"),
        (
            "    block = pl.BlockSpec((ROWS, n), lambda i: (i, 0))",
            "    raise RuntimeError('mine')",
            "RuntimeError: mine",
        ),
        ("    block = pl.BlockSpec((ROWS, n), lambda i: (i, 0))", "    raise SystemExit(4)", "SystemExit: 4"),
        ("    block = pl.BlockSpec((ROWS, n), lambda i: (i, 0))", "    return x + y", "makes no `pallas_call`"),
        (
            "    block = pl.BlockSpec((ROWS, n), lambda i: (i, 0))",
            "    block = pl.BlockSpec((4, n), lambda i: (i, 0))",
            r"blocks of \[8, 128\](?s:.*)blocks of \[4, 128\]",
        ),
        ("    )(x, y)", "    )", "call not made"),
        ("        interpret=interpret,\n    )(x, y)", "    )(x, y)", "interpret not handed on"),
        ("def add(", "def sum_of(", "there is no function `add`"),
    ],
)
def test_other_mistakes_are_said_in_words(tmp_path: Path, line: str, becomes: str, said: str) -> None:
    answer = attempt(tmp_path, changed(FIRST, line, becomes))
    with pytest.raises(Wrong) as caught:
        judged(FIRST, "add", answer)
    assert re.search(said, str(caught.value)), caught.value
    assert caught.value.details["where"].startswith("answer.py")


@pytest.mark.parametrize(
    ("becomes", "said"),
    [
        ("    return 1024, 512", "does not return three whole numbers"),
        ("    return 1024, 512.0, 128", "does not return three whole numbers"),
        ("    return 'abc'", "does not return three whole numbers"),
        ("    return 1024, 512, 0", "does not return three whole numbers"),
        ("    return 1024, 512, 96", "do not fit the arrays"),
        ("    return 1024, 384, 128", "do not fit the arrays"),
        ("    raise KeyError('bm')", "KeyError: 'bm'"),
    ],
)
def test_what_are_no_tiles_is_refused_in_words(tmp_path: Path, becomes: str, said: str) -> None:
    answer = attempt(tmp_path, changed(TILES, CHOSEN, becomes))
    with pytest.raises(Wrong, match=said) as caught:
        judged(TILES, "blocks", answer)
    assert said in str(caught.value) or said in caught.value.what


@pytest.mark.parametrize("tile", ["512, SIZE, 128", "SIZE, 512, 128"])
def test_either_way_of_making_the_tiles_long_fits_the_budgets(tmp_path: Path, tile: str) -> None:
    answer = attempt(tmp_path, changed(TILES, CHOSEN, f"    return {tile}"))
    assert any(proved.startswith("8,388,608 bytes moved of 8,388,608") for proved in judged(TILES, "blocks", answer))


def test_a_syntax_error_is_said_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(Wrong) as caught:
        attempt(tmp_path, "x = 1\ny = (2\n")
    assert caught.value.details["where"] == "answer.py:2"
    assert "y = (2" in caught.value.details["found"]


def test_a_captured_array_and_too_few_refs_are_known_by_the_words_of_jax(tmp_path: Path) -> None:
    text = changed(FIRST, ADDS, "    o_ref[...] = x_ref[...] + CONSTANT").replace(
        "ROWS = 8", "CONSTANT = jnp.ones((8, 128))\nROWS = 8"
    )
    with pytest.raises(Wrong) as caught:
        judged(FIRST, "add", attempt(tmp_path, text))
    assert caught.value.cause is not None
    assert caught.value.cause.name == "captured constant"
    assert cause_of_error("an error of which nothing is known") is None
