"""What the traced program says of a kernel: its operands' names, its floating-point operations, its pipeline."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax._src.pallas import core
from jax._src.pallas.mosaic import pipeline
from jax.core import eval_jaxpr
from jax.experimental import pallas as pl

from track.evidence.lanes.compare import on_cpu

if TYPE_CHECKING:
    from kernels.contract import Case, Kernel

__all__ = ["IndexMap", "Pipeline", "Program", "Uncountable", "calls_in", "equations", "start_of", "trace"]

# Primitives by how many operations they count as; those of `dot_general` depend on its dimensions.
ONE_EACH = {
    *("abs", "add", "add_any", "cos", "div", "erf", "exp", "exp2", "floor", "integer_pow", "log", "log1p"),
    *("logistic", "max", "min", "mul", "neg", "pow", "rsqrt", "sign", "sin", "sqrt", "square", "sub", "tanh"),
}
ONE_PER_INPUT = {"cumsum", "reduce_max", "reduce_min", "reduce_prod", "reduce_sum"}
FREE = {
    *("broadcast_in_dim", "concatenate", "convert_element_type", "copy", "copy_p", "dynamic_slice"),
    *("dynamic_update_slice", "get", "iota", "load", "masked_load", "masked_swap", "pad", "reshape", "rev"),
    *("select_n", "slice", "squeeze", "stop_gradient", "store", "swap", "transpose"),
}


class Uncountable(Exception):
    """The program does something whose floating-point operations cannot be read off its trace."""


@dataclass(frozen=True)
class IndexMap:
    """An index map of an `emit_pipeline`, traced where it stands, in a kernel: there alone its Refs mean something.

    `given` has the form of what it returns.
    """

    jaxpr: Any
    given: Any

    @property
    def reads(self) -> list[Any]:
        """What it reads besides its arguments: Refs and values of the kernel."""
        return self.jaxpr.consts

    def on(self, values: Sequence[Any]) -> Callable[..., Any]:
        """The map as a function that can be called anywhere, with `values` for what it reads."""

        def index_map(*indices: jax.Array) -> Any:
            found = eval_jaxpr(self.jaxpr, values, *indices)
            return jax.tree.unflatten(jax.tree.structure(self.given), found)

        return index_map


@dataclass(frozen=True)
class Pipeline:
    """One `emit_pipeline`: its grid, and the BufferedRefs that it made, inputs before outputs.

    Beside each of these stand its array and its index map.
    """

    grid: tuple[int, ...]
    buffered: tuple[pipeline.BufferedRef, ...]
    arrays: tuple[jax.ShapeDtypeStruct, ...]
    maps: tuple[IndexMap, ...]

    @property
    def steps(self) -> int:
        """Grid steps in all."""
        return math.prod(self.grid)


@dataclass(frozen=True)
class Program:
    """A kernel, traced on a case."""

    jaxpr: Any
    pipelines: tuple[Pipeline, ...]

    @functools.cached_property
    def calls(self) -> list[Any]:
        """The parameters of every `pallas_call`."""
        return calls_in(self.jaxpr)

    @property
    def operands(self) -> list[str]:
        """The names of the arrays that the one `pallas_call` brings to the chip, in the order in which it does."""
        (call,) = self.calls
        mapping, names = call["grid_mapping"], call["jaxpr"].debug_info.arg_names
        arrays = names[mapping.num_index_operands :][: mapping.num_inputs + mapping.num_outputs]
        aliased = {mapping.num_inputs + out for _, out in call["input_output_aliases"]}
        return [name for place, name in enumerate(arrays) if place not in aliased]

    @property
    def flops(self) -> int:
        """Floating-point operations on arrays, one for each result of an elementwise operation, two for a multiply-add.

        Integer arithmetic (indices, grid counters) is not counted.
        """
        return flops_in(self.jaxpr)


def start_of(index: Any) -> Any:
    """Where a block begins, as its index map says it: of a `pl.BoundedSlice` it says a size too."""
    return index.start if isinstance(index, pl.Slice) else index


def trace(kernel: Kernel, case: Case) -> Program:
    """Trace the kernel without running it, and keep the pipelines that it builds on the way."""
    function = on_cpu(kernel, interpret=True)
    inputs = [jnp.asarray(array) for array in case.inputs()]
    with captured_pipelines() as pipelines:
        jaxpr = jax.make_jaxpr(function)(*inputs)
    return Program(jaxpr.jaxpr, tuple(pipelines))


@contextlib.contextmanager
def captured_pipelines() -> Generator[list[Pipeline]]:
    """While the block runs, note the BufferedRefs that `emit_pipeline` makes inside a trace."""
    pipelines: list[Pipeline] = []
    original = pipeline._make_pipeline_allocations

    @functools.wraps(original)
    def noted(*refs: Any, grid: Any = (), **rest: Any) -> Any:
        made = original(*refs, grid=grid, **rest)
        arrays = tuple(jax.ShapeDtypeStruct(ref.shape, ref.dtype) for ref in refs)
        steps = tuple(map(int, grid))
        pipelines.append(Pipeline(steps, tuple(made), arrays, tuple(traced(ref, steps) for ref in made)))
        return made

    pipeline._make_pipeline_allocations = noted
    try:
        yield pipelines
    finally:
        pipeline._make_pipeline_allocations = original


def traced(buffered: Any, grid: tuple[int, ...]) -> IndexMap:
    """The index map of a BufferedRef, traced in the kernel that is being traced."""
    indices = [jax.ShapeDtypeStruct((), jnp.int32)] * len(grid)
    with core.tracing_grid_env(grid, ()):
        return IndexMap(*jax.make_jaxpr(buffered.compute_index, return_shape=True)(*indices))


def calls_in(jaxpr: Any) -> list[Any]:
    """The parameters of every `pallas_call` of a program."""
    return [equation.params for equation in equations(jaxpr) if equation.primitive.name == "pallas_call"]


def equations(jaxpr: Any) -> Iterator[Any]:
    """Every equation, at any depth, a loop's body once."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in inner_jaxprs(equation):
            yield from equations(inner)


