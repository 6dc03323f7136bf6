"""`pins.toml` is rewritten without losing what people wrote around the ids."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from track.errors import BadInput
from track.pins import lock
from track.pins.lock import Blob, Pin
from track.pins.write import write

OLD = """# Why these commits.

[a]
repository = "https://example.org/o/a"  # moved in 2026
commit = "1111111111111111111111111111111111111111"
distribution = "a"
version = "1.0"
wheel_sha256 = "2222222222222222222222222222222222222222222222222222222222222222"
wheel_names_commit = false

[a.files]
# the language
"a/x.py" = "wheel:3333333333333333333333333333333333333333"  # read by two pages
"a/y.py" = ""

# the rest
"a/z.py" = "git:4444444444444444444444444444444444444444"

# The other one.
[b]
repository = "https://example.org/o/b"
commit = "1111111111111111111111111111111111111111"
distribution = "b"
version = "1.0"
wheel_sha256 = "2222222222222222222222222222222222222222222222222222222222222222"
wheel_names_commit = true

[b.files]
"b/x.py" = "wheel:3333333333333333333333333333333333333333"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A pins file with comments in every place where a person puts one."""
    (tmp_path / "pins.toml").write_text(OLD)
    return tmp_path / "pins.toml"


def pin_of(path: Path, project: str = "a") -> Pin:
    return lock.read(path, draft=True)[project]


def test_only_the_changed_values_change(path: Path) -> None:
    """Comments, order and blank lines stay, and so does the other project."""
    pin = pin_of(path)
    files = {**pin.files, "a/y.py": Blob("git", "5" * 40)}
    assert write(path, msgspec.structs.replace(pin, commit="6" * 40, files=files))
    expected = OLD.replace('"a/y.py" = ""', f'"a/y.py" = "git:{"5" * 40}"').replace("1" * 40, "6" * 40, 1)
    assert path.read_text() == expected


def test_writing_what_is_there_changes_nothing(path: Path) -> None:
    """The file is not even touched."""
    before = path.stat().st_mtime_ns
    assert not write(path, pin_of(path))
    assert path.stat().st_mtime_ns == before


def test_new_files_come_last_and_dropped_ones_go(path: Path) -> None:
    """What is written is what is read again."""
    pin = pin_of(path)
    kept = {name: blob for name, blob in pin.files.items() if name != "a/y.py"}
    changed = msgspec.structs.replace(pin, files={**kept, "a/new.py": Blob("wheel", "7" * 40)})
    write(path, changed)
    assert pin_of(path) == changed
    assert list(pin_of(path).files) == ["a/x.py", "a/z.py", "a/new.py"]
    assert all(comment in path.read_text() for comment in ("# the language", "# the rest", "# The other one."))


def test_the_last_value_of_the_file_keeps_its_newline(path: Path) -> None:
    """A file ends with a newline, whichever value was written."""
    pin = pin_of(path, "b")
    write(path, msgspec.structs.replace(pin, files={"b/x.py": Blob("git", "8" * 40)}))
    assert path.read_text() == OLD.removesuffix(f'"wheel:{"3" * 40}"\n') + f'"git:{"8" * 40}"\n'


def test_a_project_without_a_table_is_refused(path: Path) -> None:
    """A table is begun by a person, who says which repository it is."""
    with pytest.raises(BadInput, match=r"no table \[c\]"):
        write(path, msgspec.structs.replace(pin_of(path), project="c"))


def test_the_real_file_is_as_the_tool_writes_it(tmp_path: Path) -> None:
    """Nothing in `pins.toml` would change if its own pins were written to it."""
    real = Path(__file__).parents[2] / "pins.toml"
    copy = Path(shutil.copy(real, tmp_path / "pins.toml"))
    assert not any(write(copy, pin) for pin in lock.read(copy).values())
