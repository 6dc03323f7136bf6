"""Unit use: how much of each unit of a core the bundles of a compiled kernel keep busy, in program order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from track.errors import BadInput
from track.evidence.figures.svg import Canvas, Color, Figure
from track.evidence.record import Region

__all__ = ["units"]

WIDTH, LEFT, RIGHT, TOP, FOOT = 700.0, 68.0, 74.0, 46.0, 58.0
ROW, GAP = 34.0, 8.0
COLUMNS = 150  # stretches that are drawn of a program at most
MOST_LINES = 40

ROWS = {
    "MXU": ("MXU", ""),
    "VALU": ("VALU", ""),
    "XLU": ("XLU", ""),
    "EUP": ("EUP", ""),
    "load": ("VLOAD", "VLOAD:FILL"),
    "store": ("VSTORE", "VSTORE:SPILL"),
    "scalar": ("SALU", ""),
}
"""The rows: what the compiler's dump calls the unit, and the part of it that only spilled registers need."""


class Stretch(Struct, frozen=True):
    """Some bundles in a row, and the part of a unit that they use, from 0 to 1."""

    first: int
    bundles: int
    part: Fraction


class Program(Struct, frozen=True):
    """The regions of one compiled kernel, and how many slots each unit has in a bundle."""

    regions: tuple[Region, ...]
    capacity: dict[str, int]

    @property
    def bundles(self) -> int:
        """Bundles in all."""
        return sum(region.bundles for region in self.regions)

    @property
    def by_slot(self) -> bool:
        """Whether the use of every bundle is known, and not only in how many of a region's bundles a unit is used."""
        return all(region.use or not region.units for region in self.regions)

    @property
    def firsts(self) -> list[tuple[int, Region]]:
        """Each region with its first bundle."""
        starts = itertools.accumulate((region.bundles for region in self.regions), initial=0)
        return list(zip(starts, self.regions, strict=False))


def units(
    regions: Sequence[Region] | None, capacity: Mapping[str, int] | None, kernel: str, target: str, prefix: str
) -> Figure:
    """One row a unit; the height is the share of the unit's slots that the bundles there use.

    Of a program that is too long for every bundle to be kept, it is the share of the bundles of a region that use it.
    """
    found = tuple(region for region in regions or () if region.bundles)
    if not found:
        raise BadInput("unit use needs the bundles of a tpu-aot record", {"kernel": kernel, "target": target})
    program = Program(found, dict(capacity or {}))
    height = TOP + len(ROWS) * (ROW + GAP) + FOOT
    canvas = Canvas(WIDTH, height)
    draw_loops(canvas, program)
    for number, name in enumerate(ROWS):
        draw_unit(canvas, TOP + number * (ROW + GAP), name, program)
    draw_axis(canvas, program, height)
    return canvas.finish(prefix, f"Unit use of {kernel} on {target} by bundle", *words(program, kernel, target))


def place(bundle: float, bundles: int) -> float:
    """Across, for a bundle."""
    return LEFT + bundle / bundles * (WIDTH - LEFT - RIGHT)


def draw_loops(canvas: Canvas, program: Program) -> None:
    """A band for what lies in a loop, a darker one for what lies in a loop inside of it, and lines between regions."""
    bottom = TOP + len(ROWS) * (ROW + GAP) - GAP
    for first, region in program.firsts:
        left, right = place(first, program.bundles), place(first + region.bundles, program.bundles)
        if region.depth:
            tint = min(0.8, 0.35 * region.depth)
            canvas.box((left, TOP - 6), (right - left, bottom - TOP + 10), "grid", tint=tint)
    for first, _ in program.firsts[:MOST_LINES]:
        left = place(first, program.bundles)
        canvas.line([(left, TOP - 10), (left, bottom + 4)], "soft", 0.5)
    keys: list[tuple[Color, float, str]] = [
        ("grid", 0.6, "in a loop"),
        ("compute", 1.0, "in use"),
        ("wait", 1.0, "of that, for spills"),
    ]
    for x, (color, tint, text) in zip((LEFT, LEFT + 98, LEFT + 182), keys, strict=True):
        canvas.box((x, 9), (20, 11), color, tint=tint)
        canvas.text((x + 26, 15), text, "soft", size=11)
    canvas.text((WIDTH - 4, TOP - 14), "in loops" if in_loops(program) else "mean", "soft", size=11, align="right")


