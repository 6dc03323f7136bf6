"""What was made of a page is given out for just the digest that it was kept under."""

from __future__ import annotations

import msgspec
import pytest

from track.pages.kept import Kept


class Made(msgspec.Struct):
    text: str
    ids: set[str]


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path / "kept", Made)


def test_what_was_kept_comes_back_under_its_digest_alone(kept):
    kept.put("tpu/a.md", "one", Made("x", {"a"}))
    assert kept.get("tpu/a.md", "one") == Made("x", {"a"})
    assert kept.get("tpu/a.md", "two") is None
    assert kept.get("tpu/b.md", "one") is None


def test_of_a_page_only_the_last_is_kept(kept):
    kept.put("a.md", "one", Made("x", set()))
    kept.put("a.md", "two", Made("y", set()))
    assert kept.get("a.md", "one") is None
    assert kept.get("a.md", "two") == Made("y", set())


def test_a_file_that_is_cut_or_holds_something_else_is_as_none(kept):
    kept.put("a.md", "one", Made("x" * 100, set()))
    (path,) = [path for path in kept.folder.rglob("*") if path.is_file()]
    whole = path.read_bytes()
    for data in (whole[:-5], b"one\n" + msgspec.msgpack.encode({"text": 1}), b"", b"one"):
        path.write_bytes(data)
        assert kept.get("a.md", "one") is None


def test_pages_that_are_gone_are_forgotten(kept):
    kept.put("a.md", "one", Made("x", set()))
    kept.put("tpu/b.md", "one", Made("y", set()))
    kept.only(["tpu/b.md"])
    assert kept.get("a.md", "one") is None
    assert kept.get("tpu/b.md", "one") == Made("y", set())
