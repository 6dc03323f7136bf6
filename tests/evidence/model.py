"""The schedule of a double-buffered pipeline, from its index maps alone, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

STEPS = 8
INPUT_MAPS: dict[str, Callable[[int], int]] = {"scaled_copy": lambda i: i, "revisit": lambda i: i // 2}


class Act(NamedTuple):
    """Something that the pipeline does."""

    op: str
    direction: str = ""
    block: int = -1
    slot: int = -1


def schedule(read: Callable[[int], int], steps: int = STEPS) -> Iterator[Act]:
    """What happens when step i reads block read(i) and writes block i, with two slots for each."""
    blocks = dict.fromkeys(map(read, range(steps)))
    slots = {block: number % 2 for number, block in enumerate(blocks)}
    first = {min(step for step in range(steps) if read(step) == block): block for block in blocks}
    yield Act("dma_start", "in", read(0), 0)
    for step in range(steps):
        if step + 1 in first:
            yield Act("dma_start", "in", first[step + 1], slots[first[step + 1]])
        if step in first:
            yield Act("dma_wait", "in", first[step], slots[first[step]])
        yield Act("compute")
        yield Act("dma_start", "out", step, step % 2)
        if step:
            yield Act("dma_wait", "out", step - 1, (step - 1) % 2)
    yield Act("dma_wait", "out", steps - 1, (steps - 1) % 2)
