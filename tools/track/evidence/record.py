"""The values that evidence is made of: jobs go in, records come out, and everything between is frozen."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from track.evidence.gpu_record import Ptxas, Timing

__all__ = [
    "Buffer",
    "Chip",
    "Direction",
    "Event",
    "Form",
    "Grid",
    "Job",
    "Ledger",
    "Listed",
    "Measures",
    "Numbers",
    "Outcome",
    "Ptxas",
    "Record",
    "Region",
    "Source",
    "Status",
    "Timing",
    "Touch",
    "TruthTable",
    "Verdict",
    "Window",
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

    `task` is `list` (what does a topic hold?), `judge` (run a case in a lane), `predicates`, `grid` or `peaks`.
    """

    task: Literal["list", "judge", "predicates", "grid", "peaks"]
    root: str
    topic: str = ""
    kernel: str = ""
    case: str = ""
    lane: str = ""
    target: str = ""


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


class Source(Struct, frozen=True):
    """The line that asked for something: its file from the project or from jax, its function, its text.

    A line of a file of jax is one of the installed version, which the record names.
    """

    file: str
    line: int
    function: str
    code: str


class Event(Struct, frozen=True, omit_defaults=True):
    """One thing that the interpreter did, in order.

    `op` is `dma_start`, `dma_wait`, `semaphore_signal`, `semaphore_wait` or `compute`.
    A DMA carries its direction, the operand it copies from or to, the slot of the buffer in VMEM, the block (its place
    in the operand, counted in blocks), the bytes, and `dma`, which numbers it. A wait carries what its start did.
    `scope` is the named scope of the pipeline, `calls` are the functions of `pipeline.py`, innermost first.
    A compute step carries the slots that it touched.
    `step` is the grid step, -1 before the loop and the number of steps after it.
    `target` is the device that a copy or a signal is sent to, -1 where none is named. The semaphore of such a copy
    counts there, on arrival, and `sent` is the one that counts here.
    `source` is the line of the kernel, or of `pipeline.py`, that asked for it; of a compute step, for its first access.
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
    target: int = -1
    sent: int = -1
    source: Source | None = None


class Work(Struct, frozen=True):
    """What one run of the kernel does: floating-point operations of the traced program, bytes of the recorded DMAs."""

    flops: int
    bytes: int


class Form(Struct, frozen=True, omit_defaults=True):
    """A form that a kernel takes on its way to the chip, in the order in which it takes them.

    `kind` is the language (`jaxpr`, `mosaic`, `llo`, `triton`, `ttgir`, `llvm`, `mosaic-gpu`, `ptx`, `sass`), `stage`
    the pass or the step that left it so.
    `text` is the first of its `lines`, empty where the stage left the text as it was (`changed` is false).
    """

    kind: str
    stage: str
    text: str = ""
    lines: int = 0
    changed: bool = True


class Buffer(Struct, frozen=True):
    """A row of the memory ledger: `copies` of a block in `space`, `bytes` in all."""

    name: str
    space: str
    shape: tuple[int, ...]
    dtype: str
    copies: int
    bytes: int


class Ledger(Struct, frozen=True, omit_defaults=True):
    """What a kernel keeps on the chip: its buffers one by one, and what the compiler says of itself.

    `vmem` and `smem` are the sums of the buffers, in bytes; `compiler` has the compiler's own figures, by name.
    """

    buffers: tuple[Buffer, ...]
    vmem: int
    smem: int
    compiler: dict[str, int] = {}


class Region(Struct, frozen=True, omit_defaults=True):
    """A stretch of the final VLIW program of `kernel`, in program order, and which units its bundles use.

    `name` says how it is come to: `start`, `loop`, `branch` (a part that a predicate can skip begins or ends here),
    `resume` (an inner loop is over) or `end`. `depth` is how many loops it lies in. `trips` is how often its loop
    turns: the outermost one in all, an inner one during one turn of the outermost; 0 where the program does not say.
    `units` counts the bundles in which a unit is used; `use` has a digit a bundle, the slots of the unit that it uses.
    """

    name: str
    bundles: int
    depth: int = 0
    units: dict[str, int] = {}
    use: dict[str, str] = {}
    trips: int = 0
    kernel: str = ""


class Measures(Struct, frozen=True, omit_defaults=True):
    """What a lane measured besides its verdict; a lane leaves out what it cannot see.

    `capacity` is how many slots each unit has in a bundle. `spills` counts what the TPU compiler moves between
    registers and memory for want of registers: vector `stores` and `loads`, and `scalars`.
    `events` is the one order of a pipeline on one device. Any other kernel that copies or signals has `by_device`: the
    order on device 0, on device 1, and so on, of copies, waits and signals. Between devices there is no order, and of
    such an event neither step, direction nor slot is known, nor of a wait its copy, which may be another device's.
    """

    numbers: Numbers | None = None
    races: tuple[str, ...] | None = None
    events: tuple[Event, ...] | None = None
    by_device: tuple[tuple[Event, ...], ...] | None = None
    work: Work | None = None
    forms: tuple[Form, ...] | None = None
    ledger: Ledger | None = None
    regions: tuple[Region, ...] | None = None
    capacity: dict[str, int] | None = None
    spills: dict[str, int] | None = None
    ptxas: tuple[Ptxas, ...] | None = None
    timing: Timing | None = None


class Listed(Struct, frozen=True):
    """A kernel as its topic lists it. `cases` are by name, each with the shapes and dtypes of its inputs."""

    name: str
    cases: dict[str, str]
    lanes: tuple[str, ...]
    not_applicable: dict[str, str]
    devices: int = 1
    mistake: str = ""
    expected: dict[str, str] = {}

    def excuse(self, lane: str, target: str) -> str:
        """Why the kernel is not run in the lane for the target, or nothing."""
        return self.not_applicable.get(f"{lane}:{target}") or self.not_applicable.get(lane, "")

    def expects(self, lane: str, target: str) -> str:
        """The verdict that the kernel is to get."""
        return self.expected.get(f"{lane}:{target}") or self.expected.get(lane, "ok")


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


class Window(Struct, frozen=True):
    """An array as a grid sees it: which block of it each step of the grid works on.

    `array` and `block` are shapes in elements. `blocks` has what the index map says at each step; a 1 there is worth
    `stride` elements: the block's own size, or one where the map is in elements (`pl.Element`) or the axis is squeezed.
    Where the map says sizes too (`pl.BoundedSlice`), `sizes` has the shape of the block at each step, and `block` is
    the most that it may be; elsewhere `sizes` is empty.
    """

    operand: str
    role: Literal["input", "output"]
    array: tuple[int, ...]
    block: tuple[int, ...]
    stride: tuple[int, ...]
    itemsize: int
    buffers: int
    blocks: tuple[tuple[int, ...], ...]
    sizes: tuple[tuple[int, ...], ...] = ()

    def size(self, step: int) -> tuple[int, ...]:
        """The shape of the block of a step, in elements."""
        return self.sizes[step] if self.sizes else self.block

    def same(self, step: int, other: int) -> bool:
        """Whether two steps work on the same block, so that it need not move between them."""
        return self.blocks[step] == self.blocks[other] and self.size(step) == self.size(other)


class Grid(Struct, frozen=True):
    """The grid of one `pallas_call` or one `emit_pipeline`, and every array that it walks over, inputs first."""

    name: str
    shape: tuple[int, ...]
    windows: tuple[Window, ...]


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
    grids: tuple[Grid, ...] = ()
    chips: tuple[Chip, ...] = ()


class Outcome(Struct, frozen=True):
    """A verdict and how it was come by."""

    verdict: Verdict
    confined: bool
    output: str
    seconds: float


class Record(Struct, frozen=True):
    """Evidence: one kernel, on one case, in one lane, for one target.

    `stamp` says of a committed record on which machine and when it was made, and whether that was before the pin moved.
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
    stamp: str = ""

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
