"""The lock beside a page: written by the tool, the same every time, a note a line."""

from __future__ import annotations

import json

import pytest

from tests.pages.helpers import COMMIT, bound, library, listing, reviewed
from track.errors import BadInput
from track.pages.locks import Lock, lock_path, read_lock, write_lock
from track.pages.weave import locked

TEXT = listing("Box", "- `self.size += amount` … `return self.size` “Ü” x", "- `self.size = 0` y")


@pytest.fixture
def page(tmp_path):
    return tmp_path / "page.md"


@pytest.fixture
def notes(tmp_path):
    return locked(bound(tmp_path, TEXT), Lock(), library(tmp_path))


def test_a_lock_lies_beside_its_page(page):
    assert lock_path(page) == page.parent / "page.lock.json"


def test_what_is_written_is_read_again(page, notes):
    assert write_lock(page, notes)
    assert list(read_lock(page).notes.values()) == notes


def test_a_lock_is_json_with_a_note_a_line_in_the_order_of_the_code(page, notes):
    write_lock(page, notes)
    text = lock_path(page).read_text("utf-8")
    assert [row["anchor"]["first"] for row in json.loads(text)] == ["self.size += amount", "self.size = 0"]
    assert [line[:1] for line in text.splitlines()] == ["[", "{", "{", "]"]
    assert text.endswith("]\n")


def test_a_lock_says_at_which_pin_a_note_was_reviewed(notes):
    assert {note.pin for note in notes} == {COMMIT}
    assert {note.listing for note in notes} == {"Box"}


def test_the_same_notes_are_the_same_bytes_and_are_not_written_again(page, notes):
    write_lock(page, notes)
    before = lock_path(page).read_bytes()
    assert not write_lock(page, list(read_lock(page).notes.values()))
    assert lock_path(page).read_bytes() == before


def test_a_note_seen_before_keeps_the_pin_that_it_was_reviewed_at(tmp_path, notes):
    older = Lock([type(note)(listing=note.listing, pin="f" * 40, anchor=note.anchor) for note in notes[:1]])
    again = locked(bound(tmp_path, TEXT, older), older, library(tmp_path))
    assert [note.pin for note in again] == ["f" * 40, COMMIT]


def test_a_note_of_another_listing_or_quote_is_another_note(tmp_path):
    lock = reviewed(tmp_path, TEXT)
    assert lock.get("Box", "pkg/box.py", "self.size = 0", None)
    assert not lock.get("Box.empty", "pkg/box.py", "self.size = 0", None)
    assert not lock.get("Box", "pkg/other.py", "self.size = 0", None)
    assert not lock.get("Box", "pkg/box.py", "self.size = 0", "self.size")


def test_a_page_without_notes_has_no_lock(page, notes):
    assert not write_lock(page, [])
    write_lock(page, notes)
    assert write_lock(page, [])
    assert not lock_path(page).exists()


def test_a_page_with_no_lock_yet_knows_no_note(page):
    assert read_lock(page).notes == {}


DAMAGES = {
    "cut in half": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "no text": lambda data: b"\xff" + data,
    "a field of another name": lambda data: data.replace(b'"pin"', b'"pim"', 1),
    "a field of another type": lambda data: data.replace(b'"weight":', b'"weight":"many","was":', 1),
    "a conflict": lambda data: b"<<<<<<< ours\n" + data,
    "no list": lambda _: b"{}",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_lock_is_bad_input_that_names_it(page, notes, damage):
    write_lock(page, notes)
    lock_path(page).write_bytes(damage(lock_path(page).read_bytes()))
    with pytest.raises(BadInput, match="lock that cannot be read") as caught:
        read_lock(page)
    assert caught.value.details["file"] == "page.lock.json"
