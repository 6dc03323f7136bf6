"""What the copies are run on: few tiles for the simulated GPU, a quarter of a gigabyte for a real one."""

from __future__ import annotations

import numpy as np

from kernels.contract import Case, Kernel, Tolerance
from kernels.gpu_copy import kernel, reference
from kernels.gpu_copy.wrong.barrier_never_waited import barrier_never_waited
from kernels.gpu_copy.wrong.box_too_long import box_too_long
from kernels.gpu_copy.wrong.left_too_early import left_too_early
from kernels.gpu_copy.wrong.slot_refilled import slot_refilled
from kernels.gpu_copy.wrong.store_not_committed import store_not_committed

EXACT = Tolerance(0.0, 0.0, "a copy rounds nothing, and doubling a float32 only adds one to its exponent")
LANES = ("gpu-interpret", "gpu-aot")

NOT_XLA = "`interpret=True` turns a kernel into plain XLA operations, and jax has no such rule for `copy_gmem_to_smem`."
NOT_A_TPU = "Barriers, warpgroups and a TMA unit are parts of a GPU; a TPU copies with DMAs and semaphores."
ELSEWHERE = {"hlo": NOT_XLA, "tpu-interpret": NOT_A_TPU, "tpu-aot": NOT_A_TPU}
SMALL = ELSEWHERE | {"h200": "A few tiles take no measurable time: the same kernel on a large array is timed."}
LARGE = ELSEWHERE | {
    "gpu-interpret": "The simulated GPU takes milliseconds a tile, and there are 8192: it runs the small array.",
    "gpu-aot": "Compiled for the small array: what the compiler sees differs in the extents alone.",
}
WRONG = ELSEWHERE | {"h200": "What a mistake does on a real chip differs from run to run, and proves nothing."}


def normal(rows: int, cols: int = kernel.COLS) -> tuple[Case]:
    """Normal numbers, [rows, cols] in float32."""
    return (Case(f"{rows} × {cols}", lambda rng: (rng.standard_normal((rows, cols), np.float32),), EXACT),)


KERNELS = (
    Kernel("gpu_copy", kernel.gpu_copy, reference.same, normal(128, 256), LANES, SMALL),
    Kernel("gpu_stream", kernel.gpu_stream, reference.same, normal(512, 256), LANES, SMALL),
    Kernel("gpu_copy_large", kernel.gpu_copy, reference.same, normal(16384, 4096), ("h200",), LARGE),
    Kernel("gpu_stream_large", kernel.gpu_stream, reference.same, normal(16384, 4096), ("h200",), LARGE),
    Kernel(
        "barrier_never_waited",
        barrier_never_waited,
        reference.same,
        normal(128),
        LANES,
        WRONG,
        mistake="A tile is read before the copy that brings it has arrived at its barrier.",
        expected={"gpu-interpret": "wrong"},
    ),
    Kernel(
        "store_not_committed",
        store_not_committed,
        reference.double,
        normal(128),
        LANES,
        WRONG,
        mistake="The TMA unit is sent for what threads have written, with no fence between the two.",
        expected={"gpu-interpret": "wrong"},
    ),
    Kernel(
        "left_too_early",
        left_too_early,
        reference.same,
        normal(128),
        LANES,
        WRONG,
        mistake="A block ends before its shared memory has been read.",
        expected={"gpu-interpret": "refused"},
    ),
    Kernel(
        "slot_refilled",
        slot_refilled,
        reference.same,
        normal(256),
        LANES,
        WRONG,
        mistake="A slot is filled again before the copy out of it has read it.",
        expected={"gpu-interpret": "wrong"},
    ),
    Kernel(
        "box_too_long",
        box_too_long,
        reference.same,
        normal(4, 512),
        LANES,
        WRONG,
        mistake="A TMA copy has more than 256 elements along an axis.",
        expected={"gpu-aot": "refused"},
    ),
)