def inner_jaxprs(equation: Any) -> list[Any]:
    """The programs that an equation holds."""
    leaves = jax.tree.leaves(list(equation.params.values()), is_leaf=lambda leaf: hasattr(leaf, "eqns"))
    return [getattr(leaf, "jaxpr", leaf) for leaf in leaves if hasattr(leaf, "eqns")]


def flops_in(jaxpr: Any) -> int:
    """The sum over all equations."""
    return sum(map(flops_of, jaxpr.eqns))


def flops_of(equation: Any) -> int:
    """The operations of one equation, or Uncountable where the trace does not say."""
    name, params = equation.primitive.name, equation.params
    counts = [flops_in(inner) for inner in inner_jaxprs(equation)]
    if name == "scan":
        return params["length"] * sum(counts)
    if name == "pallas_call":
        return math.prod(params["grid_mapping"].grid) * sum(counts)
    if name in ("cond", "while") and len(set(counts)) + (name == "while" and any(counts)) > 1:
        raise Uncountable(f"how often the {name} does its arithmetic depends on data")
    return max(counts) if counts else leaf_flops(name, equation)


def leaf_flops(name: str, equation: Any) -> int:
    """The operations of an equation with no program inside."""
    results = [out.aval for out in equation.outvars if jnp.issubdtype(getattr(out.aval, "dtype", bool), jnp.floating)]
    size = sum(math.prod(result.shape) for result in results)
    if not size or name in FREE:
        return 0
    if name in ONE_EACH:
        return size
    operand = equation.invars[0].aval
    if name in ONE_PER_INPUT:
        return math.prod(operand.shape)
    if name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        return 2 * size * math.prod(operand.shape[axis] for axis in contracted)
    raise Uncountable(f"no count is known for {name}")
