"""Companion kernels as notebooks to download: the same files, in cells, made by the build and never committed."""

from __future__ import annotations

import urllib.parse
from pathlib import Path
from typing import Any

import jupytext  # pyright: ignore[reportMissingTypeStubs] -- it has none

__all__ = ["notebook", "open_in_colab"]

JUPYTEXT: Any = jupytext  # which leaves the types of its arguments out
INSTALL = "%pip install --quiet jax numpy"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
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
        cells.append(_code(f"%%writefile reference.py\n{reference.read_text('utf-8')}"))
    made = JUPYTEXT.reads("\n".join([*cells, _code(kernel)]), fmt="py:percent")
    made.nbformat_minor = NO_IDS
    made.metadata["kernelspec"] = KERNEL
    for cell in made.cells:
        cell.pop("id", None)
    return JUPYTEXT.writes(made, fmt="ipynb").encode()


def open_in_colab(address: str) -> str:
    """A link that opens a notebook which is published at `address`."""
    return f"https://colab.research.google.com/#fileId={urllib.parse.quote(address, safe='')}"


def _markdown(text: str) -> str:
    return "# %% [markdown]\n" + "\n".join(f"# {line}".rstrip() for line in text.splitlines()) + "\n"


def _code(text: str) -> str:
    """A code cell; a line that begins with % is the notebook's own and stands behind a comment in a script."""
    lines = [f"# {line}" if line.startswith("%") else line for line in text.rstrip("\n").splitlines()]
    return "\n".join(["# %%", *lines, ""])
