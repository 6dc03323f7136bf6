"""Laws of what a check counts, against another count: the one that the site's pictures are made with, or by hand."""

from __future__ import annotations

import math

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.experimental import pallas as pl

from kernels.labkit.attempt import load
from kernels.labkit.judge import judge
from kernels.labkit.numbers import check_numbers, differing, whose
from kernels.labkit.problem import Cause, Wrong
from kernels.labkit.task import Block, Task, Trial
from kernels.labkit.trace import Call, Window, trace
from track.evidence import doublebuffer
from track.evidence.record import Grid
from track.evidence.record import Window as Recorded

few = settings(max_examples=25, deadline=None)
factors = st.tuples(st.integers(0, 2), st.integers(0, 2))


def copied(call: Call) -> Grid:
    """The same call, as the site's evidence has it."""
    windows = tuple(
        Recorded(
            window.name,
            "input" if place < call.inputs else "output",
            window.array,
            tuple(extent or 1 for extent in window.block),
            tuple(extent or 1 for extent in window.block),
            window.itemsize,
            2,
            window.blocks,
        )
        for place, window in enumerate(call.windows)
    )
    return Grid("call", call.grid, windows)


@few
@given(grid=st.tuples(st.integers(1, 4), st.integers(1, 4)), by=factors, to=factors, rows=st.integers(1, 40))
def test_bytes_moved_are_those_of_double_buffering_whatever_the_index_maps(grid, by, to, rows) -> None:
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def function(x, *, interpret):
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((64, 128), x.dtype),
            grid=grid,
            in_specs=[pl.BlockSpec((8, 128), lambda i, j: (by[0] * i + by[1] * j, 0))],
            out_specs=pl.BlockSpec((8, 128), lambda i, j: (to[0] * i + to[1] * j, 0)),
            interpret=interpret,
        )(x)

    call = trace(function, (np.zeros((rows, 128), np.float32),), {})
    assert call.moved == doublebuffer.bytes_of(copied(call))
    assert [window.blocks for window in call.windows] == [
        tuple((one * i + two * j, 0) for i in range(grid[0]) for j in range(grid[1])) for one, two in (by, to)
    ]


def test_bytes_kept_are_two_buffers_a_block_and_the_scratch() -> None:
    window = Window("x", (32, 128), 2, (8, 128), ((0, 0), (1, 0)), "")
    call = Call((2,), (window, window), 1, (False, True), (True, False), (((8, 128), "float32"),), (), (), "kernel", "")
    assert call.kept == 2 * (2 * 8 * 128 * 2) + 8 * 128 * 4


@few
@given(shape=st.tuples(st.integers(1, 5), st.integers(1, 5)), data=st.data())
def test_the_first_wrong_element_is_found_with_its_block_and_its_steps(shape, data) -> None:
    """One element of a right answer is changed; the report names it, its block, and every step that has the block."""
    rows, columns = 8 * shape[0], 128 * shape[1]
    x = np.ones((rows, columns), np.float32)
    steps = tuple((i, j) for i in range(shape[0]) for j in range(shape[1]))
    window = Window("o_ref", x.shape, 4, (8, 128), steps, "")
    call = Call(shape, (window, window), 1, (False, True), (True, False), (), (), (), "kernel", "")
    row, column = data.draw(st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1)))
    found = x.copy()
    found[row, column] = data.draw(st.sampled_from([0.0, 2.0, np.nan, np.inf]))
    task, trial = Task("f", lambda x: x, ()), Trial((x,), shape, ())
    with pytest.raises(Wrong) as caught:
        check_numbers(found, task, trial, call, "so", "here", lambda: found)
    block = (row // 8, column // 128)
    assert caught.value.details["differ"] == f"1 of {x.size:,} elements"
    assert caught.value.details["first"] == f"o_ref[{row}, {column}], in block {block}, of step {block}"
    check_numbers(x, task, trial, call, "so", "here", lambda: x)


def test_of_a_block_that_several_steps_have_the_first_and_the_last_are_named() -> None:
    window = Window("o", (1, 128), 4, (1, 128), 4 * ((0, 0),), "")
    assert whose((0, 5), window, [(0,), (1,), (2,), (3,)]) == "in block (0, 0), of steps (0,) to (3,)"
    assert (
        whose((0, 5), Window("o", (2, 128), 4, (1, 128), ((1, 0),), ""), [(0,)]) == "in block (0, 0), which no step has"
    )


@few
@given(expected=st.floats(-1e6, 1e6), error=st.floats(0, 2), relative=st.sampled_from([0.0, 2.0**-8]))
def test_an_element_is_wrong_if_it_is_further_off_than_allowed(expected, error, relative) -> None:
    found = expected + error * relative * abs(expected)
    off = abs(found - expected) > relative * abs(expected)
    assert differing(np.array([found, math.nan]), np.array([expected, expected]), relative).tolist() == [off, True]


@few
@given(text=st.text(max_size=20), label=st.text(min_size=1, max_size=9), cause=st.none() | st.just(Cause("a", "b")))
def test_a_finding_goes_through_json_as_it_is(text, label, cause) -> None:
    wrong = Wrong(text, {label: text}, cause)
    assert str(Wrong.of(wrong.plain())) == str(wrong)


def test_a_race_is_caught(tmp_path) -> None:
    """A copy that is started and not waited for before its target is read: only the simulated core can see that."""
    (tmp_path / "racing.py").write_text(
        """
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

def kernel(x_ref, o_ref, there, semaphore):
    copy = pltpu.make_async_copy(x_ref, there, semaphore)
    copy.start()
    there[...] = x_ref[...]
    copy.wait()
    o_ref[...] = x_ref[...]

def same(x, *, interpret):
    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(2,), in_specs=[spec],
        out_specs=spec, scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32), pltpu.SemaphoreType.DMA],
        interpret=interpret)(x)
"""
    )
    block = Block((8, 128), lambda i: (i, 0))
    x = np.arange(16 * 128, dtype=np.float32).reshape(16, 128)
    task = Task("same", lambda x: x, (Trial((x,), (2,), (block, block)),))
    with pytest.raises(Wrong, match="race"):
        list(judge(load(tmp_path / "racing.py", "racing.py"), task))
