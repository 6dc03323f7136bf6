"""Other releases are listed with their hashes, one a line, and fetched once."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from track.errors import BadInput
from track.pins import history
from track.pins.lock import Release

ROOT = Path(__file__).parents[2]
LINE = f"jax==0.11.0 --hash=sha256:{'a' * 64}\n"


def test_the_releases_that_are_compared() -> None:
    """Five of jax and five of tokamax."""
    names = [str(release) for release in history.read(ROOT / "requirements" / "history.txt")]
    jax = [f"jax {version}" for version in ("0.10.2", "0.11.0", "0.11.1", "0.11.2", "0.12.0.1")]
    assert names == jax + [f"tokamax 0.0.{patch}" for patch in range(13, 18)]


def test_every_wheel_is_there_with_its_hash() -> None:
    """The set-up of `make test` has fetched them."""
    text = (ROOT / "requirements" / "history.txt").read_text()
    sums = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (ROOT / "build" / "wheels").glob("*.whl")}
    assert set(re.findall(r"[0-9a-f]{64}", text)) <= sums


@pytest.mark.usefixtures("no_network")
def test_what_is_there_is_not_asked_for_again(root: Path) -> None:
    """Without a network, the wheels that are there do."""
    (root / "requirements").mkdir()
    kept = [line for line in (ROOT / "requirements" / "history.txt").read_text().splitlines() if "jax==0.11.2" in line]
    (root / "requirements" / "history.txt").write_text("\n".join(kept))
    (path,) = history.fetch(root).values()
    assert path == root / "build" / "wheels" / "jax-0.11.2-py3-none-any.whl"


def test_comments_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    """What is left are releases."""
    (tmp_path / "history.txt").write_text(f"# why\n\n{LINE}")
    assert history.read(tmp_path / "history.txt") == (Release("jax", "0.11.0", "a" * 64),)


@pytest.mark.parametrize(
    "line", ["jax==0.11.0", "jax>=0.11 --hash=sha256:" + "a" * 64, LINE.replace("a" * 64, "a" * 63)]
)
def test_a_line_without_an_exact_release_and_hash_is_refused(tmp_path: Path, line: str) -> None:
    """The error has the line's place."""
    (tmp_path / "history.txt").write_text(f"# why\n{line}\n")
    with pytest.raises(BadInput) as caught:
        history.read(tmp_path / "history.txt")
    assert caught.value.details["file"] == "history.txt:2"
