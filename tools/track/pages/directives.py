"""What a page can ask for besides listings: the fences that weaving replaces by something computed."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from track.anchors.library import Library
from track.errors import BadInput
from track.facts.catalog import Fact
from track.pages.document import Document, Fence
from track.pages.plan import Phase

__all__ = ["DIRECTIVES", "Context"]


@dataclasses.dataclass(frozen=True)
class Context:
    """What pages are woven from."""

    root: Path
    library: Library
    facts: Mapping[str, Fact]
    plan: Sequence[Phase]
    document: Document | None = None

    def on(self, document: Document) -> Context:
        """The same, on a page."""
        return dataclasses.replace(self, document=document)

    def place(self, fence: Fence) -> str:
        """`path:line` of a fence, for errors."""
        return self.document.at(fence.line) if self.document else f"line {fence.line}"


def options(fence: Fence, context: Context, required: set[str], optional: set[str] = frozenset()) -> Mapping[str, str]:
    """The fence's options, if they are those that it takes."""
    given = set(fence.options)
    if given - required - optional or required - given:
        unknown, missing = sorted(given - required - optional), sorted(required - given)
        raise BadInput(
            f"{'unknown' if unknown else 'missing'} option '{(unknown or missing)[0]}' of {fence.kind}",
            {"page": context.place(fence), "expected": ", ".join(sorted(required | optional)) or "no option"},
        )
    return fence.options


def track(fence: Fence, context: Context) -> str:
    """The phases as a path: pages that are written are links, the others are marked as planned."""
    options(fence, context, set())
    docs = context.root / "docs"
    parts: list[str] = ['<ol class="track" markdown="1">']
    for phase in context.plan:
        done = sum((docs / page.path).is_file() for page in phase.pages)
        parts.append('<li markdown="1">\n')
        parts.append(f"### {phase.title}\n\n{phase.promise}\n{{ .promise }}\n")
        parts.append(f'<p class="done">{done} of {len(phase.pages)} written</p>\n')
        for page in phase.pages:
            written = (docs / page.path).is_file()
            name = f"[{page.title}]({page.path})" if written else f'<span class="planned">{html.escape(page.title)}</span>'
            note = page.kind if written else f"{page.kind}, planned"
            parts.append(f"- {name} <small>{note}</small>")
        parts.append("\n</li>")
    return "\n".join([*parts, "</ol>"])


def pins(fence: Fence, context: Context) -> str:
    """A table of the pins: project, release, commit, and what is claimed of the bytes."""
    options(fence, context, set())
    rows = ["| project | release | commit | files | what the bytes are |", "|---|---|---|--:|---|"]
    for tree in context.library.trees.values():
        pin = tree.pin
        link = f"[`{pin.commit}`]({pin.repository}/tree/{pin.commit})"
        claims = sorted({tree.wording(path) for path in tree.paths})
        rows.append(f"| {pin.project} | {pin.release.version} | {link} | {len(pin.files)} | {'; '.join(claims)} |")
    return "\n".join(rows)


def upstream(fence: Fence, context: Context) -> str:
    """A whole text file of a pin, such as its LICENSE."""
    given = options(fence, context, {"project", "file"})
    tree = context.library.trees.get(given["project"])
    if tree is None:
        known = ", ".join(context.library.trees)
        raise BadInput(f"no pinned project '{given['project']}'", {"page": context.place(fence), "expected": known})
    link = tree.permalink(given["file"])
    text = html.escape(tree.text(given["file"]))
    title = f'<a href="{link}">{given["project"]}/{given["file"]}</a>, unmodified, {html.escape(tree.wording(given["file"]))}'
    return f'<div class="upstream"><p>{title}</p><pre data-search-exclude tabindex="0"><code>{text}</code></pre></div>'


DIRECTIVES: Mapping[str, Callable[[Fence, Context], str]] = {"track": track, "pins": pins, "upstream": upstream}
