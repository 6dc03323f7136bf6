"""The wrong kernels and what each lane says of them, which is the table of what catches which mistake.

Sums are over small whole numbers, so float32 makes no error in them, and a wrong element is a wrong kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from kernels.contract import Case, Kernel, Tolerance
from kernels.mistakes import reference
from kernels.mistakes.wrong.cached_extent import cached_extent
from kernels.mistakes.wrong.captured_constant import captured_constant
from kernels.mistakes.wrong.clamped_read import clamped_read
from kernels.mistakes.wrong.default_vmem_limit import default_vmem_limit
from kernels.mistakes.wrong.differentiated import differentiated
from kernels.mistakes.wrong.gather_by_array import gather_by_array
from kernels.mistakes.wrong.grid_too_long import grid_too_long
from kernels.mistakes.wrong.half_precision import half_precision
from kernels.mistakes.wrong.index_in_elements import index_in_elements
from kernels.mistakes.wrong.load_from_hbm import load_from_hbm
from kernels.mistakes.wrong.missing_reset import missing_reset
from kernels.mistakes.wrong.narrow_accumulation import narrow_accumulation
from kernels.mistakes.wrong.narrow_dot import narrow_dot
from kernels.mistakes.wrong.narrowing_store import narrowing_store
from kernels.mistakes.wrong.never_waited import never_waited
from kernels.mistakes.wrong.no_block_spec import no_block_spec
from kernels.mistakes.wrong.not_partitioned import not_partitioned
from kernels.mistakes.wrong.parallel_reduction import parallel_reduction
from kernels.mistakes.wrong.python_if import python_if
from kernels.mistakes.wrong.ragged_sum import ragged_sum
from kernels.mistakes.wrong.reset_once import reset_once
from kernels.mistakes.wrong.revisited_output import revisited_output
from kernels.mistakes.wrong.scalar_to_vmem import scalar_to_vmem
from kernels.mistakes.wrong.slot_race import slot_race
from kernels.mistakes.wrong.smem_overflow import smem_overflow
from kernels.mistakes.wrong.sublane_gather import sublane_gather
from kernels.mistakes.wrong.swapped_index_map import swapped_index_map
from kernels.mistakes.wrong.tile_rule import tile_rule
from kernels.mistakes.wrong.unaligned_lanes import unaligned_lanes
from kernels.mistakes.wrong.unsupported_primitive import unsupported_primitive
from kernels.mistakes.wrong.unwritten_output import unwritten_output
from kernels.mistakes.wrong.vmem_overflow import vmem_overflow
from kernels.mistakes.wrong.vmem_overflow_v4 import vmem_overflow_v4

EXACT = Tolerance(0.0, 0.0, "small whole numbers: every product and every sum of them is a float32, or a bfloat16")
ROUNDED = Tolerance(2.0**-9, 0.0, "the exact sum is rounded once, to the nearest bfloat16, by half of 2^-8 at most")

LANES = ("hlo", "tpu-interpret", "tpu-aot")
GPU_INTERPRETER = (
    "The GPU interpreter is for kernels made with `plgpu.kernel`; of a `pallas_call` it takes one whole array."
)
CHIP = "What a wrong kernel does on a chip is chance, and a time for it says nothing."
TPU_ONLY = "The kernel uses memories, copies or compiler parameters that only a TPU has."
NO_ORDER = "On a GPU the steps of a grid run at the same time, so adding up over them is another mistake there."
SAME_AS_HLO = (
    "The compiler takes it, as that of a TPU does, and computes nothing that could be compared: see lane `hlo`."
)
NEITHER = "The mistake is about the tiles of a TPU's registers, which a GPU does not have."
ONE_GPU = "The lane compiles for one GPU, and the mistake is in how several devices are used."
TRACED = "jax raises while it writes the program down, before it asks what chip that is for: see the other lanes."


def whole(*shapes: tuple[int, ...], dtype: DTypeLike = np.float32, largest: int = 8, rule: Tolerance = EXACT) -> Case:
    """Whole numbers from -8 to 8 or another largest one, as floats."""

    def make(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        return tuple(rng.integers(-largest, largest + 1, shape).astype(dtype) for shape in shapes)

    return Case(" and ".join(" × ".join(map(str, shape)) for shape in shapes), make, rule)


def indexed(indices: tuple[int, ...], below: int, *shape: int) -> Case:
    """Indices below a number, in int32, and whole numbers in float32."""

    def make(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        return rng.integers(0, below, indices, np.int32), rng.integers(-8, 9, shape).astype(np.float32)

    return Case(f"{' × '.join(map(str, indices))} indices", make, EXACT)


def mistake(
    function: Callable[..., jax.Array],
    answer: Callable[..., np.ndarray],
    case: Case,
    expected: Mapping[str, str],
    gpu: str = "",
    *,
    devices: int = 1,
) -> Kernel:
    """A wrong kernel; its file's first line is its mistake, and `gpu` is why `gpu-aot` has no say, if it has none."""
    lanes = LANES if gpu else (*LANES, "gpu-aot")
    excuses = {"gpu-interpret": GPU_INTERPRETER, "h200": CHIP} | ({"gpu-aot": gpu} if gpu else {})
    said = (sys.modules[function.__module__].__doc__ or "").partition("\n")[0]
    return Kernel(function.__name__, function, answer, (case,), lanes, excuses, devices, said, expected)


