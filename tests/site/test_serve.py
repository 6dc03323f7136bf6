"""Serving: the page follows a change, and an error does not end it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Generator

import pytest

LIMIT = 3.0
"""Seconds in which a page has to follow a change."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def served(site) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    port = free_port()
    command = site.command("serve", "--port", str(port))
    log = (site.root / "build" / "serve.log").open("w+")
    with (
        log,
        subprocess.Popen(
            command, cwd=site.root, env=site.environment(), stdout=log, stderr=log, start_new_session=True
        ) as server,
    ):
        try:
            yield f"http://localhost:{port}/pages/box.html", server
        finally:
            os.killpg(server.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(timeout=10)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)


def get(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=5) as page:  # noqa: S310 -- a localhost address of our own
            return page.read().decode()
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return ""


def until(url: str, text: str, seconds: float) -> float:
    """How long it took for the page to hold the text."""
    start = time.monotonic()
    while text not in get(url):
        assert time.monotonic() - start < seconds, f"no {text!r} in {seconds} s"
        time.sleep(0.05)
    return time.monotonic() - start


@pytest.mark.alone
@pytest.mark.timeout(180)
def test_the_page_follows_a_change_and_survives_a_mistake(site):
    with served(site) as (url, server):
        until(url, "so a full box stays as it was", 60)
        site.edit("docs/pages/box.md", "so a full box stays as it was", "so nothing is lost")
        until(url, "so nothing is lost", LIMIT)
        site.edit("docs/pages/box.md", "`self.things.append(thing)`", "`gone`")
        log = site.root / "build" / "serve.log"
        start = time.monotonic()
        while "docs/pages/box.md:21" not in log.read_text():
            assert time.monotonic() - start < LIMIT
            time.sleep(0.05)
        assert server.poll() is None
        assert "so nothing is lost" in get(url)
        site.edit("docs/pages/box.md", "`gone`", "`self.things.append(thing)`")
        site.edit("docs/pages/box.md", "so nothing is lost", "so all is well")
        until(url, "so all is well", LIMIT)
