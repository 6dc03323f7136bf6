"""Companion kernels and labs as notebooks to download: the same files, made by the build and never committed."""

from __future__ import annotations

import importlib.metadata
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING, Any

__all__ = ["lab_notebook", "notebook", "open_in_colab"]

if TYPE_CHECKING:
    from track.labs import Lab

INSTALL = f"%pip install --quiet jax=={importlib.metadata.version('jax')} numpy"
"""The jax that the site is built with: a service may have an older one, which a bare name would leave there."""
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
WRITE = "%%writefile "
CLOSED = {"jupyter": {"source_hidden": True}, "cellView": "form"}
NO_IDS = 4
"""The last minor version of the notebook format whose cells need no ids, which would be random."""


def notebook(root: Path, topic: str) -> bytes:
    """The notebook of a topic: a title, the packages, the reference as a file beside it, and the kernel."""
    folder = root / "kernels" / topic
    kernel = (folder / "kernel.py").read_text("utf-8")
    title = f"# kernels/{topic}/kernel.py\n\nThe companion kernel as it stands, run by the last cell."
    cells = [_markdown(title), _code(INSTALL)]
    reference = folder / "reference.py"
    if reference.is_file():
        cells.append(_code(f"{WRITE}reference.py\n{reference.read_text('utf-8')}"))
    return _made([*cells, _code(kernel)])


def lab_notebook(root: Path, lab: Lab) -> bytes:
    """The notebook of a lab: the checker as files, closed, then the skeleton to edit, its check and its hints."""
    kernels = root / "kernels"
    paths = [kernels / "__init__.py", *sorted((kernels / "labkit").glob("*.py"))]
    names = ("__init__.py", "lab.py", "reference.py", "checks.py", "skeleton.py", "hints.md")
    paths += [kernels / lab.folder / name for name in names]
    skeleton = (kernels / lab.folder / "skeleton.py").read_text("utf-8")
    return _made(
        [
            _markdown(f"# Lab {lab.number}: {lab.title}\n\nRun the cells down to the one that you are to edit."),
            _code(INSTALL),
            _code(f"%mkdir -p kernels/labkit kernels/{lab.folder} labs"),
            _markdown("The checker, as it stands. There is nothing to read in it before you are done."),
            *(_code(f"{WRITE}{path.relative_to(root).as_posix()}\n{path.read_text('utf-8')}") for path in paths),
            _markdown("Your file. Add lines, run this cell, then run the one below it."),
            _code(f"{WRITE}{lab.work}\n{skeleton}"),
            _code(f"!python kernels/{lab.folder}/lab.py"),
            _markdown("The next hint for the part that you are at, if you want one."),
            _code(f"!python kernels/{lab.folder}/lab.py hint"),
        ]
    )


def _made(cells: list[str]) -> bytes:
    """The notebook of these cells; those that write a file below kernels/ are closed."""
    # It costs a quarter of a second, and few pages need it.
    import jupytext  # noqa: PLC0415 -- as said  # pyright: ignore[reportMissingTypeStubs] -- it has none

    typed: Any = jupytext  # which leaves the types of its arguments out
    made = typed.reads("\n".join(cells), fmt="py:percent")
    made.nbformat_minor = NO_IDS
    made.metadata["kernelspec"] = KERNEL
    for cell in made.cells:
        cell.pop("id", None)
        if cell.source.startswith(f"{WRITE}kernels/"):
            cell.metadata.update(CLOSED)
    return typed.writes(made, fmt="ipynb").encode()


def open_in_colab(address: str) -> str:
    """A link that opens a notebook which is published at `address`."""
    return f"https://colab.research.google.com/#fileId={urllib.parse.quote(address, safe='')}"


def _markdown(text: str) -> str:
    return "# %% [markdown]\n" + "\n".join(f"# {line}".rstrip() for line in text.splitlines()) + "\n"


def _code(text: str) -> str:
    """A code cell; a line that begins with % or ! is the notebook's own and stands behind a comment in a script."""
    lines = [f"# {line}" if line.startswith(("%", "!")) else line for line in text.rstrip("\n").splitlines()]
    return "\n".join(["# %%", *lines, ""])
