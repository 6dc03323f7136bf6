"""What a call asks of the machine, read from its traced program: the grid, the blocks of every step, the bytes."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import jax
import jax.extend.core as jex
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

from kernels.labkit import causes
from kernels.labkit.problem import Wrong

__all__ = ["Call", "Window", "trace", "without_kernel"]

FREE = {"reshape", "squeeze", "expand_dims", "debug_print", "debug_callback"}  # what moves no byte of the answer
WRITES, READS = {"WriteEffect", "AccumEffect"}, {"ReadEffect", "AccumEffect"}
MOST_STEPS = 10_000  # of which the blocks are computed: no lab has as many, and a grid in elements has millions
BUFFERS = 2  # a block is copied while another is worked on


@dataclass(frozen=True)
class Window:
    """An array as the grid sees it: `blocks` has the place of its block at every step, counted in blocks.

    A grid of more than MOST_STEPS steps has none: a check refuses it by its shape.
    """

    name: str
    array: tuple[int, ...]
    itemsize: int
    block: tuple[int | None, ...]
    blocks: tuple[tuple[int, ...], ...]
    source: str

    @property
    def copies(self) -> tuple[tuple[int, ...], ...]:
        """The blocks that are copied, in order: one that stays for the next step is not copied again."""
        return tuple(block for block, _ in itertools.groupby(self.blocks))

    @property
    def moved(self) -> int:
        """The bytes of those copies."""
        return sum(map(self.bytes_at, self.copies))

    @property
    def kept(self) -> int:
        """The bytes of its buffers."""
        return BUFFERS * self.itemsize * math.prod(extent or 1 for extent in self.block)

    def bytes_at(self, place: tuple[int, ...]) -> int:
        """The bytes of a block, as far as it lies in the array."""
        size = self.itemsize
        for index, extent, length in zip(place, self.block, self.array, strict=True):
            first = index * (extent or 1)
            size *= max(0, min(first + (extent or 1), length) - max(first, 0))
        return size


@dataclass(frozen=True)
class Call:
    """One `pallas_call`: `inputs` of its windows come first, then the outputs.

    `stored` and `loaded` say of each window whether the kernel writes to it and reads it. `scratch` has shapes and
    dtypes, `dots` the dtypes of the matrix products in the kernel, `parallel` the axes that are declared so.
    """

    grid: tuple[int, ...]
    windows: tuple[Window, ...]
    inputs: int
    stored: tuple[bool, ...]
    loaded: tuple[bool, ...]
    scratch: tuple[tuple[tuple[int, ...], str], ...]
    dots: tuple[str, ...]
    parallel: tuple[int, ...]
    kernel: str
    source: str

    @property
    def steps(self) -> tuple[tuple[int, ...], ...]:
        """The indices of every step, in the order in which a TPU core takes them: the last axis is the fastest."""
        return tuple(itertools.product(*map(range, self.grid)))

    @property
    def moved(self) -> int:
        """The bytes that go to and from HBM."""
        return sum(window.moved for window in self.windows)

    @property
    def kept(self) -> int:
        """The bytes of VMEM for buffers and scratch."""
        own = sum(math.prod(shape) * np.dtype(getattr(jnp, dtype)).itemsize for shape, dtype in self.scratch)
        return sum(window.kept for window in self.windows) + own


def without_kernel(function: Callable[..., Any], inputs: Sequence[np.ndarray], keywords: Mapping[str, int]) -> Call:
    """The same call of a kernel that does nothing: its grid and its blocks, where the kernel cannot be traced."""
    original = pl.pallas_call

    def call(kernel: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return original(functools.wraps(kernel)(lambda *_: None), *given, **named)  # with the names of its Refs

    with mock.patch.object(pl, "pallas_call", call):
        return trace(function, inputs, keywords)


def trace(function: Callable[..., Any], inputs: Sequence[np.ndarray], keywords: Mapping[str, int]) -> Call:
    """The one call that the function makes, which has to be all that it does."""

    def called(*arrays: Any) -> Any:
        answer = function(*arrays, **keywords, interpret=True)
        if isinstance(answer, jax.Array):
            return answer
        cause = causes.NO_RETURN if answer is None else causes.NOT_CALLED if callable(answer) else None
        found = {"expected": "one array", "found": re.sub(r" at 0x\w+", "", repr(answer))[:80]}
        raise Wrong("the function does not return the answer", found, cause)

    program = jax.make_jaxpr(called)(*inputs)
    calls, outside = list[Any](), list[str]()
    sort(program.jaxpr, calls, outside)
    if len(calls) != 1:
        raise Wrong(
            "the function makes no `pallas_call`" if not calls else "the function makes several calls",
            {"expected": "one pallas_call", "found": len(calls)},
        )
    if calls[0].params["interpret"] is not True:
        raise Wrong(
            "the call does not get `interpret`",
            {"expected": "interpret=interpret", "found": f"interpret={calls[0].params['interpret']}"},
            causes.NOT_INTERPRETED,
        )
    if outside:
        found = ", ".join(f"`{name}`" for name in dict.fromkeys(outside))
        raise Wrong(f"jax computes {found} outside of the kernel", {}, causes.OUTSIDE)
    return call_of(calls[0].params)


def sort(jaxpr: Any, calls: list[Any], outside: list[str]) -> None:
    """The equations of a program, those of its `pjit`s included: calls of kernels, and what moves bytes beside them."""
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name == "pallas_call":
            calls.append(equation)
        elif inner := list(jex.jaxprs_in_params(equation.params)):
            for sub in inner:
                sort(sub, calls, outside)
        elif name not in FREE:
            outside.append(name)


def call_of(params: Mapping[str, Any]) -> Call:
    """The call, with its index maps evaluated at every step."""
    mapping, body = params["grid_mapping"], params["jaxpr"]
    if mapping.num_index_operands or mapping.num_dynamic_grid_bounds:
        raise Wrong("the call prefetches scalars or has a dynamic grid", {"expected": "neither: this lab needs none"})
    grid = tuple(map(int, mapping.grid))
    names = [name.rpartition(".")[2] for name in body.debug_info.arg_names]
    windows = tuple(window_of(name, block, grid) for name, block in zip(names, mapping.block_mappings, strict=False))
    written = {index_of(effect, body) for effect in body.effects if type(effect).__name__ in WRITES}
    read = {index_of(effect, body) for effect in body.effects if type(effect).__name__ in READS}
    function, _, source = body.debug_info.func_src_info.partition(" at ")
    semantics = getattr(params["compiler_params"], "dimension_semantics", None) or ()
    return Call(
        grid,
        windows,
        mapping.num_inputs,
        tuple(place in written for place in range(len(windows))),
        tuple(place in read for place in range(len(windows))),
        tuple((tuple(var.aval.shape), str(var.aval.dtype)) for var in body.invars[len(windows) :]),
        tuple(dots_in(body)),
        tuple(axis for axis, said in enumerate(semantics) if "parallel" in str(said).lower()),
        function,
        source,
    )


def index_of(effect: Any, body: Any) -> int:
    """Which Ref of the kernel an effect is on."""
    return effect.input if isinstance(effect.input, int) else body.invars.index(effect.input)


def window_of(name: str, mapping: Any, grid: Sequence[int]) -> Window:
    """One array of the call."""
    block = tuple(
        getattr(extent, "block_size", extent if isinstance(extent, int) else None) for extent in mapping.block_shape
    )
    array = mapping.array_aval
    source = mapping.index_map_jaxpr.jaxpr.debug_info.func_src_info.partition(" at ")[2]
    units = [extent.block_size if isinstance(extent, pl.Element) else 1 for extent in mapping.block_shape]
    said = list(places(mapping.index_map_jaxpr, grid)) if math.prod(grid) <= MOST_STEPS else []
    if any(index % unit for place in said for index, unit in zip(place, units, strict=True)):
        details = {"array": f"{name}, {list(array.shape)}", "expected": f"multiples of {units}", "found": said}
        raise Wrong(f"the index map of {name} names an element that begins no block", details)
    blocks = tuple(tuple(index // unit for index, unit in zip(place, units, strict=True)) for place in said)
    return Window(name, tuple(array.shape), array.dtype.itemsize, block, blocks, source)


def places(index_map: Any, grid: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """What an index map says at each step."""
    function = jex.jaxpr_as_fun(index_map)
    steps = [jnp.asarray(axis.ravel(), jnp.int32) for axis in np.indices(tuple(grid))]
    if not grid:
        yield tuple(int(index) for index in function())
        return
    columns = jax.vmap(lambda *now: [jnp.int32(index) for index in function(*now)])(*steps)
    yield from (tuple(map(int, row)) for row in zip(*map(np.asarray, columns), strict=True))


def dots_in(jaxpr: Any) -> Iterator[str]:
    """The dtypes of the matrix products, those under conditions included."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            yield str(equation.outvars[0].aval.dtype)
        for sub in jex.jaxprs_in_params(equation.params):
            yield from dots_in(sub)