ROWS = whole((32, 128))
TILE = whole((8, 128))
BFLOATS = whole((16, 128), dtype=jnp.bfloat16)
EVERYWHERE: Mapping[str, str] = dict.fromkeys(LANES, "refused")
WRONG = {"hlo": "wrong", "tpu-interpret": "wrong"}
ON_CHIP = {"tpu-aot": "refused"}
SIMULATED = {"tpu-interpret": "refused"}

KERNELS = (
    # Which block: nothing on a chip checks it.
    mistake(index_in_elements, reference.double, ROWS, WRONG | SIMULATED),
    mistake(no_block_spec, reference.plus_block_number, ROWS, WRONG, SAME_AS_HLO),
    mistake(swapped_index_map, reference.matmul, whole((256, 256), (256, 256)), WRONG, NO_ORDER),
    mistake(grid_too_long, reference.double, ROWS, SIMULATED, SAME_AS_HLO),
    mistake(revisited_output, reference.even_and_odd, ROWS, SIMULATED, NO_ORDER),
    mistake(ragged_sum, reference.block_sum, whole((20, 128)), WRONG, NO_ORDER),
    mistake(clamped_read, reference.shifted_up, TILE, SIMULATED),
    # What a buffer holds.
    mistake(missing_reset, reference.block_sum, ROWS, WRONG, NO_ORDER),
    mistake(reset_once, reference.column_sum, whole((16, 256)), WRONG, NO_ORDER),
    mistake(unwritten_output, reference.even_blocks, ROWS, WRONG, SAME_AS_HLO),
    # What happens when.
    mistake(never_waited, reference.double, ROWS, {"tpu-interpret": "wrong"}, TPU_ONLY),
    mistake(slot_race, reference.same, ROWS, {"tpu-interpret": "wrong"}, TPU_ONLY),
    mistake(parallel_reduction, reference.block_sum, ROWS, {"tpu-interpret": "wrong"}, TPU_ONLY),
    # What the chip has no room for.
    mistake(vmem_overflow_v4, reference.double, whole((1288, 1024)), {"tpu-aot:v4": "refused"}, TPU_ONLY),
    mistake(vmem_overflow, reference.double, TILE, ON_CHIP, TPU_ONLY),
    mistake(
        default_vmem_limit,
        reference.double,
        whole((1288, 1024)),
        {f"tpu-aot:{chip}": "refused" for chip in ("v4", "v5e", "v5p")},
        TPU_ONLY,
    ),
    mistake(smem_overflow, reference.take_blocks, indexed((2**19,), 4, 32, 128), ON_CHIP, TPU_ONLY),
    # What the chip or its compiler cannot do.
    mistake(tile_rule, reference.double, whole((8, 256)), ON_CHIP),
    mistake(scalar_to_vmem, reference.total, TILE, ON_CHIP),
    mistake(load_from_hbm, reference.double, TILE, ON_CHIP | SIMULATED, TPU_ONLY),
    mistake(gather_by_array, reference.take_rows, indexed((8,), 8, 8, 128), ON_CHIP | SIMULATED),
    mistake(
        sublane_gather, reference.take_along_rows, indexed((8, 128), 8, 8, 128), {"tpu-aot:v4": "refused"}, NEITHER
    ),
    mistake(unaligned_lanes, reference.windows, whole((8, 256)), ON_CHIP, NEITHER),
    mistake(unsupported_primitive, reference.sorted_rows, TILE, ON_CHIP | {"gpu-aot": "refused"}),
    mistake(not_partitioned, reference.double, ROWS, ON_CHIP, ONE_GPU, devices=4),
    # Narrow numbers.
    mistake(
        narrow_accumulation,
        reference.matmul,
        whole((16, 2048), (2048, 128), dtype=jnp.bfloat16, rule=ROUNDED),
        WRONG,
        NO_ORDER,
    ),
    mistake(narrow_dot, reference.matmul, whole((128, 128), (128, 128), dtype=jnp.bfloat16, largest=1), ON_CHIP),
    mistake(half_precision, reference.double, whole((16, 128), dtype=np.float16), ON_CHIP),
    mistake(narrowing_store, reference.double, BFLOATS, EVERYWHERE, TRACED),
    # What is no kernel: jax says so before any lane comes in, or should.
    mistake(captured_constant, reference.plus_column_number, TILE, {**EVERYWHERE, "gpu-aot": "refused"}),
    mistake(python_if, reference.block_sum, ROWS, EVERYWHERE, TRACED),
    mistake(differentiated, reference.same, TILE, EVERYWHERE, TRACED),
    mistake(cached_extent, reference.extents, ROWS, WRONG, SAME_AS_HLO),
)
