"""The path on the front page, and how long a page takes."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, cast

import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from track.pages.document import Fence
from track.pages.minutes import minutes, spoken
from track.pages.path import track
from track.pages.plan import Phase, Planned

NOTED = """# Title of four words

```listing
a.py  f
```

- `x`

  {words}

- `y`

  Two words.
"""


def page(folder: Path, name: str, text: str) -> Path:
    path = folder / "docs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path.parent


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("word " * 200, 1),
        ("word " * 201, 2),
        ("---\ntitle: A title of no count\n---\n\n" + "word " * 200, 1),
        ("word " * 199 + "\n\n```sh\n" + "code " * 900 + "\n```\n", 1),
        (NOTED.format(words="word " * 88), 1),  # 4 + 1 + 88 + 1 + 2 and marks: half a minute; two notes: half a minute
        (NOTED.format(words="word " * 110), 2),
    ],
)
def test_minutes_are_counted_from_words_and_notes(tmp_path, text, expected):
    assert minutes(page(tmp_path, "a.md", text), "a.md") == expected


@pytest.mark.parametrize(("total", "said"), [(0, "0 min"), (59, "59 min"), (60, "1 h"), (61, "1 h 1 min")])
def test_minutes_are_spoken(total, said):
    assert spoken(total) == said


@dataclasses.dataclass
class Asked:
    """As much of a context as the path needs."""

    root: Path
    plan: tuple[Phase, ...]


FENCE = Fence("track", (), {}, (), 1, 2)


def drawn(folder: Path, *phases: Phase) -> Html:
    return Html(track(FENCE, cast("Any", Asked(folder, phases))))


def test_each_phase_says_what_is_written_and_how_long_it_takes(tmp_path):
    page(tmp_path, "a.md", "word " * 500)
    page(tmp_path, "b.md", "word " * 9000)
    pages = (Planned("a.md", "lab", "A & B"), Planned("b.md", "source", "b.py"), Planned("c.md", "article", "C"))
    tree = drawn(tmp_path, Phase("One", "You can.", pages), Phase("Two", "You will.", pages[2:]))
    assert [(li.attributes["class"], li.css_first(".done").text()) for li in tree.css("ol.track > li")] == [
        ("begun", "2 of 3 written, 3 min"),
        ("ahead", "0 of 1 written"),
    ]
    rows = [li.text() for li in tree.css("ol.track ul > li")]
    assert rows == ["A & B lab, 3 min", "b.py source", "C article, planned", "C article, planned"]
    assert [a.attributes["href"] for a in tree.css("a")] == ["a.html", "b.html"]


def test_a_phase_that_is_all_written_is_whole_and_one_beside_the_path_stands_by_itself(tmp_path):
    page(tmp_path, "a.md", "word")
    pages = (Planned("a.md", "article", "A"),)
    tree = drawn(tmp_path, Phase("One", "p", pages), Phase("Else", "p", pages, beside=True))
    assert [li.attributes["class"] for li in tree.css("ol.track > li")] == ["whole", "whole"]
    assert [ol.attributes["class"] for ol in tree.css("ol")] == ["track", "track beside"]
    assert "2 of 2" not in tree.css_first(".total").text()  # one page, however often it is listed
