"""What the pipeline kernels are run on: eight grid steps each, enough to see every slot filled at least twice."""

from __future__ import annotations

import numpy as np

from kernels.contract import Case, Kernel, Tolerance
from kernels.pipeline import kernel, reference

EXACT = Tolerance(0.0, 0.0, "doubling a float32 only adds one to its exponent: nothing is rounded")
LANES = ("hlo", "tpu-interpret", "tpu-aot")
EXCUSED: dict[str, str] = dict.fromkeys(
    ("gpu-interpret", "gpu-aot", "h200"),
    "`pltpu.emit_pipeline` copies between HBM and VMEM with the DMA engines of a TPU; a GPU has neither",
)


def rows(count: int) -> Case:
    """Normal numbers, [count, 128] in float32."""
    return Case(f"{count} rows", lambda rng: (rng.standard_normal((count, kernel.LANES)).astype(np.float32),), EXACT)


KERNELS = (
    Kernel("scaled_copy", kernel.scaled_copy, reference.scaled_copy, (rows(8 * kernel.ROWS),), LANES, EXCUSED),
    Kernel("revisit", kernel.revisit, reference.revisit, (rows(4 * kernel.ROWS),), LANES, EXCUSED),
)
