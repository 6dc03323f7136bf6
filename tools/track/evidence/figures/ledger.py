"""The memory ledger: what a kernel keeps in VMEM, buffer by buffer, against what the chips have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from track.errors import BadInput
from track.evidence.figures.svg import Canvas, Figure
from track.evidence.record import Buffer, Chip, Ledger

__all__ = ["ledger"]

WIDTH, MARGIN, LEFT, RIGHT = 700.0, 4.0, 214.0, 128.0
TALL, ROW, BAR, TOP, FOOT = 34.0, 26.0, 15.0, 30.0, 56.0
MOST = 14
ONE_BUFFER = "One buffer is counted where a block's index map reads no grid index that changes."
OVERSHOOT = 1.12  # how far past the end of the chip a bar is drawn at most


def ledger(ledgers: Mapping[str, Ledger], chips: Mapping[str, Chip], kernel: str, prefix: str) -> Figure:
    """The buffers of a kernel, and for every chip of `ledgers` how much of its VMEM they take."""
    if not ledgers:
        raise BadInput("a ledger needs a tpu-aot record with a ledger", {"kernel": kernel})
    buffers = shown(next(iter(ledgers.values())))
    height = TOP + TALL * len(buffers) + ROW * (2 + len(ledgers)) + 52 + FOOT
    canvas = Canvas(WIDTH, height)
    bottom = draw_buffers(canvas, buffers)
    draw_compiler(canvas, bottom, [found.compiler.get("vmem", 0) for found in ledgers.values()])
    bottom += ROW
    for number, (name, found) in enumerate(ledgers.items()):
        draw_chip(canvas, bottom + 52 + number * ROW, chips[name], found)
    canvas.text((MARGIN, bottom + 26), "of one core's VMEM", bold=True)
    note = (
        "Counted from the traced kernel: the bytes of a block × its buffers, and scratch. Sizes: the pinned tpu_info.",
        ONE_BUFFER,
    )
    for line, text in enumerate(note):
        canvas.text((MARGIN, height - 30 + 16 * line), text, "soft", size=11)
    return canvas.finish(prefix, f"VMEM that {kernel} keeps", *words(ledgers, chips, kernel, buffers))


def shown(found: Ledger) -> list[Buffer]:
    """The buffers in VMEM, the largest first, all small ones in one where they are many."""
    mine = sorted((b for b in found.buffers if b.space == "vmem"), key=lambda buffer: (-buffer.bytes, buffer.name))
    if len(mine) <= MOST:
        return mine
    rest = mine[MOST - 1 :]
    summed = Buffer(f"{len(rest)} smaller ones", "vmem", (), "", 1, sum(buffer.bytes for buffer in rest))
    return [*mine[: MOST - 1], summed]


def draw_buffers(canvas: Canvas, buffers: Sequence[Buffer]) -> float:
    """A bar a buffer, each as long as its share of them all, one after the other; return where they end."""
    total = sum(buffer.bytes for buffer in buffers)
    room = WIDTH - LEFT - RIGHT
    canvas.text((MARGIN, 12), "in VMEM", bold=True)
    x = LEFT
    for number, buffer in enumerate(buffers):
        y = TOP + number * TALL
        long = room * buffer.bytes / total if total else 0.0
        canvas.text((MARGIN, y + 2), buffer.name, bold=True)
        canvas.text((MARGIN, y + 16), block(buffer), "soft", size=11)
        canvas.line([(MARGIN, y + TALL - 8), (WIDTH - MARGIN, y + TALL - 8)], "grid", 0.75)
        canvas.box((x, y), (max(long, 1.0), BAR), "in", tint=0.45, edge=1.0)
        canvas.text((WIDTH - MARGIN, y + BAR / 2), size(buffer.bytes), align="right")
        x += long
    bottom = TOP + len(buffers) * TALL
    canvas.text((LEFT - 10, bottom + BAR / 2), "together", align="right", bold=True)
    canvas.line([(LEFT, bottom + BAR / 2), (LEFT + room, bottom + BAR / 2)], "ink", 1.5)
    canvas.text((WIDTH - MARGIN, bottom + BAR / 2), size(total), align="right", bold=True)
    return bottom + ROW


def draw_compiler(canvas: Canvas, y: float, figures: Sequence[int]) -> None:
    """What the compiler says that it set aside, where it says so."""
    told = [*dict.fromkeys(map(size, sorted(filter(None, figures))))]
    canvas.text((LEFT - 10, y + BAR / 2), "set aside by the compiler", "soft", size=11, align="right")
    canvas.text(
        (WIDTH - MARGIN, y + BAR / 2), " to ".join(told[:: max(1, len(told) - 1)]) or "not said", "soft", align="right"
    )


def draw_chip(canvas: Canvas, y: float, chip: Chip, found: Ledger) -> None:
    """A chip's VMEM, as long as the page allows, and the kernel's share of it; what does not fit goes past the end."""
    room = (WIDTH - LEFT - RIGHT) / OVERSHOOT
    share = found.vmem / chip.vmem_bytes
    over = share > 1
    canvas.text((MARGIN, y + BAR / 2), chip.name, bold=True)
    canvas.text((LEFT - 10, y + BAR / 2), size(chip.vmem_bytes), "soft", size=11, align="right")
    canvas.box((LEFT, y), (room, BAR), "grid", tint=0.5)
    canvas.box((LEFT, y), (max(1.0, room * min(share, 1.0)), BAR), "in", tint=0.45, edge=1.0)
    if over:
        canvas.box((LEFT + room, y), (room * (min(share, OVERSHOOT) - 1), BAR), "roof", tint=0.6, edge=1.0)
    canvas.line([(LEFT + room, y - 3), (LEFT + room, y + BAR + 3)], "ink", 1.5)
    said = f"{size(found.vmem - chip.vmem_bytes)} too much" if over else percent(share)
    canvas.text((WIDTH - MARGIN, y + BAR / 2), said, "roof" if over else "ink", align="right", bold=over)


def block(buffer: Buffer) -> str:
    """A buffer's block, in words."""
    kind = f"{' × '.join(map(str, buffer.shape))} {buffer.dtype}".strip()
    return f"{buffer.copies} buffers of {kind}" if buffer.copies > 1 else kind


