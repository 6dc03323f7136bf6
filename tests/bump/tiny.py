"""A small project with releases of its own, and a package index on this machine that offers them."""

from __future__ import annotations

import functools
import hashlib
import http.server
import threading
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from track.files import blob_id
from track.pins.lock import Blob, Pin, Release

FILES = {"tiny/a.py": b"a = 1\n", "tiny/sub/b.py": b"b = 1\n"}
COMMIT = "1" * 40


def metadata(version: str, asks: tuple[str, ...] = ()) -> str:
    asked = "".join(f"Requires-Dist: {one}\n" for one in asks)
    return f"Metadata-Version: 2.4\nName: tiny\nVersion: {version}\n{asked}"


def make_wheel(
    folder: Path, version: str, files: Mapping[str, bytes], commit: str | None = None, asks: tuple[str, ...] = ()
) -> Path:
    """A wheel that pip takes, whose `tiny/version.py` names the commit."""
    path = folder / f"tiny-{version}-py3-none-any.whl"
    info = f"tiny-{version}.dist-info"
    held = {
        **files,
        "tiny/version.py": f"_git_hash = {commit!r}\n".encode(),
        f"{info}/METADATA": metadata(version, asks).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in held.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.writestr(
            zipfile.ZipInfo(f"{info}/RECORD"), "".join(f"{name},,\n" for name in (*held, f"{info}/RECORD"))
        )
    return path


def release(path: Path) -> Release:
    return Release("tiny", path.name.split("-")[1], hashlib.sha256(path.read_bytes()).hexdigest())


def pin_of(path: Path, commit: str, files: Mapping[str, bytes] = FILES) -> Pin:
    """The pin of a wheel that names the commit."""
    ids = {name: Blob("wheel", blob_id(data)) for name, data in files.items()}
    return Pin("tiny", "https://localhost/tiny", commit, release(path), wheel_names_commit=True, files=ids)


@dataclass
class Index:
    """What `/simple/tiny/` lists: the wheels of a folder, some of them yanked. `cut` serves halves, `slow` hangs."""

    folder: Path
    yanked: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    slow: threading.Event | None = None
    asked: list[str] = field(default_factory=list)
    server: http.server.ThreadingHTTPServer | None = None

    def page(self) -> bytes:
        lines: list[str] = []
        for path in sorted(self.folder.glob("*.whl")):
            sha = hashlib.sha256(path.read_bytes()).hexdigest()
            reason = self.yanked.get(path.name.split("-")[1])
            taken_back = "" if reason is None else f' data-yanked="{reason}"'
            lines.append(f'<a href="/files/{path.name}#sha256={sha}"{taken_back}>{path.name}</a>')
        return f"<!DOCTYPE html><html><body>{''.join(lines)}</body></html>".encode()

    def start(self) -> str:
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, self))
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}/simple"

    def stop(self) -> None:
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers for an index."""

    def __init__(self, index: Index, *arguments: object) -> None:
        self.index = index
        super().__init__(*arguments)  # pyright: ignore[reportArgumentType]

    def do_GET(self) -> None:
        self.index.asked.append(self.path)
        if self.path.startswith("/files/"):
            self.send((self.index.folder / self.path.removeprefix("/files/")).read_bytes(), "application/zip")
        elif self.path.rstrip("/") == "/simple/tiny":
            self.send(self.index.page(), "text/html")
        else:
            self.send_error(404)

    do_HEAD = do_GET  # noqa: N815  as the base class names it

    def send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "HEAD":
            return
        whole = kind == "text/html" or not (self.index.cut or self.index.slow)
        self.wfile.write(data if whole else data[: len(data) // 2])
        if not whole and self.index.slow:
            self.wfile.flush()
            self.index.slow.wait()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  as the base class names it
        """Stay quiet."""
