"""Hooks on the TPU interpreter, which write down what it is asked to do, in order.

Every hook stands in for a function of jax that runs on the host for each step of the simulation. It notes the arguments
as plain numbers and then calls the original. What the numbers mean is worked out afterwards, in `events.py`.
"""

from __future__ import annotations

import functools
import linecache
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax._src import callback, source_info_util
from jax._src.pallas.mosaic import pipeline
from jax._src.pallas.mosaic.interpret import interpret_pallas_call as interpreter
from jax._src.pallas.mosaic.interpret import race_detection_state, utils

from track.evidence.lanes.extracts import checkout
from track.evidence.lanes.races import noted_by
from track.evidence.record import Source
from track.evidence.texts import clean

__all__ = ["Access", "Buffer", "Copy", "Recording", "Signal", "record"]

Range = tuple[slice | int, ...]


@dataclass(frozen=True)
class Buffer:
    """A buffer of the simulated chip: where it is, its shape, and the bytes of an element."""

    id: int
    space: str
    shape: tuple[int, ...]
    itemsize: int


@dataclass(frozen=True)
class Site:
    """Where an operation stands: its named scope, the functions of pipeline.py innermost first, and which one it is.

    `source` is the innermost line on the way to it that is the kernel's or pipeline.py's.
    """

    scope: str
    calls: tuple[str, ...]
    ident: int
    source: Source | None = None


@dataclass(frozen=True)
class Copy:
    """A `dma_start`: from a range of one buffer to a range of another, announced by a semaphore.

    `to` is the device that it is sent to and `sent` the semaphore that says so here; -1 where none is named.
    """

    site: Site
    device: int
    source: int
    source_range: Range
    target: int
    target_range: Range
    semaphore: int
    to: int = -1
    sent: int = -1


@dataclass(frozen=True)
class Signal:
    """A `dma_wait`, `semaphore_wait` or `semaphore_signal`, with the bytes or the count that it asks for.

    `to` is the device that a signal is sent to, -1 where none is named.
    """

    op: str
    site: Site
    device: int
    semaphore: int
    amount: int
    to: int = -1


@dataclass(frozen=True)
class Access:
    """A `get`, `store` or `swap` of a buffer by the kernel itself."""

    op: str
    site: Site
    device: int
    buffer: int
    range: Range


@dataclass
class Recording:
    """Everything noted during one run."""

    buffers: list[Buffer] = field(default_factory=list[Buffer])
    semaphores: dict[int, int] = field(default_factory=dict[int, int])  # id to place in its allocation
    log: list[Copy | Signal | Access] = field(default_factory=list[Copy | Signal | Access])
    races: list[str] = field(default_factory=list[str])
    failed_at: str = ""


def record() -> Recording:
    """Put the hooks in place, for the rest of this process."""
    recording = Recording()
    for name, note in NOTES.items():
        setattr(interpreter, name, hook(getattr(interpreter, name), functools.partial(note, name), recording))
    allocate_buffer = interpreter._allocate_buffer
    allocate_semaphores = interpreter._allocate_semaphores

    @functools.wraps(allocate_buffer)
    def note_buffer(token: Any, device: Any, core: Any, space: Any, value: Any, **rest: Any) -> Any:
        token, ident = allocate_buffer(token, device, core, space, value, **rest)
        array = np.asarray(value)
        recording.buffers.append(Buffer(int(ident), space_name(space), array.shape, array.dtype.itemsize))
        return token, ident

    @functools.wraps(allocate_semaphores)
    def note_semaphores(*args: Any) -> Any:
        token, idents = allocate_semaphores(*args)
        recording.semaphores.update({int(ident): place for place, ident in enumerate(np.ravel(idents))})
        return token, idents

    def note_race(text: str) -> None:
        lines = [line.strip() for line in text.splitlines() if "clock:" not in line]
        recording.races.append(clean(" ".join(line for line in lines if line), checkout()))

    host = types.SimpleNamespace(io_callback=located(callback.io_callback))
    setattr(interpreter, "callback", host)  # noqa: B010 - the module imports it, and does not export it
    interpreter._allocate_buffer = note_buffer
    interpreter._allocate_semaphores = note_semaphores
    noted_by(note_race, race_detection_state)
    return recording


