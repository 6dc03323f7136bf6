"""A whole small checkout: a pinned project in a git repository of its own, pages, a kernel that fails."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
TINY = ROOT / "tests" / "tinysite"
EPOCH = "1700000000"
GIT_IDENTITY = {f"GIT_{who}_{what}": "tiny@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@dataclass(frozen=True)
class Site:
    """A checkout, and `track` run in it."""

    root: Path

    def environment(self, **extra: str) -> Mapping[str, str]:
        kept = {
            k: v for k, v in os.environ.items() if k not in {"GITHUB_REPOSITORY", "GITHUB_SERVER_URL", "TRACK_SITE_URL"}
        }
        tools = self.root if (self.root / "tools").is_dir() else ROOT  # a copy of the project runs its own
        return {**kept, "PYTHONPATH": str(tools / "tools"), "SOURCE_DATE_EPOCH": EPOCH, **extra}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "track.cli", *arguments]

    def track(self, *arguments: str, code: int = 0, **extra: str) -> str:
        """What a command printed; it has to end with `code`."""
        run = subprocess.run(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment(**extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=1400,
        )
        said = run.stdout + run.stderr
        assert run.returncode == code, said
        return said

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace text of a file that has it once."""
        path = self.root / name
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))

    def page(self, name: str = "pages/box.html") -> str:
        return (self.root / "build" / "site" / name).read_text()

    def files(self) -> dict[str, bytes]:
        """Every file of the built site."""
        site = self.root / "build" / "site"
        return {p.relative_to(site).as_posix(): p.read_bytes() for p in sorted(site.rglob("*")) if p.is_file()}


def git(folder: Path, *arguments: str) -> str:
    """What git printed, with no configuration but ours."""
    environment = {**os.environ, **GIT_IDENTITY, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    run = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A bare repository with the tiny project, and its only commit."""
    work = tmp_path_factory.mktemp("upstream") / "work"
    shutil.copytree(TINY / "source", work)
    git(work, "init", "--quiet")
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message", "tiny")
    bare = work.with_name("tiny.git")
    git(work, "clone", "--quiet", "--bare", str(work), str(bare))
    for name in ("allowFilter", "allowAnySHA1InWant"):
        git(bare, "config", f"uploadpack.{name}", "true")
    return bare, git(work, "rev-parse", "HEAD")


@pytest.fixture(scope="session")
def make_site(upstream: tuple[Path, str]) -> Callable[[Path], Site]:
    """Makes a checkout whose sources are there and whose site is not built."""
    bare, commit = upstream

    def make(root: Path) -> Site:
        for name in ("docs", "mkdocs.yml", "kernels"):
            place = TINY / name
            (shutil.copytree if place.is_dir() else shutil.copy)(place, root / name)
        (root / "docs" / "assets").mkdir()
        for asset in (*(ROOT / "docs" / "assets").glob("*.css"), *(ROOT / "docs" / "assets").glob("*.js")):
            shutil.copy(asset, root / "docs" / "assets")
        for name in ("__init__.py", "contract.py"):
            shutil.copy(ROOT / "kernels" / name, root / "kernels")
        blobs = {path: git(bare, "rev-parse", f"{commit}:{path}") for path in ("LICENSE", "tiny/box.py")}
        (root / "pins.toml").write_text(pins(commit, blobs))
        site = Site(root)
        site.track("sync", "--from", "git", "--mirror", str(bare))
        return site

    return make


def pins(commit: str, blobs: Mapping[str, str]) -> str:
    """A pins file for the tiny project."""
    rows = "\n".join(f'"{path}" = "git:{blob}"' for path, blob in blobs.items())
    return (
        '[tiny]\nrepository = "https://github.com/tiny/tiny"\n'
        f'commit = "{commit}"\ndistribution = "tiny"\nversion = "1.0"\nwheel_sha256 = "{"0" * 64}"\n'
        f"wheel_names_commit = false\n\n[tiny.files]\n{rows}\n"
    )


@pytest.fixture
def site(make_site: Callable[[Path], Site], tmp_path: Path) -> Site:
    """A fresh checkout."""
    (tmp_path / "checkout").mkdir()
    return make_site(tmp_path / "checkout")


@pytest.fixture(scope="module")
def built(make_site: Callable[[Path], Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A checkout whose site is built; tests only read it."""
    made = make_site(tmp_path_factory.mktemp("built"))
    made.track("build")
    return made


@pytest.fixture(scope="module")
def copied() -> Callable[..., Site]:
    """Copies this project's files, without git and without anything that was built but the wheels.

    With `known`, what is known of the kernels goes along.
    """

    def copy(root: Path, *, known: bool = False) -> Site:
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        for name in (name for name in listed if name and (ROOT / name).is_file()):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        for name in ("wheels", "evidence") if known else ("wheels",):
            shutil.copytree(ROOT / "build" / name, root / "build" / name)
        return Site(root)

    return copy


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 -- the name in the base class
        """Keep the test's output clean."""


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[[Path], str]]:
    """Serves a folder on localhost until the module's tests are done; gives its address."""
    running: list[http.server.ThreadingHTTPServer] = []

    def start(folder: Path) -> str:
        server = http.server.ThreadingHTTPServer(("localhost", 0), functools.partial(Quiet, directory=str(folder)))
        running.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://localhost:{server.server_port}"

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A headless Chromium that calls nobody."""
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        environment: dict[str, str | float | bool] = {**os.environ, "HOME": home}
        found = playwright.chromium.launch(
            executable_path=chromium, args=[*flags, "--disable-sync", "--no-first-run"], env=environment
        )
        yield found
        found.close()


def contrast(ink, paper):
    """The WCAG 2 contrast of two sRGB colors."""
    light, dark = sorted((luminance(ink), luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color):
    parts = [c / 255 for c in color]
    red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
