"""What changed in the verdicts, to the letter; and the rows that are compared."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from tests.evidence.helpers import write_topic
from track.bump import verdicts
from track.bump.verdicts import Row, compare
from track.drift.report import VerdictChange
from track.errors import BadEnvironment

ROOT = Path(__file__).parents[2]
OK = Row("matmul", "small", "tpu-aot", "v5e", "ok", "ok", "", {"bundles": 100, "VMEM bytes": 4096})


def but(row: Row, **changes: object) -> Row:
    return msgspec.structs.replace(row, **changes)


def change(status: tuple[str, str], **more: object) -> VerdictChange:
    return msgspec.structs.replace(VerdictChange("matmul", "small", "tpu-aot", "v5e", "ok", status), **more)


def test_equal_rows_are_no_change_in_any_order() -> None:
    other = but(OK, target="v4")
    assert compare([OK, other], [other, OK]) == []


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (but(OK, status="refused", error="no"), change(("ok", "refused"), error=("", "no"))),
        (
            but(OK, status="unavailable", measured={}),
            change(("ok", "unavailable"), measured={"bundles": (100, None), "VMEM bytes": (4096, None)}),
        ),
        (but(OK, measured={"bundles": 90, "VMEM bytes": 4096}), change(("ok", "ok"), measured={"bundles": (100, 90)})),
        (
            but(OK, measured={**OK.measured, "spilled scalars": 0}),
            change(("ok", "ok"), measured={"spilled scalars": (None, 0)}),
        ),
    ],
)
def test_what_differs_is_named_with_both_sides(after: Row, expected: VerdictChange) -> None:
    assert compare([OK], [after]) == [expected]


@pytest.mark.parametrize("letter", ["see line 12", "See line 11", "see  line 11", "see line 11 "])
def test_an_error_text_is_compared_to_the_letter(letter: str) -> None:
    """Nothing is normalized away."""
    old = but(OK, status="refused", error="see line 11")
    assert compare([old], [but(old, error=letter)]) == [change(("refused", "refused"), error=("see line 11", letter))]


def test_a_row_of_one_side_only_is_absent_on_the_other() -> None:
    new = but(OK, case="large", measured={})
    gone, came = compare([OK], [new])
    assert (gone.case, gone.status, came.case, came.status) == ("small", ("ok", "absent"), "large", ("absent", "ok"))
    assert gone.measured["bundles"] == (100, None)


def test_changes_come_in_the_order_of_the_rows_and_as_json() -> None:
    rows = [but(OK, target=target) for target in ("v6e", "v4", "v5p")]
    found = compare(rows, [but(row, status="wrong") for row in reversed(rows)])
    assert [one.target for one in found] == ["v6e", "v4", "v5p"]
    assert msgspec.json.decode(msgspec.json.encode(found), type=list[VerdictChange]) == found


def test_the_rows_of_a_checkout_come_from_its_kernels(tmp_path: Path) -> None:
    """Another Python runs our tools on the pins that it is given."""
    write_topic(tmp_path, "fine", "return x")
    write_topic(tmp_path, "off", "return x + 1")
    shutil.copy(ROOT / "pins.toml", tmp_path / "other.toml")
    shutil.copy(ROOT / "pins.toml", tmp_path)
    found = verdicts.rows(tmp_path, Path(sys.executable), tmp_path / "other.toml")
    judged = {row.kernel: row for row in found if row.lane == "hlo"}
    assert {name: row.status for name, row in judged.items()} == {"fine": "ok", "off": "wrong"}
    assert judged["off"].error == "2048 of 2048 elements differ from the reference"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python that only says what it was asked, on standard error, and fails."""
    path = tmp_path / "python"
    path.write_text(
        '#!/bin/sh\nprintf "\\033[2Kbar\\033[1A\\n" >&2\necho "asked: $*, $JAX_PLATFORMS" >&2\n'
        'echo "[]"\nexit ${CODE:-0}\n'
    )
    path.chmod(0o755)
    return path


def test_what_the_child_says_is_passed_on_as_it_comes(
    python: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The pins file is named in full, since the child works in the checkout."""
    assert verdicts.rows(tmp_path, python, Path("pins.toml")) == []
    said = capfd.readouterr()
    assert said.out == ""
    assert f"asked: -P -m track.cli --pins {Path.cwd()}/pins.toml evidence list --json, cpu" in said.err


def test_a_child_that_fails_is_an_error_with_its_last_words(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without what moves a bar on a terminal."""
    monkeypatch.setenv("CODE", "3")
    with pytest.raises(BadEnvironment, match="could not be judged") as caught:
        verdicts.rows(tmp_path, python, tmp_path / "pins.toml")
    assert caught.value.details["exit code"] == "3"
    assert caught.value.details["it said"].splitlines()[0] == "bar"
    assert "evidence list" in caught.value.next_step
