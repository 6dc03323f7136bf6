"""What the block kernels are run on: a few blocks of 8 rows, whole numbers, so that nothing is rounded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import jax
import numpy as np
from numpy.typing import DTypeLike

from kernels.blocks import kernel, reference
from kernels.blocks.wrong.fixed_block_outside import fixed_block_outside
from kernels.blocks.wrong.high_padding import high_padding
from kernels.blocks.wrong.int8_rows import int8_rows
from kernels.blocks.wrong.low_padding import low_padding
from kernels.blocks.wrong.narrow_scratch import narrow_scratch
from kernels.blocks.wrong.no_index_map import no_index_map
from kernels.blocks.wrong.unaligned_start import unaligned_start
from kernels.contract import Case, Kernel, Tolerance

EXACT = Tolerance(0.0, 0.0, "small whole numbers: every product and every sum of them is a float32")
LANES = ("hlo", "tpu-interpret", "tpu-aot")
DYING = ("v4", "v5e", "v5p", "v6e")  # the chips for which libtpu stops at a check; for 7x it does not
EXCUSED = {
    "gpu-interpret": "The GPU interpreter takes no call whose operands come in blocks.",
    "gpu-aot": "The kernel is about blocks in VMEM; a GPU's own way with blocks is on the pages about GPUs.",
    "h200": "Which block a step gets is no question of time, and nothing else would be measured.",
}


def whole(*shape: int, dtype: DTypeLike = np.float32) -> Case:
    """Whole numbers from -8 to 8."""
    name = " × ".join(map(str, shape))
    return Case(name, lambda rng: (rng.integers(-8, 9, shape).astype(dtype),), EXACT)


def right(function: Callable[..., jax.Array], answer: Callable[..., np.ndarray], *cases: Case) -> Kernel:
    """A kernel that is ok in every lane."""
    return Kernel(function.__name__, function, answer, cases, LANES, EXCUSED)


def wrong(
    function: Callable[..., jax.Array],
    answer: Callable[..., np.ndarray],
    case: Case,
    expected: Mapping[str, str],
) -> Kernel:
    """A kernel that some lane does not take as it is meant; its file's first line says why."""
    said = (sys.modules[function.__module__].__doc__ or "").partition("\n")[0]
    return Kernel(function.__name__, function, answer, (case,), LANES, EXCUSED, mistake=said, expected=expected)


ROWS = whole(32, 128)
WIDE = whole(2 * kernel.WIDE, kernel.WIDE)

KERNELS = (
    right(kernel.doubled_blocks, reference.doubled, ROWS, whole(20, 128)),
    right(kernel.reversed_blocks, reference.reversed_blocks, ROWS),
    right(kernel.each_matrix, reference.doubled, whole(2, 16, 128)),
    right(kernel.neighbor_sum, reference.neighbor_sum, ROWS),
    right(kernel.shifted_rows, reference.off_by_some_rows, ROWS),
    right(kernel.two_buffers, reference.doubled, WIDE),
    right(kernel.one_buffer, reference.doubled, WIDE),
    wrong(no_index_map, reference.doubled, ROWS, {"hlo": "wrong", "tpu-interpret": "wrong"}),
    wrong(
        fixed_block_outside,
        reference.first_everywhere,
        ROWS,
        {"hlo": "wrong", "tpu-interpret": "refused", **{f"tpu-aot:{chip}": "crashed" for chip in DYING}},
    ),
    wrong(int8_rows, reference.same, whole(128, 128, dtype=np.int8), {"tpu-aot": "refused"}),
    wrong(narrow_scratch, reference.plus_first_column, ROWS, {"tpu-aot": "refused"}),
    wrong(unaligned_start, reference.off_by_some_rows, ROWS, {"tpu-aot": "refused"}),
    wrong(low_padding, reference.with_one_before, ROWS, {"tpu-interpret": "refused", "tpu-aot": "refused"}),
    wrong(high_padding, reference.with_one_after, ROWS, {"tpu-interpret": "refused"}),
)
