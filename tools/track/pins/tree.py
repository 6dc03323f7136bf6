"""The files of one pin, each proved by its blob id whenever it is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from track.errors import BadInput, Finding, TrackError, raise_all
from track.files import blob_id
from track.pins.lock import Blob, Origin, Pin
from track.spans import Span

__all__ = ["SourceTree", "verify"]


@dataclass(frozen=True)
class SourceTree:
    """A pin whose files lie in `folder`; `kind` says which way they came.

    What the tree says of itself depends on the pin alone, never on `kind`: the same pin makes the same site,
    whether or not the repository could be reached.
    """

    pin: Pin
    kind: Origin
    folder: Path

    @property
    def project(self) -> str:
        """The pin's name in `pins.toml`."""
        return self.pin.project

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that can be read, sorted."""
        return tuple(sorted(path for path in self.pin.files if not self._rewritten(path)))

    def read(self, path: str) -> bytes:
        """The file's bytes; Finding if one of them is not the pin's, BadInput if the file is not pinned."""
        expected = self.pin.blob(path)
        if self._rewritten(path):
            raise BadInput(
                f"{path} can only come from git: a release rewrites it", {"pin": self.pin}, "track sync --from git"
            )
        data = (self.folder / path).read_bytes()
        verify(self.pin, path, expected, data, f"delete build/sources/{self.folder.name}, then run: track sync")
        return data

    def text(self, path: str) -> str:
        """The file as text; Finding if it is not UTF-8."""
        try:
            return self.read(path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise Finding(f"{path} is not UTF-8 text", {"pin": self.pin, "found": error}) from None

    def wording(self, path: str) -> str:
        """What may be claimed of a file's bytes, to follow words such as "unmodified".

        An id read in git is the commit's; one made from a wheel is the release's, and claims no more.
        """
        if self.pin.blob(path).origin == "git":
            return f"file at commit {self.pin.short}"
        said = f"names commit {self.pin.short}" if self.pin.wheel_names_commit else "names no commit"
        return f"bytes of release {self.pin.release.version}, whose wheel {said}"

    def permalink(self, path: str, span: Span | None = None) -> str:
        """The file, or some lines of it, in the repository at the full commit."""
        self.pin.blob(path)
        lines = "" if span is None else f"#L{span.first}-L{span.last}" if span.length > 1 else f"#L{span.first}"
        return f"{self.pin.repository}/blob/{self.pin.commit}/{path}{lines}"

    def check(self) -> None:
        """Read every file once; the errors are raised together."""
        errors: list[TrackError] = []
        for path in self.paths:
            try:
                self.read(path)
            except TrackError as error:
                errors.append(error)
        raise_all(errors)

    def _rewritten(self, path: str) -> bool:
        return self.kind == "wheel" and path == self.pin.version_file


def verify(pin: Pin, path: str, expected: Blob, data: bytes, next_step: str) -> None:
    """Raise a Finding that names both blob ids unless `data` is what the pin says."""
    found = blob_id(data)
    if found != expected.id:
        raise Finding(
            f"{path} is not the file that is pinned",
            {"pin": pin, "expected": f"blob {expected.id} (read from {expected.origin})", "found": f"blob {found}"},
            next_step,
        )
