"""The process in which a learner's file runs. It writes what it finds line by line: nothing is lost if it dies.

`python -m kernels.labkit.child judge|compile|jaxpr MODULE FILE SHOWN RESULTS CHIP,CHIP... PART...`
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from kernels.labkit import chips
from kernels.labkit.problem import Wrong

__all__ = ["main"]

LARGEST_FILE = 64 * 2**20  # what it may print


def main(arguments: list[str]) -> None:
    """Judge the parts of a file, or compile them."""
    task, module, file, shown, results, names, *parts = arguments
    limit()
    if task == "compile":
        os.environ.update(chips.ENVIRONMENT)
    with Path(results).open("a", encoding="utf-8") as out:
        asked: dict[str, Any] = importlib.import_module(module).PARTS
        from kernels.labkit.attempt import load  # noqa: PLC0415 -- jax comes in with the checks

        logging.getLogger("jax").setLevel(logging.CRITICAL)  # what fails in a callback is said by what it raises

        try:
            attempt = load(Path(file), shown)
        except Wrong as wrong:
            tell(out, unread=wrong.plain())
            return
        for name in parts:
            tell(out, begun=name)
            wrong = None
            try:
                for proved in found(task, asked[name], attempt, names.split(",")):
                    tell(out, part=name, proved=proved)
            except Wrong as error:
                wrong = error.plain()
            tell(out, ended=name, wrong=wrong)


def found(task: str, part: Any, attempt: Any, names: list[str]) -> Iterator[str]:
    """What is right of a part."""
    if task == "judge":
        yield from part.judge(attempt)
        return
    function, inputs, keywords = part.call(attempt)
    if task == "jaxpr":
        import jax  # noqa: PLC0415 -- not before the environment of a compiler is set

        with attempt.blaming("jax had traced it"):
            yield str(jax.make_jaxpr(lambda *arrays: function(*arrays, **keywords, interpret=True))(*inputs))
        return
    chips.check_chips(function, inputs, keywords, names)
    yield f"the TPU compiler takes it for {', '.join(names)}"


def tell(out: IO[str], **what: object) -> None:
    """Write a line, at once."""
    out.write(json.dumps(what) + "\n")
    out.flush()


def limit() -> None:
    """Let a print without an end fill no disk, where the system can."""
    with contextlib.suppress(ImportError):
        import resource  # noqa: PLC0415 -- not on Windows

        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))


if __name__ == "__main__":
    main(sys.argv[1:])
