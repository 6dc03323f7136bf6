"""The final VLIW program of one kernel: its bundles, the loops around them, and how often those turn."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from track.evidence.record import Region

__all__ = ["Bundle", "Program", "Use", "read_bundles", "read_use"]

BUNDLE = re.compile(r"^ *(?:0x[0-9a-f]+|0) +(?P<label>L[BEH]|P[BF]|CT)?: *(?P<depth>>*) *\{", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
BACK = re.compile(r"sbr\.rel \(!%(?P<done>p\w+)\) target = \$region(?P<region>\d+)")
MARK = re.compile(r"\b(Start|End) region (\d+)\b")
SPILL_SLOT = "_spill]]"
BRANCHES = ("PB", "PF", "CT")
FINEST = 60  # regions; beyond that only loops are told apart
DIGITS = 60_000  # of unit use in a record; a longer program has the counts alone

Loops = tuple[int, ...]


class Bundle(NamedTuple):
    """A bundle: the label that it carries, how many loops it lies in, and its text."""

    label: str
    depth: int
    text: str

    @property
    def tidy(self) -> str:
        """The text without its comments, and with single spaces."""
        return " ".join(COMMENT.sub("", self.text).split())


class Use(NamedTuple):
    """How many slots of each unit every bundle uses, as a digit each, and how many there are."""

    capacity: dict[str, int]
    slots: dict[str, str]

    def between(self, first: int, end: int) -> tuple[dict[str, int], dict[str, str]]:
        """Of some bundles: in how many each unit is used, and the digits, unless the program is too long for them."""
        digits = {unit: row[first:end] for unit, row in self.slots.items() if row[first:end].strip("0")}
        busy = {unit: len(row) - row.count("0") for unit, row in digits.items()}
        return busy, digits if sum(map(len, self.slots.values())) <= DIGITS else {}


@dataclass(frozen=True)
class Program:
    """The bundles of a kernel with their use of units."""

    name: str
    bundles: list[Bundle]
    use: Use

    def __post_init__(self) -> None:
        rows = {len(row) for row in self.use.slots.values()}
        if rows != {len(self.bundles)}:
            raise ValueError(f"{self.name}: {len(self.bundles)} bundles, but the table of unit use has {rows}")

    @cached_property
    def places(self) -> list[Loops]:
        """For each bundle the loops around it, numbered in the order in which they begin."""
        numbers = itertools.count(1)
        stack: list[int] = []
        found: list[Loops] = []
        for bundle in self.bundles:
            begins = bundle.label == "LB" and bundle.depth > 0
            del stack[bundle.depth - begins :]
            stack += itertools.islice(numbers, bundle.depth - len(stack))
            found.append(tuple(stack))
        return found

    @cached_property
    def trips(self) -> dict[int, int]:
        """How often each loop turns, where it counts from a constant by a constant to a constant."""
        text = "\n".join(bundle.text for bundle in self.bundles)
        first = {region: n for n, bundle in enumerate(self.bundles) for region in marks(bundle.text, "Start")}
        found: dict[int, int] = {}
        for n, bundle in enumerate(self.bundles):
            for back in BACK.finditer(bundle.text):
                start = first.get(back["region"], n)
                if start < n and self.places[start]:
                    found[self.places[start][-1]] = turns(text, back["done"])
        return found

    def regions(self) -> tuple[Region, ...]:
        """The program in stretches, or loop by loop where that would be too many."""
        fine = tuple(self.stretches(BRANCHES))
        return fine if len(fine) <= FINEST else tuple(self.stretches(()))

    def stretches(self, labels: tuple[str, ...]) -> Iterator[Region]:
        """The program, cut where a loop begins or ends and where a bundle has one of the labels."""
        places = self.places
        changes = (n for n in range(1, len(places)) if places[n] != places[n - 1] or self.bundles[n].label in labels)
        for first, end in itertools.pairwise([0, *changes, len(places)]):
            here, before = places[first], places[first - 1] if first else None
            busy, digits = self.use.between(first, end)
            each = [self.trips.get(loop, 0) for loop in here]
            trips = math.prod(each[1:] or each) if here else 0
            yield Region(name_of(here, before), end - first, len(here), busy, digits, trips, self.name)

    def spills(self) -> Counter[str]:
        """How often it stores a spilled vector, loads one back, and moves a spilled scalar."""
        units = {"stores": "VSTORE:SPILL", "loads": "VLOAD:FILL"}
        found = {word: sum(map(int, self.use.slots.get(unit, ""))) for word, unit in units.items()}
        return Counter({**found, "scalars": sum(bundle.text.count(SPILL_SLOT) for bundle in self.bundles)})

    def busiest(self) -> int:
        """Where the loop begins that has the most bundles of its own; 0 where there is no loop."""
        sizes = Counter(place for place in self.places if place)
        return self.places.index(max(sizes, key=sizes.__getitem__)) if sizes else 0


def read_bundles(text: str) -> list[Bundle]:
    """The bundles of a dump; the comments of one may go over several lines."""
    starts = list(BUNDLE.finditer(text))
    ends = [*(found.start() for found in starts[1:]), len(text)]
    shown = [
        Bundle(found["label"] or "", len(found["depth"]), text[found.start() : end].strip())
        for found, end in zip(starts, ends, strict=True)
    ]
    depths = real_depths(shown)
    return [bundle._replace(depth=depth) for bundle, depth in zip(shown, depths, strict=True)]


def real_depths(bundles: list[Bundle]) -> list[int]:
    """How many loops each bundle lies in.

    The dump shows it of instructions that belong to the loop. It leaves out the branch back and what lies in its
    shadow, empty or not; but a region that starts in a loop ends in it, and so does what lies between.
    """
    depths = [bundle.depth for bundle in bundles]
    first: dict[str, int] = {}
    for n, bundle in enumerate(bundles):
        first.update(dict.fromkeys(marks(bundle.text, "Start"), n))
        spans = [region for region in marks(bundle.text, "End") if region in first]
        back = [found["region"] for found in BACK.finditer(bundle.text) if first.get(found["region"], n) < n]
        for region in spans:
            floor = bundles[first[region]].depth
            depths[first[region] : n + 1] = [max(depth, floor) for depth in depths[first[region] : n + 1]]
        depths[n] = max([depths[n], *(bundles[first[region]].depth for region in back)])
    return depths


def marks(text: str, which: str) -> list[str]:
    """The regions that start, or end, in a bundle."""
    return [region for mark, region in MARK.findall(text) if mark == which]


def read_use(text: str) -> Use:
    """The table of unit use: a line with the units, one with their slots, and a row a bundle."""
    _, units, capacity, _, *rows = text.splitlines()
    names = units.replace(" ", "").split(",")
    columns = zip(*(row.split() for row in rows if row.strip()), strict=True)
    slots = {name: "".join(column) for name, column in zip(names, columns, strict=True)}
    return Use(dict(zip(names, map(int, capacity.split()), strict=True)), slots)


def turns(program: str, done: str) -> int:
    """How often a loop turns that is left when the predicate `done` holds; 0 where the program does not say."""
    if re.search(rf"%{done} = pmov 1\b", program):
        return 1
    test = re.search(rf"%{done} = scmp\.ge\.s32\.totalorder %(\w+), (\d+)", program)
    step = test and re.search(rf"%{test[1]} = sadd\.s32 (\d+), %(\w+)", program)
    phi = step and re.search(rf"%{step[2]} = sphi %(\w+), %(\w+)", program)
    start = phi and re.search(rf"%{original(program, phi[1])} = smov (\d+)\b", program)
    if not test or not step or not phi or not start or original(program, phi[2]) != test[1] or not int(step[1]):
        return 0
    return -(-(int(test[2]) - int(start[1])) // int(step[1]))


def original(program: str, name: str) -> str:
    """The register that another is a copy of, or that itself."""
    copied = re.search(rf"%{name} = smov %(\w+)", program)
    return original(program, copied[1]) if copied else name


def name_of(here: Loops, before: Loops | None) -> str:
    """How a region is come to."""
    if before is None:
        return "start"
    if here == before:
        return "branch"
    if here and here[-1] not in before:
        return "loop"
    return "resume" if here else "end"
