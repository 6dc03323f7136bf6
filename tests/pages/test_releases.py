"""The table of releases, made of answers that are written by hand."""

from __future__ import annotations

import msgspec
import pytest

from tests.pages.helpers import COMMIT, NOTHING_KNOWN, document
from track.anchors.library import Library
from track.errors import Finding
from track.evidence.releases import PATH, WAYS, Answer, Answers
from track.pages.context import Context
from track.pages.directives import DIRECTIVES
from track.pins.lock import Pin, Release
from track.pins.tree import SourceTree

PAGE = "```releases\n```\n"


@pytest.fixture
def shown(tmp_path):
    """The fence, in a checkout with the answers of these releases."""

    def make(*versions: str, pinned: str = "2.0") -> str:
        answer = Answer("?", "?", ("mosaic_gpu_v2",), (), "")
        answers = Answers("2001-02-03", "3.12", {version: dict.fromkeys(WAYS, answer) for version in versions})
        (tmp_path / PATH).parent.mkdir(parents=True)
        (tmp_path / PATH).write_bytes(msgspec.json.encode(answers))
        (fence,) = document(PAGE, frozenset({"releases"})).fences
        release = Release("jax", pinned, "0" * 64)
        pin = Pin("jax", "https://example.org/jax", COMMIT, release, wheel_names_commit=True, files={})
        known = Library({"jax": SourceTree(pin, "git", tmp_path)})
        return DIRECTIVES["releases"](fence, Context(tmp_path, known, {}, NOTHING_KNOWN, ()))

    return make


def test_a_row_a_release_in_the_order_of_the_file_and_when_they_were_asked(shown):
    lines = shown("1.0", "2.0").splitlines()
    assert [line.split(" | ")[0] for line in lines[2:4]] == ["| 1.0", "| 2.0"]
    assert lines[2] == "| 1.0 | Mosaic GPU | Mosaic GPU | Mosaic GPU |"
    assert "2001-02-03" in lines[-1]


def test_a_pin_that_was_not_asked_stops_the_build(shown):
    with pytest.raises(Finding, match=r"track releases"):
        shown("1.0", "2.0", pinned="3.0")