def hook(original: Callable[..., Any], note: Callable[..., Any], recording: Recording) -> Callable[..., Any]:
    """The original, preceded by a note of its arguments."""

    @functools.wraps(original)
    def noted(*args: Any, **kwargs: Any) -> Any:
        source = kwargs.get("source_info")
        try:
            recording.log.append(note(site_of(source), *args[1:]))
            return original(*args, **kwargs)
        except BaseException:
            recording.failed_at = recording.failed_at or (source_info_util.summarize(source) if source else "")
            raise

    vars(noted)["__wrapped__"] = vars(original)["__wrapped__"]  # a DMA calls `get.__wrapped__`, past the noting
    return noted


def located(io_callback: Callable[..., Any]) -> Callable[..., Any]:
    """The interpreter's way to the host, with the place of a `semaphore_wait`, the one operation that it sends without.

    The interpreter calls it in the context of the equation that it is at.
    """

    @functools.wraps(io_callback)
    def sent(function: Any, *args: Any, **kwargs: Any) -> Any:
        if function is interpreter.semaphore_wait:
            function = functools.partial(function, source_info=source_info_util.current())
        return io_callback(function, *args, **kwargs)

    return sent


@functools.cache
def site_of(source: source_info_util.SourceInfo | None) -> Site:
    """Where an operation was traced; the same object at every turn of a loop."""
    if source is None:
        return Site("", (), 0)
    frames = source.traceback.frames if source.traceback else []
    calls = tuple(frame.function_name for frame in frames if frame.file_name == pipeline.__file__)
    return Site(str(source.name_stack), calls, id(source), next(filter(None, map(source_at, frames)), None))


def source_at(frame: Any) -> Source | None:
    """The line of a frame, if it is the kernel's or pipeline.py's."""
    path = Path(frame.file_name)
    if frame.file_name == pipeline.__file__:
        file = path.relative_to(Path(jax.__file__).parents[1])
    elif path.is_relative_to(checkout() / "kernels"):
        file = path.relative_to(checkout())
    else:
        return None
    code = linecache.getline(frame.file_name, frame.line_num).strip()
    return Source(file.as_posix(), frame.line_num, frame.function_name, code)


def note_copy(name: str, site: Site, device: Any, core: Any, *args: Any) -> Copy:
    """Note a `dma_start`."""
    _, source, source_part, _, target, target_part, semaphore, sent, to, *_ = args  # since 0.12 it also names a core
    ends = int(source), ranges(source_part), int(target), ranges(target_part)
    return Copy(site, int(device), *ends, int(semaphore), number(to), number(sent))


def note_signal(name: str, site: Site, device: Any, core: Any, semaphore: Any, amount: Any, *to: Any) -> Signal:
    """Note a wait or a signal."""
    return Signal(name, site, int(device), int(semaphore), int(amount), number(to[0] if to else None))


def number(value: Any) -> int:
    """A number that may be missing, which is -1."""
    return -1 if value is None else int(value)


def note_access(name: str, site: Site, device: Any, core: Any, space: Any, buffer: Any, at: Any, *_: Any) -> Access:
    """Note a `get`, `store` or `swap`."""
    return Access(name, site, int(device), int(buffer), ranges(at))


def ranges(transforms: Any) -> Range:
    """The part of a buffer that an indexer names, as slices and numbers; dimensions that it leaves out are whole."""
    try:
        return tuple(utils.to_range(jax.tree.map(int, transforms)))
    except (TypeError, ValueError):  # an indexer of arrays: the original, called next, refuses it in its own words
        return ()


def space_name(space: Any) -> str:
    """The name of a memory space, from the interpreter's number for it."""
    return interpreter.TPU_MEMORY_SPACE_NAMES[int(space)]


NOTES: dict[str, Callable[..., Any]] = {
    "dma_start": note_copy,
    "dma_wait": note_signal,
    "semaphore_signal": note_signal,
    "semaphore_wait": note_signal,
    "get": note_access,
    "store": note_access,
    "swap": note_access,
}
