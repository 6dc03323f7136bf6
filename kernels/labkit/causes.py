"""The mistakes that a checker knows by name, and the errors of jax that give one away."""

from __future__ import annotations

import re

from kernels.labkit.problem import Cause

__all__ = ["RAISED", "cause_of_error"]

NO_GRID = Cause("no grid", "without `grid` the kernel runs once, on whole arrays")
UNCUT = Cause(
    "array not cut", "without a block shape in a `BlockSpec`, or with the array's own, each step sees all of it"
)
GRID_ORDER = Cause("grid in another order", "the axes are in the order of the indices, and the last goes by fastest")
GRID_IN_ELEMENTS = Cause("grid in elements", "the grid counts steps: along an axis that is cut, one for each block")
IN_ELEMENTS = Cause(
    "index in elements", "an index map returns the number of a block, and Pallas multiplies it by the block's shape"
)
SWAPPED = Cause("swapped index map", "the index map has the right indices in the wrong order")
STANDS_STILL = Cause("index map that stands still", "every step is given the same block, as it is without an index map")
NEVER_STILL = Cause("index map that moves", "this operand has one block for all these steps, and the map leaves it")
NO_STORE = Cause("nothing is stored", "a kernel returns nothing: its answer is what it assigns to the output's Ref")
INPUT_STORED = Cause("store to an input", "the Refs of a kernel are the inputs, in their order, and then the outputs")
IN_PART = Cause(
    "written in part", "memory that nothing is written to holds anything, which the interpreters show as NaN"
)
NO_CLEARING = Cause(
    "never cleared", "memory holds anything before the first step, and the interpreter fills it with NaN to show that"
)
CLEARED_ONCE = Cause("cleared once", "the sum starts anew with each block of the answer, not only with the first")
OVERWRITTEN = Cause(
    "overwritten", "only the last share is left: a step has to add to what is there, and not to clear it"
)
CLEARED_LATE = Cause("cleared too late", "what the first step adds is gone: it has to clear before it adds")
ONLY_FIRST = Cause("only the first step adds", "what a later step computes does not reach the block of the answer")
STORED_EARLY = Cause("stored too early", "the sum is stored before the last step has added to it")
NEVER_STORED = Cause("never stored", "the condition of the store holds at no step")
NARROW_SUM = Cause("narrow accumulation", "what is added up in 16 bits is rounded at every step")
PARALLEL_SUM = Cause(
    "parallel reduction", "steps that add to one block depend on each other, and `parallel` says that they do not"
)
OUTSIDE = Cause("work outside of the kernel", "what jax computes around the call reads and writes whole arrays in HBM")
NOT_INTERPRETED = Cause("interpret not handed on", "the checker chooses how the call is run, through this argument")
NO_RETURN = Cause("no return", "a function without `return` returns None")
NOT_CALLED = Cause("call not made", "`pallas_call` returns a function, which is then called with the arrays")
NUMPY = Cause("NumPy on a traced value", "NumPy wants numbers, and while jax traces there are none: use `jax.numpy`")
LEFT_OUT = Cause("operand left out", "the answer does not depend on all of the inputs")
PYTHON_IF = Cause(
    "Python if on a traced value", "Python decides while jax traces, when there are no values: use `pl.when`"
)
PYTHON_NUMBER = Cause(
    "Python number of a traced value",
    "while jax traces there are no values, so Python can neither count with one nor index",
)
TRACED_SLICE = Cause(
    "slice with a traced end",
    "it is written `pl.ds(start, size)`; but a Ref holds one block, and begins at 0 in every step",
)
CAPTURED = Cause("captured constant", "a kernel sees its Refs alone: pass the array to the call as an operand")
ARGUMENTS = Cause("Refs do not fit", "a kernel takes a Ref for each input, then for each output, then for each scratch")
WHEN = Cause("pl.when misused", "`@pl.when(condition)` stands above a function that takes no arguments")
MAP_ARGUMENTS = Cause("index map does not fit the grid", "an index map takes one index for each axis of the grid")
MAP_RESULT = Cause("index map does not fit the block", "an index map returns one index for each axis of the block")
REF_AS_ARRAY = Cause("Ref used as an array", "a Ref stands for memory: `ref[...]` reads what is in it")
UNEVEN_SHAPES = Cause("blocks of different shape", "what is stored must have the shape of the block that it goes to")
UNLIKE_SHAPES = Cause(
    "shapes that do not fit", "a product needs inner extents that are alike, and all else shapes that are alike or 1"
)
OTHER_DTYPE = Cause(
    "store of another dtype", "what is stored must have the dtype of its Ref: `value.astype(o_ref.dtype)`"
)
SPECS = Cause(
    "specs do not fit",
    "`in_specs` is a list with one `BlockSpec` for each input, and `out_specs` is made like `out_shape`",
)
SPEC_ORDER = Cause(
    "BlockSpec", "it takes the shape of a block, then a function; older texts have them the other way round"
)
FLOAT = Cause("a float", "`/` makes a float even of whole numbers: `//` makes a whole number")
IMMUTABLE = Cause("store to an array", "what a Ref is read as is an array, and cannot be assigned to: only a Ref can")
NO_AXIS = Cause("no such axis", "`pl.program_id` takes an axis of the grid, and the first is 0")
NO_STEP = Cause("no step", "only a kernel is run for a step, and around it `pl.program_id` means nothing")
NESTED_STEP = Cause(
    "program_id in a branch", "`interpret=True` knows it only outside of `pl.when` and of loops: read it above them"
)
UNKNOWN_NAME = Cause(
    "unknown name", "the jax that is installed has none such: it is misspelled, or from a text about another version"
)
OUT_OF_BLOCK = Cause(
    "place outside of the block", "a Ref holds one block, and begins at 0 in every step: an index map says which it is"
)
ENDLESS = Cause("loop without an end", "a Python loop runs while jax traces, and this one did not stop")

