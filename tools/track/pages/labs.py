"""Fences of lab pages: how to work on a lab, its hints, and what its checker says while the site is built."""

from __future__ import annotations

import functools
import html
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from track import labs
from track.errors import BadInput, Finding
from track.evidence import keys
from track.evidence.confine import child_environment
from track.files import digest, write_if_changed
from track.pages import notebooks
from track.pages.context import Context, options
from track.pages.document import Fence

__all__ = ["FENCES"]

COMMANDS = {"check": (0, 1), "jaxpr": (0,)}
"""What a lab can be asked for on a page, and the exit codes that are an answer."""
WORDS = {
    "hint": "the next hint for the part that you are at",
    "jaxpr": "what jax makes of your file",
    "diff": "your file against the solution, once you are done",
    "reset": "begin anew; what you have written is kept",
}


def lab(fence: Fence, context: Context) -> str:
    """How to work on a lab: the commands, and the same as a notebook."""
    one = _lab(fence, context, options(fence, context, {"lab"}))
    name = f"notebooks/{one.folder}.ipynb"
    context.files[name] = notebooks.lab_notebook(context.root, one)
    site = os.environ.get("TRACK_SITE_URL", "").rstrip("/")
    colab = html.escape(notebooks.open_in_colab(f"{site}/{name}"))
    opened = f', <a href="{colab}">open it in Colab</a>' if site else ""
    n = one.number
    table = "\n".join(f"| `{command}` | {what} |" for command, what in WORDS.items())
    return (
        f"In a checkout of the repository of this site:\n\n"
        f"```sh\npip install jax numpy\npython kernels/{one.folder}/lab.py\n```\n\n"
        f"The first run makes your file, `{one.work}`.\n"
        f"Edit it and run the same command again, until all parts are done.\n"
        f"With a word after it, the command does something else:\n\n"
        f"| word | what it does |\n|---|---|\n{table}\n\n"
        f"Where `make site` has run, `.venv/bin/track lab check {n}` is the same check, `.venv/bin/track lab hint {n}` "
        f"the same hint, and so on, and `.venv/bin/track lab list` shows how far each lab is done.\n\n"
        f"<p>Without a checkout, take the lab as a notebook, which has all that it needs: "
        f'<a href="{context.up}{name}" download>{one.folder}.ipynb</a>{opened}.</p>'
    )


def hints(fence: Fence, context: Context) -> str:
    """The hints for a part, each closed until it is asked for."""
    given = options(fence, context, {"lab", "part"})
    one = _lab(fence, context, given)
    parts = {part.name: part.hints for part in one.parts}
    if given["part"] not in parts:
        details = {"page": context.place(fence), "expected": ", ".join(parts)}
        raise BadInput(f"lab {one.number} has no part '{given['part']}'", details)
    shown = enumerate(parts[given["part"]], 1)
    return "\n\n".join(f'??? tip "Hint {number} for {given["part"]}"\n\n{_indented(text)}' for number, text in shown)


def says(fence: Fence, context: Context) -> str:
    """What a lab's own command prints of its skeleton or its solution."""
    given = options(fence, context, {"lab", "command", "file"}, {"part"})
    one = _lab(fence, context, given)
    if given["command"] not in COMMANDS or not (context.root / "kernels" / one.folder / given["file"]).is_file():
        details = {
            "page": context.place(fence),
            "expected": f"{' or '.join(COMMANDS)}, of a file of kernels/{one.folder}",
        }
        raise BadInput(f"no lab can be asked to {given['command']} {given['file']}", details)
    file = f"kernels/{one.folder}/{given['file']}"
    command = [given["command"], *([given["part"]] if "part" in given else []), "--file", file]
    text = _printed(context.root, one.folder, command, context.place(fence))
    return f"```text\n{text.strip()}\n```"


def _printed(root: Path, folder: str, command: list[str], at: str) -> str:
    """What the command prints; kept under a hash of all that could change it."""
    versions = [f"{name}={value}" for name, value in sorted(keys.versions("tpu-aot").items())]
    shared = keys.topic_digest(root, "labkit"), keys.topic_digest(root, folder)
    kept = root / "build" / "labs" / f"{digest(folder, *command, *versions, *shared)}.txt"
    if not kept.is_file():
        with tempfile.TemporaryDirectory(prefix="lab-") as home:  # libtpu leaves its logs there
            ended = labs.said(root, folder, command, child_environment(os.environ, Path(home)))
        if ended.code not in COMMANDS[command[0]]:
            found = (ended.error or ended.output).strip() or f"exit code {ended.code}"
            raise Finding("a lab's own file is not what the page says of it", {"page": at, "found": found})
        write_if_changed(kept, ended.output)
    return kept.read_text("utf-8")


def _lab(fence: Fence, context: Context, given: Mapping[str, str]) -> labs.Lab:
    """The lab that a fence names by its folder."""
    known = sorted(path.parent.name for path in (context.root / "kernels").glob("*/lab.py"))
    if given["lab"] not in known:
        raise BadInput(f"no lab '{given['lab']}'", {"page": context.place(fence), "expected": ", ".join(known)})
    files = keys.topic_digest(context.root, given["lab"]), keys.topic_digest(context.root, "labkit")
    with context.naming(fence):
        return _described(context.root, given["lab"], files)


@functools.lru_cache
def _described(root: Path, folder: str, _: tuple[str, str]) -> labs.Lab:
    """A lab as it describes itself, asked once for as long as its files stay."""
    return labs.describe(root, folder, bare=True)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


FENCES: Mapping[str, Callable[[Fence, Context], str]] = {"hints": hints, "lab": lab, "lab-says": says}
