"""What the ring is run on: four devices with one tile each, so three steps."""

from __future__ import annotations

import functools

import numpy as np

from kernels.contract import Case, Kernel, Tolerance
from kernels.ring import kernel, reference

DEVICES = 4
EXACT = Tolerance(0.0, 0.0, "blocks are copied, and nothing is computed")


def rows(count: int) -> Case:
    """Normal numbers, [count, 128] in float32."""
    return Case(f"{count} rows", lambda rng: (rng.standard_normal((count, kernel.LANES)).astype(np.float32),), EXACT)


NO_TIME = (
    "The plain interpreter knows no time: there a remote copy is an exchange between all devices at the moment it"
    " starts. What this kernel has to get right, who may write where and when, does not exist."
)
NO_LINKS = (
    "`pltpu.make_async_remote_copy` sends over the links between TPU chips, and the DMA engine counts the semaphores at"
    " both ends. A GPU has no such engine: its threads store to a neighbor's memory, through `plgpu.remote_ref`."
)

KERNELS = (
    Kernel(
        "all_gather",
        kernel.all_gather,
        functools.partial(reference.all_gather, devices=DEVICES),
        (rows(DEVICES * 8),),
        ("tpu-interpret", "tpu-aot"),
        {"hlo": NO_TIME, **dict.fromkeys(("gpu-interpret", "gpu-aot", "h200"), NO_LINKS)},
        devices=DEVICES,
    ),
)
