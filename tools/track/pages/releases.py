"""The table of releases: which backend of Pallas a GPU gets in each, as each release said when it was run."""

from __future__ import annotations

import html

from track.errors import Finding
from track.evidence import releases
from track.evidence.releases import Answer
from track.pages.context import Context, options
from track.pages.document import Fence

__all__ = ["table"]

NEXT = "add the release to requirements/history.txt if it is not there, then: track releases"
BACKENDS = {"__gpu$xla.gpu.triton": "Triton", "mosaic_gpu_v2": "Mosaic GPU"}
"""Backends by the custom call that they lower a kernel to; another one is shown as it is."""
HEADS = {
    "default": "`pl.pallas_call` on an NVIDIA GPU",
    "triton": "asking for Triton",
    "mosaic_gpu": "asking for Mosaic GPU",
}


def table(fence: Fence, context: Context) -> str:
    """A row for each release that was asked; Finding if the pinned one is not among them."""
    options(fence, context, set())
    found = releases.read(context.root)
    tree = context.library.trees.get("jax")
    if tree and tree.pin.release.version not in found.releases:
        details = {"page": context.place(fence), "file": releases.PATH, "expected": tree.pin.release}
        raise Finding("the pinned release was not asked which backend a GPU gets", details, NEXT)
    rows = [["jax", *(HEADS[way] for way in releases.WAYS)], ["---"] * (1 + len(releases.WAYS))]
    for version, answers in found.releases.items():
        rows.append([version, *(cell(answers[way]) for way in releases.WAYS)])
    made = f"Python {found.python}, {found.date}"
    stamp = f"*Each release was run with its own jaxlib, each call in a fresh process; {made}.*"
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + f"\n\n{stamp}"


def cell(answer: Answer) -> str:
    """The backend, and whether jax warned that it is deprecated; or the error."""
    if answer.error:
        return f"`{html.escape(answer.error.partition(':')[0])}`"
    names = " and ".join(BACKENDS.get(call, f"`{call}`") for call in answer.calls)
    return f"{names}, deprecated" if any("deprecated" in text for text in answer.warned) else names