def draw_unit(canvas: Canvas, y: float, name: str, program: Program) -> None:
    """A unit's row: an outline over its use, one over what spills take of it, and its share in the loops."""
    unit, spilling = ROWS[name]
    capacity = program.capacity.get(unit, 0)
    canvas.text((LEFT - 8, y + ROW / 2 - 6), name, align="right", bold=True)
    if capacity:
        words = f"{capacity} slot{'s' * (capacity != 1)}"
        canvas.text((LEFT - 8, y + ROW / 2 + 8), words, "soft", size=10, align="right")
    canvas.line([(LEFT, y + ROW), (WIDTH - RIGHT, y + ROW)], "soft", 0.75)
    draw_outline(canvas, y, stretches(unit, capacity, program), program, "compute")
    draw_outline(canvas, y, stretches(spilling, capacity, program), program, "wait")
    canvas.text((WIDTH - 4, y + ROW / 2), percent(share(name, program)), align="right")


def draw_outline(canvas: Canvas, y: float, found: Sequence[Stretch], program: Program, color: Color) -> None:
    """The use of a unit along the program, as a filled outline; nothing where it is not used."""
    if not any(stretch.part for stretch in found):
        return
    corners = [(LEFT, y + ROW)]
    for stretch in found:
        level = y + ROW * float(1 - stretch.part)
        ends = (stretch.first, stretch.first + stretch.bundles)
        corners += [(place(end, program.bundles), level) for end in ends]
    canvas.shape([*corners, (corners[-1][0], y + ROW)], color)


def stretches(unit: str, capacity: int, program: Program) -> list[Stretch]:
    """The use of a unit in stretches wide enough to see; neighbors that are equal are one."""
    found: list[Stretch] = []
    for one in raw_stretches(unit, capacity, program):
        last = found[-1] if found else None
        if last and last.part == one.part:
            found[-1] = Stretch(last.first, last.bundles + one.bundles, one.part)
        else:
            found.append(one)
    return found


def raw_stretches(unit: str, capacity: int, program: Program) -> Iterator[Stretch]:
    """Equal stretches of the program, or its regions where nothing finer is known."""
    if not program.by_slot:
        for first, region in program.firsts:
            yield Stretch(first, region.bundles, Fraction(region.units.get(unit, 0), region.bundles))
        return
    digits = "".join(digits_of(region, unit) for region in program.regions)
    count = min(COLUMNS, len(digits))
    for first, end in itertools.pairwise(number * len(digits) // count for number in range(count + 1)):
        used = sum(map(int, digits[first:end]))
        yield Stretch(first, end - first, Fraction(used, (end - first) * max(1, capacity)))


def digits_of(region: Region, unit: str) -> str:
    """The slots of a unit that each bundle of a region uses."""
    return region.use.get(unit) or "0" * region.bundles


def in_loops(program: Program) -> int:
    """The bundles in loops."""
    return sum(region.bundles for region in program.regions if region.depth)


def share(name: str, program: Program) -> float:
    """What part of a unit the bundles in loops use, or all bundles where none is in a loop; each counted once."""
    unit = ROWS[name][0]
    counted = [region for region in program.regions if region.depth] or program.regions
    total = sum(region.bundles for region in counted)
    if not program.by_slot:
        return sum(region.units.get(unit, 0) for region in counted) / total
    slots = sum(sum(map(int, digits_of(region, unit))) for region in counted)
    return slots / total / max(1, program.capacity.get(unit, 0))


def percent(part: float) -> str:
    """A share, not rounded to nothing."""
    return "under 1 %" if 0 < part < 0.005 else f"{part * 100:.0f} %"  # noqa: PLR2004 - half a percent


def draw_axis(canvas: Canvas, program: Program, height: float) -> None:
    """Bundle numbers, and what the height means."""
    y = height - FOOT + 8
    for bundle in range(0, program.bundles + 1, nice(program.bundles / 6)):
        canvas.text((place(bundle, program.bundles), y), f"{bundle:,}", "soft", size=11, align="center")
    canvas.text((WIDTH - 4, y), "bundle", "soft", size=11, align="right")
    canvas.text(
        (4, height - 16), f"Counted in the compiler's final program. Height: {meaning(program)}.", "soft", size=11
    )


def meaning(program: Program) -> str:
    """What the height of a row says."""
    if program.by_slot:
        return "the share of the unit's slots that the compiler counts as in use there"
    return "the share of the bundles of a region in which the compiler counts the unit as in use"


def nice(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... that is no smaller."""
    worth = 1
    while True:
        for factor in (1, 2, 5):
            if factor * worth >= least:
                return factor * worth
        worth *= 10


def words(program: Program, kernel: str, target: str) -> tuple[str, str]:
    """The picture in full, and in short."""
    short = f"Unit use of {kernel} on {target}, {program.bundles:,} bundles."
    axes = f"Across: the bundles in program order. Up, in each row: {meaning(program)}."
    loop = in_loops(program)
    inner = f"{loop:,} bundles lie in loops." if loop else "No bundle lies in a loop."
    shares = ", ".join(f"{name} {percent(share(name, program))}" for name in ROWS)
    return f"{short} {axes} {inner} Shares{' in the loops' if loop else ''}: {shares}.", short
