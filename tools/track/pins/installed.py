"""The installed package against the pin, file by file: what is read is what runs."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from track.errors import BadEnvironment
from track.files import blob_id
from track.pins.lock import Pin
from track.pins.wheel import inside

__all__ = ["differing"]


def differing(pin: Pin) -> list[str]:
    """The pinned paths whose installed bytes are absent or other than the pin's, sorted.

    BadEnvironment if the pinned release is not the one that is installed.
    """
    distribution = _distribution(pin)
    return sorted(path for path, blob in pin.files.items() if blob and not _same(distribution, pin, path, blob.id))


def _distribution(pin: Pin) -> metadata.Distribution:
    release = pin.release
    try:
        distribution = metadata.distribution(release.distribution)
    except metadata.PackageNotFoundError:
        raise BadEnvironment(f"{release} is not installed", {"pin": pin}, "make site") from None
    if distribution.version != release.version:
        details = {"pin": pin, "expected": release.version, "found": distribution.version}
        raise BadEnvironment(f"another release of {release.distribution} is installed", details, "make site")
    return distribution


def _same(distribution: metadata.Distribution, pin: Pin, path: str, expected: str) -> bool:
    if path == pin.version_file:
        return True  # a release rewrites it: there is nothing to compare
    place = Path(str(distribution.locate_file(inside(pin.release, path))))
    return place.is_file() and blob_id(place.read_bytes()) == expected
