"""The values that evidence is made of: jobs go in, records come out, and everything between is frozen."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

__all__ = [
    "Chip",
    "Direction",
    "Event",
    "Job",
    "Listed",
    "Measures",
    "Numbers",
    "Outcome",
    "Record",
    "Status",
    "Touch",
    "TruthTable",
    "Verdict",
    "WindowTable",
    "Work",
]

Status = Literal["ok", "refused", "wrong", "crashed", "timed-out", "harness-error", "not-applicable", "unavailable"]
"""`ok`: the numbers agree, and no race was seen.  `wrong`: they do not, or one was.
`refused`: jax, its interpreter or its compiler would not take the kernel.
`crashed`: the kernel's own Python raised, or its process died.  `timed-out`: it was still running at the limit.
`harness-error`: our own code failed, which says nothing about the kernel and is never stored.
`not-applicable`: the kernel says why this lane cannot judge it.  `unavailable`: the lane's package is missing.
"""


Direction = Literal["in", "out", ""]
"""From HBM to the core, from the core to HBM, or neither."""


class Job(Struct, frozen=True):
    """One thing for a child process to do.

    `task` is `list` (what does a topic hold?), `judge` (run a case in a lane), `predicates` or `peaks`.
    """

    task: Literal["list", "judge", "predicates", "peaks"]
    root: str
    topic: str = ""
    kernel: str = ""
    case: str = ""
    lane: str = ""


class Numbers(Struct, frozen=True):
    """How far the kernel's output was from its reference, and how far it was allowed to be.

    `largest_error` is None where it is not finite.
    """

    largest_error: float | None
    differing: int
    elements: int
    relative: float
    absolute: float
    reason: str


class Touch(Struct, frozen=True):
    """A slot of an operand's buffer that a run of the body reads or writes."""

    operand: str
    slot: int


class Event(Struct, frozen=True, omit_defaults=True):
    """One thing that the interpreter did, in order.

    `op` is `dma_start`, `dma_wait`, `semaphore_signal`, `semaphore_wait` or `compute`.
    A DMA carries its direction, the operand it copies from or to, the slot of the buffer in VMEM, the block (its place
    in the operand, counted in blocks), the bytes, and `dma`, which numbers it. A wait carries what its start did.
    `scope` is the named scope of the pipeline, `calls` are the functions of `pipeline.py`, innermost first.
    A compute step carries the slots that it touched.
    `step` is the grid step, -1 before the loop and the number of steps after it.
    """

    op: str
    step: int
    device: int = 0
    direction: Direction = ""
    operand: str = ""
    slot: int = -1
    block: tuple[int, ...] = ()
    bytes: int = 0
    dma: int = -1
    semaphore: int = -1
    scope: str = ""
    calls: tuple[str, ...] = ()
    touches: tuple[Touch, ...] = ()


class Work(Struct, frozen=True):
    """What one run of the kernel does: floating-point operations of the traced program, bytes of the recorded DMAs."""

    flops: int
    bytes: int


class Measures(Struct, frozen=True, omit_defaults=True):
    """What a lane measured besides its verdict; a lane leaves out what it cannot see."""

    numbers: Numbers | None = None
    races: tuple[str, ...] | None = None
    events: tuple[Event, ...] | None = None
    work: Work | None = None


class Listed(Struct, frozen=True):
    """A kernel as its topic lists it."""

    name: str
    cases: tuple[str, ...]
    lanes: tuple[str, ...]
    not_applicable: dict[str, str]


class WindowTable(Struct, frozen=True):
    """The four predicates of one windowed operand, a value a step, and the verbs that act on them.

    The verbs are what the Scheduler's own `copy_in`, `wait_in`, `copy_out` and `wait_out` decide at a step; those that
    do not concern an operand are empty. `before` are the copies started before the loop, `after` the wait behind it.
    """

    operand: str
    role: Literal["input", "output"]
    buffers: int
    blocks: tuple[tuple[int, ...], ...]
    out_of_fetch: tuple[bool, ...]
    has_changed: tuple[bool, ...]
    will_change_current: tuple[bool, ...]
    will_change_fetch: tuple[bool, ...]
    copy_in: tuple[bool, ...] = ()
    wait_in: tuple[bool, ...] = ()
    copy_out: tuple[bool, ...] = ()
    wait_out: tuple[bool, ...] = ()
    before: tuple[bool, ...] = ()
    after: bool = False


class TruthTable(Struct, frozen=True):
    """The predicates of every operand of a pipeline, from the pinned Scheduler and the kernel's own BufferedRefs."""

    grid: tuple[int, ...]
    steps: int
    windows: tuple[WindowTable, ...]


class Chip(Struct, frozen=True):
    """The peaks of one TensorCore, from the pinned `tpu_info`; 0 where it gives none."""

    name: str
    device_kind: str
    cores_per_chip: int
    hbm_bytes_per_second: int
    bf16_flops_per_second: int
    vmem_bytes: int


class Verdict(Struct, frozen=True, omit_defaults=True):
    """What a child found out, before it is known under which key."""

    status: Status
    error: str = ""
    where: str = ""
    reason: str = ""
    measures: Measures = Measures()
    listed: tuple[Listed, ...] = ()
    table: TruthTable | None = None
    chips: tuple[Chip, ...] = ()


class Outcome(Struct, frozen=True):
    """A verdict and how it was come by."""

    verdict: Verdict
    confined: bool
    output: str
    seconds: float


class Record(Struct, frozen=True):
    """Evidence: one kernel, on one case, in one lane.

    `output` is what the child printed, cut short; its content is unknown, and to be escaped before it is shown.
    """

    topic: str
    kernel: str
    case: str
    lane: str
    target: str
    key: str
    versions: dict[str, str]
    confined: bool
    output: str
    verdict: Verdict

    @property
    def status(self) -> Status:
        """The verdict in a word."""
        return self.verdict.status

    @property
    def error(self) -> str:
        """The error in a line, empty where there was none."""
        return self.verdict.error

    @property
    def reason(self) -> str:
        """Why the status is what it is, where the status alone does not say."""
        return self.verdict.reason

    @property
    def measures(self) -> Measures:
        """What the lane measured."""
        return self.verdict.measures
