"""Big blocks of HTML, kept out of what MkDocs reads: it would parse each four times, and change nothing in it.

A listing, a figure or an outline is HTML already, and no search shall find it. So MkDocs gets an empty element in its
place, with those of its anchors that pages lead to, and its page gets the block back.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Sequence

from track.errors import Finding

__all__ = ["ids_of", "lifted", "put_back"]

_OPENED = re.compile(r"^<(?P<tag>div|figure|nav|section)\b[^<>]* data-search-exclude[^<>]*>", re.MULTILINE)
_ID = re.compile(r"""<[a-z][^<>]*?\sid=(?:"([^"]*)"|([^\s">]+))""")
_PLACE = re.compile(r"<div data-search-exclude data-lifted=(\d+)>.*?</div>(?=\n|$|<)")


def lifted(text: str, meant: Collection[str]) -> tuple[str, list[str]]:
    """Markdown without its big blocks, and the blocks in order; of their anchors those that are `meant` stay."""
    parts: list[str] = []
    blocks: list[str] = []
    done = 0
    for first, end in _blocks(text):
        block = text[first:end]
        anchors = "".join(f'<i id="{html.escape(name)}"></i>' for name in sorted(ids_of(block).intersection(meant)))
        parts += [text[done:first], f"<div data-search-exclude data-lifted={len(blocks)}>{anchors}</div>"]
        blocks.append(block)
        done = end
    return "".join([*parts, text[done:]]), blocks


def put_back(page: str, blocks: Sequence[str], name: str) -> str:
    """A page with its blocks; Finding if it has not just one place for each, in their order."""
    places = [int(number) for number in _PLACE.findall(page)]
    if places != [*range(len(blocks))]:
        details = {"page": name, "found": places, "expected": f"0 to {len(blocks) - 1}, once each"}
        raise Finding("a page has no place for its blocks of HTML", details, "indent what only shows such a block")
    return _PLACE.sub(lambda place: blocks[int(place[1])], page)


def ids_of(page: str) -> set[str]:
    """The anchors of some HTML."""
    return {html.unescape(quoted or bare) for quoted, bare in _ID.findall(page)}


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Where blocks begin and end that stand between blank lines."""
    done = 0
    for opened in _OPENED.finditer(text):
        first = opened.start()
        if first < done or (first and text[first - 2 : first] != "\n\n"):
            continue
        depth = 0
        for tag in re.compile(rf"<(/?){opened['tag']}\b").finditer(text, first):
            depth += -1 if tag[1] else 1
            if not depth:
                end = text.index(">", tag.end()) + 1
                if text[end : end + 2] in {"\n\n", "\n", ""}:
                    yield first, end
                    done = end
                break