def size(count: int) -> str:
    """Bytes in the largest binary unit that leaves a number of at least one."""
    for unit, worth in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= worth:
            return f"{count / worth:.4g} {unit}"
    return f"{count} B"


def percent(share: float) -> str:
    """A share with two digits, however small."""
    return f"{share * 100:.2g} %" if share < 0.1 else f"{share * 100:.0f} %"  # noqa: PLR2004 - a tenth


def words(
    ledgers: Mapping[str, Ledger], chips: Mapping[str, Chip], kernel: str, buffers: Sequence[Buffer]
) -> tuple[str, str]:
    """The picture in full, and in short."""
    short = f"VMEM of {kernel} by buffer, against {', '.join(ledgers)}."
    rows = "; ".join(f"{buffer.name}, {block(buffer)}, {size(buffer.bytes)}" for buffer in buffers)
    shares = "; ".join(
        f"{name}: {size(found.vmem)} of {size(chips[name].vmem_bytes)}"
        + (", which is too much" if found.vmem > chips[name].vmem_bytes else "")
        for name, found in ledgers.items()
    )
    compiler = "; ".join(
        f"{name}: {size(found.compiler['vmem'])}" for name, found in ledgers.items() if found.compiler.get("vmem")
    )
    aside = f" Set aside by the compiler, padding and its own included: {compiler}." if compiler else ""
    return f"{short} Across: bytes. Buffers: {rows}. {ONE_BUFFER}{aside} Of one core's VMEM, {shares}.", short
