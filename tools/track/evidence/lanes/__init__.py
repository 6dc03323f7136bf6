"""The lanes: ways of getting a verdict on a kernel.

A lane is a module with one function, `judge(kernel, case) -> Verdict`, imported and called in a child process only.
To add a lane, write the module and add a line here; every kernel then has to ask for it, or to say why it does not
apply.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["LANES", "Lane"]


class Lane(Struct, frozen=True):
    """What the parent has to know of a lane to run it.

    `target` is what the kernel is run or compiled for, `limit` the seconds after which the verdict is `timed-out`,
    `packages` what must be installed for the lane to be available.
    """

    module: str
    target: str
    limit: float
    packages: tuple[str, ...]


LANES = {
    "hlo": Lane("track.evidence.lanes.hlo", "any machine", 60.0, ("jax",)),
    "tpu-interpret": Lane("track.evidence.lanes.tpu_interpret", "one TPU v5e core, simulated", 60.0, ("jax",)),
}
