"""How long a page takes to read: counted from its words and its notes, at a rate that the front page states."""

from __future__ import annotations

import math
import re
from pathlib import Path

from track.pages.document import read

__all__ = ["NOTE_SECONDS", "WORDS", "minutes", "spoken"]

WORDS = 200
"""Words of prose or of a note in a minute: a slow reader of technical text."""
NOTE_SECONDS = 15
"""What a note takes besides its words: a look at the lines that it speaks of, and back."""

_FENCED = re.compile(r"^(?P<fence>`{3,}).*?^(?P=fence)`*[ ]*$", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"\w[\w'’.-]*")


def minutes(docs: Path, path: str) -> int:
    """Minutes that a page of `docs/` takes, rounded up; code is not counted, as it is looked at from the notes."""
    text = (docs / path).read_text("utf-8")
    page = read(f"docs/{path}", text, frozenset())
    notes = sum(item.kind == "note" for fence in page.fences for item in fence.items)
    words = len(_WORD.findall(_FENCED.sub("", "\n".join(page.lines[page.body :]))))
    return math.ceil(words / WORDS + notes * NOTE_SECONDS / 60)


def spoken(total: int) -> str:
    """Minutes as a person says them."""
    hours, rest = divmod(total, 60)
    return " ".join(
        part for part in (f"{hours} h" if hours else "", f"{rest} min" if rest or not hours else "") if part
    )
