"""The fence `sweep`: kernels of one product side by side, what each asks of a chip, and what holds it up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from track.errors import BadInput
from track.evidence import Record, doublebuffer
from track.evidence.record import Chip, Event
from track.evidence.roofline import point, roof
from track.evidence.schedule import costs_of
from track.pages.context import Context, options
from track.pages.document import Fence
from track.pages.figures import stamp_html

__all__ = ["Row", "sweep", "words"]

NEARLY_ALL = Fraction(9, 10)  # of a kernel's time
HEADS = (
    ("kernel", "---"),
    ("steps", "--:"),
    ("bytes moved", "--:"),
    ("FLOP for a byte", "--:"),
    ("bytes of VMEM", "--:"),
    ("bundles of a step", "--:"),
    ("µs of copies", "--:"),
    ("µs of bundles", "--:"),
    ("µs in all", "--:"),
)


@dataclass(frozen=True)
class Row:
    """A kernel in a sweep: counts, and seconds of its copies, of its bundles, and of both where they overlap."""

    name: str
    steps: int
    moved: int
    intensity: Fraction
    kept: int | None
    bundles: Fraction
    copying: Fraction
    computing: Fraction
    total: Fraction
    of_roof: Fraction
    roof: str


def sweep(fence: Fence, context: Context) -> str:
    """A row and a sentence a kernel; a stamp where a compiler's record is missing."""
    given = options(fence, context, {"kernels", "chip"})
    chip = context.evidence.chips.get(given["chip"])
    if chip is None:
        known = ", ".join(sorted(context.evidence.chips))
        raise BadInput(f"no chip '{given['chip']}'", {"page": context.place(fence), "expected": known})
    rows: list[Row] = []
    for name in (name.strip() for name in given["kernels"].split(",")):
        record = _record(fence, context, name, chip)
        if record.status != "ok" or not record.measures.regions:
            return stamp_html(record, "sweep")
        with context.naming(fence):
            rows.append(_row(record, chip, context))
    lines = [f"| {' | '.join(head for head, _ in HEADS)} |", f"|{'|'.join(align for _, align in HEADS)}|"]
    lines += [_cells(row) for row in rows]
    return "\n".join(
        [
            *lines,
            "",
            f'<p class="origin">{_origin(chip)}</p>',
            "",
            *(f"- {words(row)}" for row in rows),
            "",
            _best(rows),
        ]
    )


def words(row: Row) -> str:
    """What the roofline and the times say of a kernel."""
    share, copying, computing = row.of_roof, row.copying / row.total, row.computing / row.total
    said = f"`{row.name}` reaches {float(share):.0%} of the lower of its roofs, which is {row.roof}. "
    if copying >= NEARLY_ALL:
        return said + "Copies go on nearly all of its time: unless it moves fewer bytes, it cannot get much faster."
    if computing >= NEARLY_ALL:
        return (
            said + "The core computes nearly all of its time: unless it takes fewer bundles, it cannot get much faster."
        )
    return said + (
        f"Copies take {float(copying):.0%} of its time and bundles {float(computing):.0%}: "
        "where they do not overlap, one waits for the other."
    )


def _best(rows: Sequence[Row]) -> str:
    """Which kernels are the best by the two columns that a block shape is chosen for."""
    fewest, fastest = min(rows, key=lambda row: row.moved).name, min(rows, key=lambda row: row.total).name
    if fewest == fastest:
        return f"`{fewest}` moves the fewest bytes and takes the least time."
    return f"`{fewest}` moves the fewest bytes, and `{fastest}` takes the least time."


def _record(fence: Fence, context: Context, name: str, chip: Chip) -> Record:
    """The compiler's record of a kernel that has one case."""
    every = context.evidence.records.items()
    compiled = [(kernel, record) for (kernel, _, lane, at), record in every if (lane, at) == ("tpu-aot", chip.name)]
    found = [record for kernel, record in compiled if kernel == name]
    if len(found) != 1:
        known = ", ".join(sorted({kernel for kernel, _ in compiled}))
        details = {"page": context.place(fence), "expected": f"a kernel of one case: {known}"}
        raise BadInput(f"no kernel '{name}' of one case that is compiled for {chip.name}", details)
    return found[0]


def _row(record: Record, chip: Chip, context: Context) -> Row:
    case = (record.kernel, record.case)
    grids, work = context.evidence.grids.get(case, ()), context.evidence.work.get(case)
    orders: Sequence[tuple[Event, ...]] = doublebuffer.orders_of(None, grids)
    at = point(record.kernel, work, orders, record.measures.regions, chip)  # an error where there is no work
    costs = costs_of(record.measures.regions, chip, orders)
    steps = [math.prod(grid.shape) for grid in grids]
    moved, flops = (work.bytes, work.flops) if work else (0, 0)
    meet = Fraction(chip.bf16_flops_per_second, chip.hbm_bytes_per_second)
    return Row(
        record.kernel,
        sum(steps),
        moved,
        at.intensity,
        record.measures.ledger.vmem if record.measures.ledger else None,
        sum((cost.bundles for cost in costs), Fraction(0)),
        Fraction(moved, chip.hbm_bytes_per_second),
        sum((cost.body * count for cost, count in zip(costs, steps, strict=True)), Fraction(0)),
        flops / at.flops_per_second,
        at.flops_per_second / roof(chip, at.intensity),
        "the bandwidth of HBM" if at.intensity < meet else "that of the matrix units",
    )


def _cells(row: Row) -> str:
    numbers = (row.steps, row.moved, round(row.intensity), row.kept, round(row.bundles))
    times = (row.copying, row.computing, row.total)
    counts = ("not known" if number is None else f"{number:,}" for number in numbers)
    return f"| {' | '.join([row.name, *counts, *(f'{float(time) * 1e6:.1f}' for time in times)])} |"


def _origin(chip: Chip) -> str:
    """What the columns are made of."""
    meet = chip.bf16_flops_per_second / chip.hbm_bytes_per_second
    return (
        f"Computed for one {chip.name} core, whose roofs meet at {meet:,.0f} FLOP for a byte. Bytes moved are those of "
        "the copies that double buffering makes, bytes of VMEM those of the kernel's buffers and scratch, and bundles "
        "those of libtpu's program."
    )
