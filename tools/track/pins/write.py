"""`pins.toml`, rewritten: comments, order and blank lines stay as people put them."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import cast

import tomlkit

from track.errors import BadInput
from track.files import write_if_changed
from track.pins.lock import Pin, read

__all__ = ["write"]

type _Items = MutableMapping[str, object]


def write(path: Path, pin: Pin) -> bool:
    """Make the project's table say what `pin` says; return whether the file changed.

    Files that are new come last, files that the pin no longer has are taken out.
    """
    if pin.project not in read(path, draft=True):
        raise BadInput(f"{path.name} has no table [{pin.project}]", {"file": path.name})
    document = tomlkit.parse(path.read_text("utf-8"))
    table = cast("_Items", document[pin.project])
    _update(table, _fields(pin))
    files = {name: str(blob or "") for name, blob in pin.files.items()}
    written = cast("_Items", table["files"])
    for gone in [name for name in written if name not in files]:
        del written[gone]
    _update(written, files)
    # tomlkit drops the last newline when it sets the last value.
    return write_if_changed(path, tomlkit.dumps(document).rstrip("\n") + "\n")


def _fields(pin: Pin) -> Mapping[str, str | bool]:
    return {
        "repository": pin.repository,
        "commit": pin.commit,
        "distribution": pin.release.distribution,
        "version": pin.release.version,
        "wheel_sha256": pin.release.sha256,
        "wheel_names_commit": pin.wheel_names_commit,
    }


def _update(table: _Items, values: Mapping[str, str | bool]) -> None:
    for key, value in values.items():
        if table.get(key) != value:
            table[key] = value
