"""What the checks say of wrong answers, in this process: the mistake by its name, at its place, in its part alone."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from kernels.labkit.attempt import Attempt, load
from kernels.labkit.causes import cause_of_error
from kernels.labkit.lab import Lab, Part
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
def test_a_seeded_wrong_answer_is_caught_by_its_name(tmp_path: Path, lab: Lab, wrong: dict[str, str]) -> None:
    answer = attempt(tmp_path, changed(lab, wrong["line"], wrong["becomes"]))
    with pytest.raises(Wrong) as caught:
        judged(lab, wrong["part"], answer)
    assert caught.value.cause is not None, caught.value
    assert caught.value.cause.name == wrong["cause"]
    assert re.match(r"answer\.py:\d+", caught.value.details["where"])


@pytest.mark.parametrize(("lab", "part"), [(lab, part) for lab in LABS for part in lab.parts])
def test_for_a_wrong_part_no_other_is_blamed(tmp_path: Path, lab: Lab, part: Part) -> None:
    wrong = next(one for one in wrong_answers(lab) if one["part"] == part.name)
    answer = attempt(tmp_path, changed(lab, wrong["line"], wrong["becomes"]))
    for other in lab.parts:
        if part.name not in {other.name, other.after}:
            assert judged(lab, other.name, answer)


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
        (ADDS, "    import numpy; o_ref[...] = numpy.add(x_ref, y_ref)", "NumPy on a traced value"),
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


CUTS_X = "            pl.BlockSpec((ROWS, n), lambda i: (i, 0)),"
CUTS_FACTOR = "            pl.BlockSpec((1, 1), lambda i: (0, 0)),"
CUTS_SCALED = "        out_specs=pl.BlockSpec((ROWS, n), lambda i: (i, 0)),"
CUTS_TOTAL = "        out_specs=pl.BlockSpec((1, n), lambda i: (0, 0)),"
REDUCES = "    o_ref[...] += jnp.sum(x_ref[...], axis=0, keepdims=True)"
CLEARS = "    @pl.when(pl.program_id(0) == 0)"
ADDS_UP = "    acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)"
STORES = "    @pl.when(pl.program_id(2) == last)"
GRID = "        grid=(m // bm, n // bn, k // bk),"
OWN = "i = pl.program_id(0) * ROWS;"
PAST = "    x_ref = x_ref.at[pl.ds(pl.program_id(0) * ROWS, ROWS)]\n\n    @pl.when(False)"
NESTED = "    pl.when(pl.program_id(0) >= 0)(lambda: o_ref.set(o_ref[...] + pl.program_id(0)))"
LATE = REDUCES + "\n    pl.when(pl.program_id(0) == 0)(lambda: o_ref.set(jnp.zeros(o_ref.shape, o_ref.dtype)))"


@pytest.mark.parametrize(
    ("lab", "part", "line", "becomes", "cause"),
    [
        (FIRST, "add", ADDS, f"    {OWN} o_ref[i:i + 8] = x_ref[...] + y_ref[...]", "slice with a traced end"),
        (FIRST, "add", ADDS, f"    {OWN} o_ref[...] = x_ref[pl.ds(i, 8)] + y_ref[...]", "place outside of the block"),
        (FIRST, "add", ADDS, "    o_ref[0] = x_ref[0] + y_ref[0]", "written in part"),
        (FIRST, "add", ADDS, "    pl.when(pl.program_id(0) < 0)(lambda: o_ref.set(x_ref[...]))", "operand left out"),
        (FIRST, "add", ADDS, "    x_ref[...] += y_ref[...]", "store to an input"),
        (FIRST, "add", ADDS, "    o_ref[...] = jnp.add(x_ref, y_ref)", "Ref used as an array"),
        (FIRST, "add", ADDS, "    o_ref[...] = x_ref[...] + float(y_ref[0, 0])", "Python number of a traced value"),
        (FIRST, "add", ADDS, "    pl.store(o_ref, (...,), x_ref[...])", "unknown name"),
        (FIRST, "add", ADDS, "    x = x_ref[...]; x[...] = 0", "store to an array"),
        (FIRST, "add", ADDS, "    pl.when(True)(lambda ref: ref.set(x_ref[...]))", "pl.when misused"),
        (FIRST, "add", "    )(x, y)", "    )(x, y, pl.program_id(0))", "no step"),
        (FIRST, "scale", CUTS_SCALED, "        out_specs=pl.BlockSpec((m, n), lambda i: (0, 0)),", "array not cut"),
        (FIRST, "scale", CUTS_SCALED, "", "array not cut"),
        (FIRST, "scale", CUTS_FACTOR, "", "specs do not fit"),
        (FIRST, "scale", CUTS_X, "            pl.BlockSpec(lambda i: (i, 0), (ROWS, n)),", "BlockSpec"),
        (FIRST, "scale", CUTS_X, "            pl.BlockSpec((ROWS, n), lambda i: (i / 1, 0)),", "a float"),
        (FIRST, "scale", CUTS_X, CUTS_X.replace("i:", "i, j:"), "index map does not fit the grid"),
        (FIRST, "reduce", REDUCES, "    o_ref[...] += jnp.sum(x_ref[...])", "sum of everything"),
        (FIRST, "reduce", REDUCES, LATE, "cleared too late"),
        (FIRST, "reduce", CLEARS, "    @pl.when(pl.program_id(1) == 0)", "no such axis"),
        (FIRST, "reduce", CLEARS, "    @pl.when(pl.program_id == 0)", "never cleared"),
        (FIRST, "reduce", CLEARS, PAST, "place outside of the block"),
        (FIRST, "reduce", REDUCES, NESTED, "program_id in a branch"),
        (TILES, "matmul", GRID, "        grid=(n // bn, m // bm, k // bk),", "grid in another order"),
        (TILES, "matmul", GRID, "        grid=(m, n, k),", "grid in elements"),
        (TILES, "matmul", GRID, "        grid=m / bm,", "a float"),
        (TILES, "matmul", STORES, "    @pl.when(pl.program_id(2) == last - 1)", "stored too early"),
        (TILES, "matmul", STORES, "    @pl.when(pl.program_id(2) > last)", "never stored"),
        (TILES, "matmul", STORES, "    @pl.when(pl.program_id(1) == last)", "condition on the wrong axis"),
        (TILES, "matmul", ADDS_UP, ADDS_UP + ".astype(x_ref.dtype)", "narrow accumulation"),
        (TILES, "matmul", ADDS_UP, ADDS_UP.replace("y_ref[...]", "y_ref[...].T"), "shapes that do not fit"),
        (TILES, "blocks", CHOSEN, "    return SIZE, SIZE / 2, 128", "a float"),
    ],
)  # fmt: skip
def test_what_learners_do_wrong_is_told_by_its_name(
    tmp_path: Path, lab: Lab, part: str, line: str, becomes: str, cause: str
) -> None:
    answer = attempt(tmp_path, changed(lab, line, becomes))
    with pytest.raises(Wrong) as caught:
        judged(lab, part, answer)
    assert caught.value.cause is not None, caught.value
    assert caught.value.cause.name == cause
    assert re.match(r"answer\.py:\d+", caught.value.details["where"])
    assert "_[" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        (ADDS, "    o_ref[...] = x_ref[...] * lambda_"),
        (ADDS, "    o_ref[...] = x_ref[...] + y_ref[...]\n    jnp.where()"),
        (ADDS, "    o_ref[...] = jax.lax.fori_loop(0, 1, lambda i: i, x_ref[...])"),
        (ADDS, "    o_ref[...] = x_ref.shape()"),
        (ADDS, "    o_ref[...] = (x_ref[...] + y_ref[...]) * float('nan')"),
        (ADDS, "    assert ROWS == 9"),
    ],
)
def test_of_a_mistake_that_is_not_known_no_cause_is_named(tmp_path: Path, line: str, becomes: str) -> None:
    with pytest.raises(Wrong) as caught:
        judged(FIRST, "add", attempt(tmp_path, changed(FIRST, line, becomes)))
    assert caught.value.cause is None


@pytest.mark.parametrize(
    ("lab", "part", "line", "becomes"),
    [
        (FIRST, "add", ADDS, "    pl.loop(0, 8)(lambda r: o_ref.at[r].set(x_ref[r] + y_ref[r]))"),
        (FIRST, "add", "    m, n = x.shape\n    block", "    m, n = x.shape; jax.debug.print('{}', x)\n    block"),
        (FIRST, "scale", CUTS_FACTOR, "            pl.BlockSpec((None, 1), lambda i: (0, 0)),"),
        (FIRST, "scale", CUTS_X, CUTS_X.replace("(ROWS, n)", "(pl.Element(ROWS), n)").replace("(i,", "(i * 8,")),
        (FIRST, "reduce", REDUCES, "    pl.loop(0, 8)(lambda r: o_ref.at[0].set(o_ref[0] + x_ref[r]))"),
        (FIRST, "reduce", CUTS_TOTAL, ""),
        (TILES, "matmul", STORES, "    @pl.when(True)"),
        (TILES, "matmul", ADDS_UP, ADDS_UP.replace("dot(", "einsum('ij,jk->ik', ")),
        (TILES, "blocks", CHOSEN, "    return SIZE // 2, 128, SIZE"),
    ],
)  # fmt: skip
def test_other_ways_to_be_right_are_right(tmp_path: Path, lab: Lab, part: str, line: str, becomes: str) -> None:
    assert judged(lab, part, attempt(tmp_path, changed(lab, line, becomes)))


def test_a_function_that_answers_numbers_without_its_kernel_is_not_right(tmp_path: Path) -> None:
    text = changed(FIRST, ADDS, "    o_ref[...] = x_ref[...] * y_ref[...]").replace(
        "    block = pl.BlockSpec", "    if not isinstance(x, jax.core.Tracer): return x + y\n    block = pl.BlockSpec"
    )
    with pytest.raises(Wrong, match="differs from NumPy's"):
        judged(FIRST, "add", attempt(tmp_path, text))


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
