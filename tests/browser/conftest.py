"""The real site, built from a copy of this project, and served; and which page is which kind."""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import override

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.site.conftest import Quiet, Site, browser, copied, serve

__all__ = ["browser", "copied", "serve"]  # fixtures, found by name

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 375, "height": 812}
LINE = re.compile(r"""\sid=["']?L\d+\b""")


@pytest.fixture(scope="module")
def real(copied: Callable[..., Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site of a copy of this project, with what is known of its kernels."""
    site = copied(tmp_path_factory.mktemp("browser") / "checkout", known=True)
    site.track("build")
    return site


@pytest.fixture(scope="module")
def folder(real: Site) -> Path:
    return real.root / "build" / "site"


@pytest.fixture(scope="module")
def url(folder: Path, serve: Callable[[Path], str]) -> str:
    return serve(folder)


@pytest.fixture(scope="module")
def pages(folder: Path) -> Mapping[str, str]:
    """Every page but the one for errors, whose links count from a server's root."""
    found = {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.html"))}
    del found["404.html"]
    return found


@pytest.fixture(scope="module")
def largest(pages: Mapping[str, str]) -> str:
    """The page with the most lines of source."""
    return max(pages, key=lambda name: len(LINE.findall(pages[name])))


@pytest.fixture(scope="module")
def kinds(pages: Mapping[str, str], largest: str) -> Mapping[str, str]:
    """A page of each kind: the largest of source, the annotated one that came first, and the usual others."""
    api = sorted(name for name in pages if name.startswith("reference/api/")) or ["reference/tools.html"]
    return {
        "front": "index.html",
        "annotated": "tpu/pipeline.html",
        "source": largest,
        "article": "kernels/relu.html",
        "reference": "reference/glossary.html",
        "API": api[0],
    }


class Gzipped(Quiet):
    """Serves text as hosts of static sites do: compressed, over connections that stay open."""

    protocol_version = "HTTP/1.1"

    @override
    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix not in {".css", ".html", ".js", ".json", ".svg"} or not path.is_file():
            super().do_GET()
            return
        data = gzip.compress(path.read_bytes(), mtime=0)
        self.send_response(200)
        for name, value in (
            ("Content-Type", self.guess_type(str(path))),
            ("Content-Encoding", "gzip"),
            ("Content-Length", str(len(data))),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture(scope="module")
def serve_gzipped() -> Iterator[Callable[[Path], str]]:
    """Serves a folder as `serve` does, compressed."""
    with contextlib.ExitStack() as stack:

        def start(folder: Path) -> str:
            handler = functools.partial(Gzipped, directory=str(folder))
            server = stack.enter_context(http.server.ThreadingHTTPServer(("localhost", 0), handler))
            stack.callback(server.shutdown)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            return f"http://localhost:{server.server_port}"

        yield start


class Watched:
    """Opens pages, and keeps what went wrong: console messages, errors, and requests to another place."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.contexts: list[BrowserContext] = []
        self.wrong: list[str] = []

    def open(self, address: str, size: dict[str, int] = WIDE, scheme: str = "light", home: str = "") -> Page:
        """A page in a context of its own; whatever it asks for has to begin with `home`, else with its own origin."""
        allowed = (home or "/".join(address.split("/")[:3]), "data:")
        context = self.browser.new_context(viewport=size, color_scheme=scheme)  # pyright: ignore[reportArgumentType]
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: self.note(said.type in {"error", "warning"}, f"{address}: {said.text}"))
        page.on("pageerror", lambda error: self.note(found=True, text=f"{address}: {error}"))
        context.on("request", lambda sent: self.note(not sent.url.startswith(allowed), f"{address} asked {sent.url}"))
        page.goto(address)
        return page

    def note(self, found: bool, text: str) -> None:  # noqa: FBT001 -- called with a comparison
        if found:
            self.wrong.append(text)

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        self.contexts.clear()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """Opens pages; the test fails if one of them said an error or asked another host for something."""
    opened = Watched(browser)
    yield opened
    opened.close()
    assert opened.wrong == []
