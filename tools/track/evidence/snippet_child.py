"""A process that has imported jax, and forks a child for every snippet of a batch, one after the other.

The batch comes in on standard input, the outcomes go out on standard output. It is started by `snippets.py`.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NoReturn

import msgspec

from track.evidence.confine import confine, end_group
from track.evidence.record import Outcome, Verdict
from track.evidence.texts import clean, fault_of

__all__ = ["Batch", "Snippet"]

IMPORTED = ("jax.experimental.pallas.tpu", "jax._src.pallas.mosaic.interpret.interpret_pallas_call")
TICK = 0.01
PRINTED, RESULT = "printed", "verdict"


class Snippet(msgspec.Struct, frozen=True):
    """Code to run after the code that sets it up; all of it shares one namespace."""

    code: str
    setup: tuple[str, ...] = ()


class Batch(msgspec.Struct, frozen=True):
    """Snippets of the checkout at `root`, and the seconds that each may take."""

    root: str
    limit: float
    snippets: tuple[Snippet, ...]


def outcome(snippet: Snippet, root: Path, limit: float) -> Outcome:
    """What came of a snippet: `ok`, `crashed` with the error and its frames in jax, or `timed-out`."""
    work, started = Path(tempfile.mkdtemp(prefix="example-")), time.monotonic()
    leader = os.fork()
    if leader == 0:
        become_child(snippet, root, work)
    ended = waited(leader, started + limit)
    end_group(leader)
    if not ended:
        os.waitpid(leader, 0)
    verdict = handed_over(work) if ended else Verdict("timed-out", f"still running after {limit:g} s")
    text = clean((work / PRINTED).read_text(errors="replace"), root, work)
    confined = (work / "confined").exists()
    shutil.rmtree(work, ignore_errors=True)
    return Outcome(verdict, confined, text, time.monotonic() - started)


def waited(leader: int, until: float) -> bool:
    """Whether the child ended in time."""
    while time.monotonic() < until:
        if os.waitpid(leader, os.WNOHANG)[0]:
            return True
        time.sleep(TICK)
    return False


def handed_over(work: Path) -> Verdict:
    """The verdict that the child left, or one on a child that left none."""
    try:
        return msgspec.json.decode((work / RESULT).read_bytes(), type=Verdict)
    except OSError:
        return Verdict("harness-error", "the process died before it had a result")


def become_child(snippet: Snippet, root: Path, work: Path) -> NoReturn:
    """Run the snippet with its streams in a file, leave the verdict, and end without jax's tear-down."""
    code = 1
    try:
        printed = os.open(work / PRINTED, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(printed, stream)
        confine(work)
        verdict = executed(snippet, root)
        sys.stdout.flush()
        (work / RESULT).write_bytes(msgspec.json.encode(verdict))
        code = 0
    finally:
        os._exit(code)  # never back into the loop over the batch, whatever was raised


def executed(snippet: Snippet, root: Path) -> Verdict:
    """Run the code here."""
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        for number, code in enumerate(snippet.setup):
            exec(compile(code, f"setup{number or ''}.py", "exec"), names)  # noqa: S102 - the page's own code
        exec(compile(snippet.code, "example.py", "exec"), names)  # noqa: S102 - as above
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is what came of it
        return Verdict("crashed", fault_of(error, root).text, frames_of(error, root))
    return Verdict("ok")


def frames_of(error: BaseException, root: Path) -> str:
    """The frames of an error, innermost last, a line each: file, line and function, with tabs between them."""
    frames = traceback.extract_tb(error.__traceback__)
    rows = (f"{clean(frame.filename, root)}\t{frame.lineno}\t{frame.name}" for frame in frames)
    return "\n".join(row for row in rows if row.startswith("jax/"))


def main() -> None:
    """Run the batch."""
    for module in IMPORTED:
        importlib.import_module(module)
    batch = msgspec.json.decode(sys.stdin.buffer.read(), type=Batch)
    found = tuple(outcome(snippet, Path(batch.root), batch.limit) for snippet in batch.snippets)
    sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main()
