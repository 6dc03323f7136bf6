"""What is recorded of a kernel on an NVIDIA GPU: what the assembler made of it, and what a chip measured."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

__all__ = ["Maker", "Ptxas", "Timing"]

Maker = Literal["triton", "mosaic-gpu", "xla"]
"""Which compiler wrote the PTX; `xla` where XLA put in a kernel of its own beside those of Pallas."""


class Ptxas(Struct, frozen=True, omit_defaults=True):
    """One entry of the program as ptxas reports it, with the size of its PTX and of its SASS.

    `registers` are those of a thread. `spill_stores`, `spill_loads` and `stack` are bytes of a thread.
    `shared` is what ptxas sees, in bytes of a block; `dynamic_shared` is what the launch asks for on top, of which
    ptxas knows nothing. `barriers` are the hardware's named ones, 16 at most.
    `ptx_lines` leaves out blank lines, comments and debugging, `instructions` the NOPs.
    `classes` has the instructions of SASS by what they use: `tensor`, `global`, `shared`, `barrier` and so on.
    """

    entry: str
    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int
    maker: Maker = "xla"
    dynamic_shared: int = 0
    barriers: int = 0
    ptx_lines: int = 0
    instructions: int = 0
    classes: dict[str, int] = {}


class Timing(Struct, frozen=True, omit_defaults=True):
    """What a chip measured: the median, the fastest and the slowest of `runs`, in seconds on the device.

    `flops` are the floating-point operations of the reference, counted while NumPy ran it: what the answer takes, not
    what the kernel did for it; 0 where they cannot be counted. `bytes` are the inputs and the output, each once.
    """

    seconds: float
    runs: int
    flops: int
    bytes: int
    fastest: float = 0.0
    slowest: float = 0.0

    @property
    def teraflops(self) -> float:
        """TFLOP/s, 10^12 operations a second."""
        return self.flops / self.seconds / 1e12

    @property
    def gigabytes(self) -> float:
        """GB/s, 10^9 bytes a second."""
        return self.bytes / self.seconds / 1e9