RAISED: tuple[tuple[str, Cause], ...] = (
    (r"TracerBoolConversionError(.|\n)*raised in .*slice", TRACED_SLICE),
    (r"TracerBoolConversionError", PYTHON_IF),
    (r"TracerIntegerConversionError|ConcretizationTypeError", PYTHON_NUMBER),
    (r"TracerArrayConversionError", NUMPY),
    (r"captures constants|captured constants", CAPTURED),
    (r"Axis \d+ is out of bounds for grid", NO_AXIS),
    (r"[Oo]ut[- ]of[- ]bound(?!s masked)", OUT_OF_BLOCK),  # of a mask, that of 0.11.2 refuses what is right
    (r"TypeError.*\nin .*pl\.when\(", WHEN),
    (r"kernel\(\) (takes|missing) .*positional argument", ARGUMENTS),
    (r"(lambda|index_map).* (takes|missing) .*positional argument.*\nin (?!\w*kernel)", MAP_ARGUMENTS),
    (r"must return integer scalars|Grid must be a tuple of integers", FLOAT),
    (r"'float' object is not subscriptable\n(.|\n)*raised in .*pallas", FLOAT),
    (r"[Ii]ndex map function .* must return", MAP_RESULT),
    (r"[Ii]nvalid dtype for `?swap", OTHER_DTYPE),
    (r"should return None", NO_STORE),
    (r"Pytree for `(in|out)_specs`|`in_specs` must be a tuple", SPECS),
    (r"'(function|tuple)' object is not (iterable|callable)\n(.|\n)*raised in .*pallas", SPEC_ORDER),
    (r"module 'jax\S*' has no attribute|AttributeError: \S+ (was|is) (deprecated|removed)", UNKNOWN_NAME),
    (r"primitive '(program_id|num_programs)' not found", NESTED_STEP),
    (r"AssertionError.*\nin .*(program_id|num_programs)\(", NO_STEP),
    (r"arrays are immutable", IMMUTABLE),
    (r"AbstractRef' object has no attribute|unsupported operand type.*Ref|Ref.* is not a valid", REF_AS_ARRAY),
    (r"requires ndarray or scalar arguments, got .*Tracer|got a Ref of type", REF_AS_ARRAY),
    (r"[Ii]nvalid shape for `?swap", UNEVEN_SHAPES),
    (r"incompatible shapes for broadcasting|contracting dimensions to have the same shape", UNLIKE_SHAPES),
)


def cause_of_error(text: str) -> Cause | None:
    """The mistake that an error is the usual sign of: its text, the learner's line, and what raised it."""
    return next((cause for pattern, cause in RAISED if re.search(pattern, text)), None)
