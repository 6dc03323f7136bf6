"""What the package index offers today: the wheel of a version, or of the newest one, whose hash nobody knows yet."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from track.errors import BadEnvironment, BadInput, TrackError
from track.pins.lock import Release
from track.pins.progress import Progress
from track.pins.wheel import pip_download, said_in_short, sha256_of

__all__ = ["download"]

_NEAR = 6  # of the versions that exist, an error names so many
_OFFERED = re.compile(r"\(from versions: (?P<versions>[^)]*)\)")
_YANKED = re.compile(
    r"^WARNING: The candidate selected .* yanked version.*\n?.*?being yanked: (?P<reason>.*)$", re.MULTILINE
)


def download(distribution: str, version: str | None, folder: Path, progress: Progress) -> Release:
    """Bring the wheel of a version, or of the newest one where it is None, into `folder`, and say which it is.

    pip checks the bytes against the index; they lie under their own name only when all of them are there.

    Errors: BadInput for a version that the index does not have or has taken back (yanked), BadEnvironment where
    there is no index, no answer or no space.
    """
    asked = distribution if version is None else f"{distribution}=={version}"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as partial:
        with progress.busy(f"asking the package index for {asked.replace('==', ' ')}"):
            warnings = _brought(distribution, version, asked, Path(partial))
        if taken_back := _YANKED.search(warnings):
            reason = taken_back["reason"].strip()
            raise BadInput(
                f"{asked.replace('==', ' ')} was yanked: its makers took it back",
                {"reason": "none given" if reason in {"", "<none given>"} else reason},
                "name another version",
            )
        (got,) = Path(partial).glob("*.whl")
        release = Release(distribution, str(parse_wheel_filename(got.name)[1]), sha256_of(got))
        got.replace(folder / got.name)
        return release


def _brought(distribution: str, version: str | None, asked: str, folder: Path) -> str:
    try:
        return pip_download(folder, asked)
    except subprocess.CalledProcessError as error:
        raise _failure(distribution, version, error.stderr) from None
    except subprocess.TimeoutExpired as error:
        raise _failure(distribution, version, f"no answer within {error.timeout:g} seconds") from None


def _failure(distribution: str, version: str | None, said: str) -> TrackError:
    listed = _OFFERED.search(said)
    offered = [] if listed is None or listed["versions"] == "none" else listed["versions"].split(", ")
    if version is not None and offered:
        return BadInput(
            f"the package index has no {distribution} {version} for this Python",
            {"expected": f"{', '.join(_near(offered, version))}, or another that is there", "found": version},
            f"all of them: pip index versions {distribution}",
        )
    what = f"{distribution} {version or '(the newest)'} could not be had from the package index"
    full = "No space left on device" in said
    next_step = "free some space" if full else "check the connection"
    return BadEnvironment(what, {"pip said": said_in_short(said)}, f"{next_step}, then run the same command again")


def _near(offered: list[str], version: str) -> list[str]:
    """The versions around the one that was asked for, in order."""
    known = sorted(map(Version, offered))
    place = sum(one < Version(version) for one in known)
    first = max(0, min(place - _NEAR // 2, len(known) - _NEAR))
    return [str(one) for one in known[first : first + _NEAR]]
