"""Records as a person reads them on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from track.errors import BadInput
from track.evidence.record import Ledger, Listed, Measures, Record, Region

__all__ = ["forms", "line", "page", "row", "tally"]


def line(record: Record) -> str:
    """A record in a line."""
    told = " ".join((record.error or record.reason).split())
    names = (record.kernel, record.case or "-", record.lane or "-", record.target or "-", record.status)
    return "  ".join(filter(None, (*names, told, f"[{record.stamp}]" if record.stamp else "")))


def row(record: Record, kernels: Mapping[str, Listed]) -> dict[str, Any]:
    """A record as a row of a table: its verdict, the one that the kernel expects, and what the program takes in sum."""
    listed = kernels.get(record.kernel)
    verdict = record.verdict
    return {
        **{name: getattr(record, name) for name in ("topic", "kernel", "case", "lane", "target", "status")},
        "expected": listed.expects(record.lane, record.target) if listed else "ok",
        "mistake": listed.mistake if listed else "",
        **{name: getattr(verdict, name) for name in ("error", "where", "reason")},
        "measured": sums(record.measures),
        **{name: getattr(record, name) for name in ("stamp", "confined", "versions", "key")},
    }


def sums(measures: Measures) -> dict[str, int]:
    """What the program takes, by name; of several GPU programs the sum, but of registers the most of any thread."""
    ledger, regions, ptxas = measures.ledger, measures.regions, measures.ptxas
    found = {"VMEM bytes": ledger.vmem, "SMEM bytes": ledger.smem} if ledger else {}
    if regions:
        found["bundles"] = sum(region.bundles for region in regions)
    found |= {f"spilled {name}": count for name, count in (measures.spills or {}).items()}
    if ptxas:
        found["registers"] = max(one.registers for one in ptxas)
        found["shared memory bytes"] = sum(one.shared + one.dynamic_shared for one in ptxas)
        found["spilled bytes"] = sum(one.spill_stores + one.spill_loads for one in ptxas)
        found["instructions"] = sum(one.instructions for one in ptxas)
    return found


def tally(records: Iterable[Record]) -> str:
    """How many records there are of each status, such as "12 ok, 3 refused"."""
    counts = Counter(record.status for record in records)
    return ", ".join(f"{count} {status}" for status, count in counts.most_common())


def page(record: Record) -> str:
    """A record with everything in it, the texts of its forms left out."""
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    head = [
        ("verdict", record.status),
        ("error", record.error),
        ("where", record.verdict.where),
        ("reason", record.reason),
        ("stamp", record.stamp),
        ("printed", record.output),
        ("with", versions),
        ("confined", "yes" if record.confined else "no"),
    ]
    title = f"{record.kernel} on {record.case or 'no case'}, lane {record.lane}, target {record.target}"
    rows = [f"  {name:<9} {indented(text)}" for name, text in head if text]
    return "\n".join([title, *rows, *(f"  {text}" for text in measured(record.measures))])


def indented(text: str) -> str:
    """Further lines under the first."""
    return text.replace("\n", "\n" + " " * 12)


def measured(measures: Measures) -> Iterator[str]:
    """What the lane measured, part by part."""
    if measures.numbers:
        numbers = measures.numbers
        allowed = f"{numbers.absolute:g} + {numbers.relative:g}·|expected|"
        yield f"numbers   largest error {numbers.largest_error} of {numbers.elements} elements, allowed {allowed}"
    if measures.races is not None:
        yield f"races     {len(measures.races) or 'none'}"
    if measures.events is not None:
        yield f"events    {len(measures.events)}"
    if measures.by_device is not None:
        yield f"events    {', '.join(str(len(order)) for order in measures.by_device)} by device"
    yield from compiled(measures)
    if measures.timing:
        yield f"timing    {msgspec.json.encode(measures.timing).decode()}"


def compiled(measures: Measures) -> Iterator[str]:
    """What a compiler made of the kernel."""
    if measures.ledger:
        yield from ledger(measures.ledger)
    if measures.regions:
        yield from regions(measures.regions)
    if measures.spills is not None:
        yield f"spills    {listed(measures.spills)}"
    for entry in measures.ptxas or ():
        yield f"ptxas     {msgspec.json.encode(entry).decode()}"
    if measures.forms:
        yield "forms"
    for form in measures.forms or ():
        yield f"  {form.kind:<10} {form.stage:<44} {f'{form.lines} lines' if form.changed else 'unchanged'}"


def forms(records: Iterable[Record], stage: str) -> list[str]:
    """The texts of the forms that a stage left, or that are in a language; BadInput where there is none."""
    every = [(record, form) for record in records for form in record.measures.forms or ()]
    found = [(record, form) for record, form in every if stage in (form.stage, form.kind)]
    if not found:
        names = dict.fromkeys(name for _, form in every for name in (form.kind, form.stage))
        raise BadInput(f"no form is called {stage!r}", {"expected": ", ".join(names) or "no record here has forms"})
    return [
        f"{record.kernel} on {record.case}, {record.lane} for {record.target}, {form.kind} after {form.stage}:\n"
        + (form.text if form.changed else "unchanged")
        for record, form in found
    ]


def ledger(found: Ledger) -> Iterator[str]:
    """The buffers, and the compiler's own figures."""
    yield f"memory    VMEM {found.vmem} bytes, SMEM {found.smem} bytes"
    for buffer in found.buffers:
        shape = " x ".join(map(str, buffer.shape)) or "scalar"
        yield f"  {buffer.space} {buffer.bytes:>9}  {buffer.name}: {buffer.copies} of {shape} {buffer.dtype}"
    if found.compiler:
        yield f"  the compiler: {listed(found.compiler)}"


def regions(found: Iterable[Region]) -> Iterator[str]:
    """The final program, stretch by stretch."""
    total = 0
    rows: list[str] = []
    for region in found:
        loop = f" in {region.depth} loops, {region.trips or 'an unknown number of'} turns" if region.depth else ""
        rows.append(f"  {total:>6}  {region.bundles:>5} bundles  {region.name}{loop}: {listed(region.units)}")
        total += region.bundles
    yield f"bundles   {total}"
    yield from rows


def listed(counts: Mapping[str, int]) -> str:
    """Names with their numbers."""
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"
