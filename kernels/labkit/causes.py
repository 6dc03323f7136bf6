"""The mistakes that a checker knows by name, and the errors of jax that give one away."""

from __future__ import annotations

import re

from kernels.labkit.problem import Cause

__all__ = ["RAISED", "cause_of_error"]

NO_GRID = Cause("no grid", "without `grid` the kernel runs once, on whole arrays")
NO_BLOCK_SPEC = Cause("no block spec", "an operand without a `BlockSpec` is one block, and every step sees all of it")
IN_ELEMENTS = Cause(
    "index in elements", "an index map returns the number of a block, and Pallas multiplies it by the block's shape"
)
SWAPPED = Cause("swapped index map", "the index map has the right indices in the wrong order")
STANDS_STILL = Cause("index map that stands still", "every step is given the same block")
NEVER_STILL = Cause("index map that moves", "this operand has one block for all these steps, and the map leaves it")
NO_STORE = Cause("nothing is stored", "a kernel returns nothing: its answer is what it assigns to the output's Ref")
NO_CLEARING = Cause(
    "never cleared", "memory holds anything before the first step, and the interpreter fills it with NaN to show that"
)
CLEARED_ONCE = Cause("cleared once", "the sum starts anew with each block of the answer, not only with the first")
OVERWRITTEN = Cause("overwritten", "each step stores its own share, where it has to add to what is there")
ONLY_FIRST = Cause("only the first step adds", "what a later step computes does not reach the block of the answer")
NARROW_SUM = Cause("narrow accumulation", "what is added up in bfloat16 is rounded at every step")
PARALLEL_SUM = Cause(
    "parallel reduction", "steps that add to one block depend on each other, and `parallel` says that they do not"
)
OUTSIDE = Cause("work outside of the kernel", "what jax computes around the call reads and writes whole arrays in HBM")
NOT_INTERPRETED = Cause("interpret not handed on", "the checker chooses how the call is run, through this argument")
NO_RETURN = Cause("no return", "a function without `return` returns None")
NOT_CALLED = Cause("call not made", "`pallas_call` returns a function, which is then called with the arrays")
NUMPY = Cause("NumPy in a kernel", "NumPy wants numbers, and while jax traces there are none: use `jax.numpy`")
LEFT_OUT = Cause("operand left out", "the answer depends on one of the two inputs alone")
PYTHON_IF = Cause(
    "Python if on a traced value", "Python decides while jax traces, when there are no values: use `pl.when`"
)
CAPTURED = Cause("captured constant", "a kernel sees its Refs alone: pass the array to the call as an operand")
ARGUMENTS = Cause("Refs do not fit", "a kernel takes a Ref for each input, then for each output, then for each scratch")
MAP_ARGUMENTS = Cause("index map does not fit the grid", "an index map takes one index for each axis of the grid")
MAP_RESULT = Cause("index map does not fit the block", "an index map returns one index for each axis of the block")
REF_AS_ARRAY = Cause("Ref used as an array", "a Ref stands for memory: `ref[...]` reads what is in it")
UNEVEN_SHAPES = Cause("blocks of different shape", "what is stored must have the shape of the block that it goes to")
OTHER_DTYPE = Cause(
    "store of another dtype", "what is stored must have the dtype of its Ref: `value.astype(o_ref.dtype)`"
)
OUT_OF_BOUNDS = Cause("block outside of the array", "the interpreter checks what nothing on a chip checks")
ENDLESS = Cause("loop without an end", "a Python loop runs while jax traces, and this one did not stop")

RAISED: tuple[tuple[str, Cause], ...] = (
    (r"TracerBoolConversionError", PYTHON_IF),
    (r"TracerArrayConversionError", NUMPY),
    (r"captures constants|captured constants", CAPTURED),
    (r"[Oo]ut-of-bounds", OUT_OF_BOUNDS),
    (r"(lambda|index_map).* (takes|missing) .*positional argument", MAP_ARGUMENTS),
    (r"[Ii]ndex map function .* must return", MAP_RESULT),
    (r"[Ii]nvalid dtype for `?swap", OTHER_DTYPE),
    (r"should return None", NO_STORE),
    (r"(takes|missing) .*positional argument", ARGUMENTS),
    (r"AbstractRef' object has no attribute|unsupported operand type.*Ref|Ref.* is not a valid", REF_AS_ARRAY),
    (r"[Ii]nvalid shape for `?swap|incompatible shapes for broadcasting", UNEVEN_SHAPES),
)


def cause_of_error(text: str) -> Cause | None:
    """The mistake that an error of jax or of Python is the usual sign of."""
    return next((cause for pattern, cause in RAISED if re.search(pattern, text)), None)
