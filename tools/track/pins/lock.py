"""`pins.toml`, read and checked.

    [jax]
    repository = "https://github.com/jax-ml/jax"
    commit = "<40 hex digits>"
    distribution = "jax"
    version = "0.11.2"
    wheel_sha256 = "<64 hex digits>"
    wheel_names_commit = true

    [jax.files]
    "jax/_src/pallas/core.py" = "wheel:<blob id>"

A blob id that was read in git proves the commit.
One that was made from a wheel proves only that two copies agree, so each id carries its origin.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from track.errors import BadInput, raise_all

__all__ = ["Blob", "Origin", "Pin", "Release", "read"]

type Origin = Literal["git", "wheel"]

_SEGMENT = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"

# What a value must look like in full, and the same in words.
_RULES: Mapping[str, tuple[str, str]] = {
    "repository": (rf"https://[a-z0-9.-]+(/{_SEGMENT})+", "an https:// address without user, port or query"),
    "commit": (r"[0-9a-f]{40}", "a full commit id: 40 lowercase hex digits"),
    "distribution": (r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", "the name of a PyPI distribution"),
    "version": (r"[0-9][0-9A-Za-z.!+]*", "an exact version"),
    "wheel_sha256": (r"[0-9a-f]{64}", "the wheel's SHA-256: 64 lowercase hex digits"),
}
_PROJECT = (r"[a-z][a-z0-9_-]*", "a project name: lowercase letters, digits, - and _")
# No segment begins with a dot or a dash, which also rules out `..`, `.git` and what a program would take for an option.
_PATH = (rf"{_SEGMENT}(/{_SEGMENT})*", "a path inside the repository, with no '..' and no leading '/'")
_BLOB = (r"(git|wheel):[0-9a-f]{40}", "git:<blob id> or wheel:<blob id>, with 40 lowercase hex digits")


class Blob(msgspec.Struct, frozen=True):
    """Git's name for the bytes of one file, and where that name was read."""

    origin: Origin
    id: str

    def __str__(self) -> str:
        return f"{self.origin}:{self.id}"


class Release(msgspec.Struct, frozen=True):
    """One wheel of a PyPI distribution, known by its SHA-256."""

    distribution: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"

    @property
    def stem(self) -> str:
        """How the names of the wheel's file and of its metadata folder begin."""
        return f"{self.distribution.replace('-', '_')}-{self.version}"


class Pin(msgspec.Struct, frozen=True):
    """One project at one commit: the release made from it, and the blob id of every file that the site reads.

    `wheel_names_commit` says whether the wheel itself states its commit, as `<distribution>/version.py` of jax does.
    """

    project: str
    repository: str
    commit: str
    release: Release
    wheel_names_commit: bool
    files: Mapping[str, Blob | None]

    def __str__(self) -> str:
        return f"{self.project} {self.short}"

    @property
    def short(self) -> str:
        """The commit as people write it: its first seven digits."""
        return self.commit[:7]

    @property
    def version_file(self) -> str:
        """The one file that a release rewrites, to name its version and commit: no id is right in both copies."""
        return f"{self.release.distribution}/version.py"

    def blob(self, path: str) -> Blob:
        """The pinned id of `path`; BadInput if the file is not pinned or has no id yet."""
        blob = self.files.get(path)
        if blob is None:
            raise BadInput(
                f"{path} is not pinned",
                {"pin": self},
                f'add the line "{path}" = "" to pins.toml, then run: track pin write {self.project}',
            )
        return blob


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A project's table as it is written."""

    repository: str
    commit: str
    distribution: str
    version: str
    wheel_sha256: str
    wheel_names_commit: bool
    files: dict[str, str]


def read(path: Path, *, draft: bool = False) -> Mapping[str, Pin]:
    """The pins by project, in the order of the file.

    A draft may hold files whose id is still empty: `track pin write` fills them in.
    """
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BadInput("there is no pins file", {"file": path.name}) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput("the pins file is not TOML", {"file": path.name, "found": error}) from None
    return {project: _pin(path.name, project, table, draft=draft) for project, table in document.items()}


def _pin(file: str, project: str, value: object, *, draft: bool) -> Pin:
    try:
        table = msgspec.convert(value, _Table)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        field = project + where.strip("`").removeprefix("$")
        raise BadInput("a pin is not as it should be", {"file": file, "field": field, "found": what}) from None
    raise_all(list(_mistakes(file, project, table, draft=draft)))
    return Pin(
        project,
        table.repository,
        table.commit,
        Release(table.distribution, table.version, table.wheel_sha256),
        table.wheel_names_commit,
        {name: _blob(text) for name, text in table.files.items()},
    )


def _blob(text: str) -> Blob | None:
    origin, _, name = text.partition(":")
    return Blob("git" if origin == "git" else "wheel", name) if text else None


def _mistakes(file: str, project: str, table: _Table, *, draft: bool) -> Iterator[BadInput]:
    yield from _check(file, project, project, _PROJECT)
    for field, rule in _RULES.items():
        yield from _check(file, f"{project}.{field}", getattr(table, field), rule)
    for name, text in table.files.items():
        yield from _check(file, f"{project}.files", name, _PATH)
        if text or not draft:
            yield from _check(file, f'{project}.files."{name}"', text, _BLOB)


def _check(file: str, field: str, value: str, rule: tuple[str, str]) -> Iterator[BadInput]:
    pattern, words = rule
    if not re.fullmatch(pattern, value):
        found = f"{value!r}, {len(value)} characters"
        yield BadInput(f"{field} is not valid", {"file": file, "field": field, "expected": words, "found": found})
