"""A source tree gives out only bytes that it has proved, and claims no more than they prove."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from track.errors import BadInput, Finding, Findings
from track.pins.lock import Blob, Pin
from track.pins.sync import sync
from track.pins.tree import SourceTree
from track.spans import Span

type Git = Callable[..., str]

PIPELINE = "jax/_src/pallas/mosaic/pipeline.py"
ATTENTION = "tokamax/_src/ops/attention/base.py"


@pytest.fixture
def trees(root: Path, pins: Mapping[str, Pin]) -> Mapping[str, SourceTree]:
    """The real pins' trees, from their wheels."""
    return sync(root, pins, "wheel")


def test_a_file_is_read_whole(trees: Mapping[str, SourceTree]) -> None:
    """`pipeline.py` has 2,804 lines at jax 0.11.2."""
    assert len(trees["jax"].text(PIPELINE).splitlines()) == 2804


def test_one_wrong_byte_is_an_error_that_names_both_ids(trees: Mapping[str, SourceTree], git: Git) -> None:
    """The ids, the file and what to do next."""
    tree = trees["jax"]
    data = tree.read(PIPELINE)
    (tree.folder / PIPELINE).write_bytes(data[:-1] + b" ")
    with pytest.raises(Finding) as caught:
        tree.read(PIPELINE)
    assert PIPELINE in caught.value.what
    assert caught.value.exit_code == 1
    assert tree.pin.blob(PIPELINE).id in caught.value.details["expected"]
    assert caught.value.details["found"] == f"blob {git(tree.folder, 'hash-object', '--no-filters', PIPELINE)}"
    assert f"delete build/sources/{tree.folder.name}" in caught.value.next_step


def test_every_wrong_file_is_shown(trees: Mapping[str, SourceTree]) -> None:
    """Two wrong files are two errors, together."""
    tree = trees["jax"]
    for path in (PIPELINE, "LICENSE"):
        (tree.folder / path).write_bytes(b"")
    with pytest.raises(Findings) as caught:
        tree.check()
    assert len(caught.value.errors) == 2


def test_a_file_that_is_not_pinned_is_refused(trees: Mapping[str, SourceTree]) -> None:
    """Even if it lies in the folder."""
    shutil.copy(trees["jax"].folder / PIPELINE, trees["jax"].folder / "jax" / "other.py")
    with pytest.raises(BadInput, match=r"jax/other\.py is not pinned"):
        trees["jax"].read("jax/other.py")


def test_a_file_that_is_not_text_is_a_finding(tmp_path: Path, pins: Mapping[str, Pin]) -> None:
    """Its bytes can be read all the same."""
    # From `printf '\\377' | git hash-object --stdin`.
    pin = msgspec.structs.replace(pins["jax"], files={"a.bin": Blob("git", "ce542efaa5124a0437f0c4db329d7ec4b7ba70a7")})
    (tmp_path / "a.bin").write_bytes(b"\xff")
    tree = SourceTree(pin, "git", tmp_path)
    assert tree.read("a.bin") == b"\xff"
    with pytest.raises(Finding, match="not UTF-8"):
        tree.text("a.bin")


def test_the_wording_claims_what_the_ids_prove(trees: Mapping[str, SourceTree]) -> None:
    """An id from a wheel speaks of the release, one from git of the commit."""
    assert trees["jax"].wording(PIPELINE) == "bytes of release 0.11.2, whose wheel names commit 3254480"
    assert trees["tokamax"].wording(ATTENTION) == "file at commit 96e1884"


def test_a_wheel_without_a_commit_is_not_given_one(trees: Mapping[str, SourceTree]) -> None:
    """tokamax's wheels name none, so bytes known only from one are the release's and no more."""
    tree = trees["tokamax"]
    pin = msgspec.structs.replace(tree.pin, files={ATTENTION: Blob("wheel", tree.pin.blob(ATTENTION).id)})
    wording = SourceTree(pin, "wheel", tree.folder).wording(ATTENTION)
    assert wording == "bytes of release 0.0.13, whose wheel names no commit"


def test_the_wording_does_not_depend_on_the_way(trees: Mapping[str, SourceTree]) -> None:
    """The same pin makes the same site, whether or not the repository could be reached."""
    tree = trees["jax"]
    assert SourceTree(tree.pin, "git", tree.folder).wording(PIPELINE) == tree.wording(PIPELINE)


@pytest.mark.parametrize(("span", "lines"), [(None, ""), (Span(7, 7), "#L7"), (Span(120, 131), "#L120-L131")])
def test_a_permalink_has_the_full_commit(trees: Mapping[str, SourceTree], span: Span | None, lines: str) -> None:
    """It still leads to the same lines when the branch has moved on."""
    base = "https://github.com/jax-ml/jax/blob/32544801e26115ac1794926d027148abf3baf009/"
    assert trees["jax"].permalink(PIPELINE, span) == base + PIPELINE + lines
