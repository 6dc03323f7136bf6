"""What the sums are run on: three groups of rows, one of them shorter than a tile, and whole numbers."""

from __future__ import annotations

import numpy as np

from kernels.contract import Case, Kernel, Tolerance
from kernels.groups import kernel, reference

STARTS, SIZES = (0, 8, 16), (5, 8, 16)

EXACT = Tolerance(0.0, 0.0, "small whole numbers: every sum of up to 16 of them is a float32")
EXCUSED: dict[str, str] = {
    "hlo": "`interpret=True` makes a slice of XLA of every copy, and the size of that cannot be data.",
    **dict.fromkeys(
        ("gpu-interpret", "gpu-aot", "h200"),
        "`pltpu.emit_pipeline` copies between HBM and VMEM with the DMA engines of a TPU; a GPU has neither",
    ),
}


def groups(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Whole numbers from -8 to 8 in 32 rows, the last group up to the last row."""
    x = rng.integers(-8, 9, (STARTS[-1] + SIZES[-1], kernel.LANES)).astype(np.float32)
    return np.array(STARTS, np.int32), np.array(SIZES, np.int32), x


KERNELS = (
    Kernel(
        "group_sums",
        kernel.group_sums,
        reference.group_sums,
        (Case("groups of 5, 8 and 16 rows", groups, EXACT),),
        ("tpu-interpret", "tpu-aot"),
        EXCUSED,
    ),
)
