"""The git way brings the pinned bytes of one commit, and nothing that a repository holds can act."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from track.errors import BadEnvironment, BadInput
from track.pins import git as under_test
from track.pins.lock import Pin
from track.pins.sync import sync

if TYPE_CHECKING:
    from .conftest import Small

type Git = Callable[..., str]

A = b"a = 1\n"


def read(pin: Pin, folder: Path, mirror: Path | str) -> Mapping[str, bytes]:
    return under_test.read(pin, folder / "scratch", str(mirror))


def test_only_the_pinned_files_come(small: Small, tmp_path: Path, git: Git) -> None:
    """One commit without history, and of its blobs only those that the pin names."""
    pin = small.publish()
    assert read(pin, tmp_path, small.folder) == {"pkg/a.py": A}
    objects = git(tmp_path, "-C", "scratch/git", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)")
    assert sorted(objects.split()) == ["blob", "commit", "tree", "tree"]
    assert [path.name for path in (tmp_path / "scratch" / "work" / "pkg").iterdir()] == ["a.py"]


@pytest.mark.parametrize("shape", ["folder", "file"])
def test_a_mirror_may_be_a_folder_or_a_file_address(small: Small, tmp_path: Path, shape: str) -> None:
    """Both are the same repository on this machine."""
    pin = small.publish()
    assert read(pin, tmp_path, small.folder if shape == "folder" else small.folder.as_uri()) == {"pkg/a.py": A}


@pytest.mark.parametrize(
    "mirror",
    [
        "ext::sh -c touch% {canary}",
        "ext://sh -c touch% {canary}",
        "file::/srv/jax",
        "file:relative",
        "file://elsewhere/srv/jax",
        "ssh://localhost/srv/jax",
        "git@localhost:srv/jax",
        "https://github.com/jax-ml/jax",
        "http://localhost.example.org/jax",
        "http://user@localhost/jax",
        "--upload-pack=touch {canary}",
        "no/such/folder",
        "http://[::1",
    ],
)
def test_any_other_mirror_is_refused(small: Small, tmp_path: Path, mirror: str) -> None:
    """A mirror is on this machine, and git is not even asked about one that is not."""
    canary = tmp_path / "canary"
    with pytest.raises(BadInput, match="must be on this machine"):
        read(small.publish(), tmp_path, mirror.format(canary=canary))
    assert not canary.exists()


@pytest.mark.parametrize("mirror", ["http://localhost:8000/jax", "git://127.0.0.1/jax", "https://[::1]:8443/jax"])
def test_an_address_on_this_machine_is_a_mirror(mirror: str) -> None:
    """It is given to git as it is."""
    assert under_test.mirror_address(mirror) == mirror


def test_a_remote_helper_in_a_pin_never_runs(small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pins.toml` refuses such a repository; were it let through, git would not run it, even where a person lets it."""
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext:https")
    canary = tmp_path / "canary"
    pin = msgspec.structs.replace(small.publish(), repository=f"ext::touch {canary}")
    with pytest.raises(BadEnvironment):
        under_test.read(pin, tmp_path / "scratch")
    assert not canary.exists()


def test_an_absent_commit_is_an_error_that_names_it(small: Small, tmp_path: Path) -> None:
    """Full, hexadecimal, and of no object in the repository."""
    pin = msgspec.structs.replace(small.publish(), commit="0" * 39 + "1")
    with pytest.raises(BadInput, match="no such commit") as caught:
        read(pin, tmp_path, small.folder)
    assert caught.value.details["commit"] == pin.commit


def test_an_id_of_something_else_is_no_commit(small: Small, tmp_path: Path, git: Git) -> None:
    """The id of a tree is 40 hex digits too."""
    small.publish()
    pin = msgspec.structs.replace(small.pin, commit=git(small.work, "rev-parse", "HEAD^{tree}"))
    with pytest.raises(BadInput, match="not a commit"):
        read(pin, tmp_path, small.folder)


def test_a_path_that_the_commit_lacks_is_named(small: Small, tmp_path: Path) -> None:
    """Before any file is fetched."""
    pin = small.publish()
    files = {**pin.files, "pkg/gone.py": pin.files["pkg/a.py"]}
    with pytest.raises(BadInput, match="lacks pinned files") as caught:
        read(msgspec.structs.replace(pin, files=files), tmp_path, small.folder)
    assert caught.value.details["files"] == "pkg/gone.py"


def test_no_hook_runs(small: Small, tmp_path: Path) -> None:
    """Neither one in the mirror, nor one that a template of this machine would install."""
    pin = small.publish()
    canary = tmp_path / "canary"
    for name in ("post-checkout", "pre-receive", "reference-transaction", "post-index-change", "pre-auto-gc"):
        hook = small.folder / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
        hook.chmod(0o755)
    read(pin, tmp_path, small.folder)
    assert not canary.exists()


def test_no_setting_of_the_machine_takes_part(
    small: Small, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a person's configuration, nor what a git hook that runs us has put into the environment."""
    pin = small.publish()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(elsewhere, "init", "--quiet")
    before = sorted(elsewhere.rglob("*"))
    canary = tmp_path / "canary"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {canary}\n")
    (hooks / "post-checkout").chmod(0o755)
    (tmp_path / "gitconfig").write_text(f'[core]\n\thooksPath = {hooks}\n[url "/nowhere/"]\n\tinsteadOf = file:///\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.hooksPath={hooks}'")
    for name, part in (("GIT_DIR", ""), ("GIT_INDEX_FILE", "index"), ("GIT_OBJECT_DIRECTORY", "objects")):
        monkeypatch.setenv(name, str(elsewhere / ".git" / part))
    assert read(pin, tmp_path, small.folder) == {"pkg/a.py": A}
    assert not canary.exists()
    assert sorted(elsewhere.rglob("*")) == before


def test_a_submodule_is_ignored(small: Small, tmp_path: Path, git: Git) -> None:
    """Its address is never asked, and its folder stays out."""
    address = f"ext::touch {tmp_path / 'canary'}"
    (small.work / ".gitmodules").write_text(f'[submodule "sub"]\n\tpath = sub\n\turl = {address}\n')
    git(small.work, "add", ".gitmodules")
    git(small.work, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    assert read(small.publish(), tmp_path, small.folder) == {"pkg/a.py": A}
    assert not (tmp_path / "scratch" / "work" / "sub").exists()
    assert not (tmp_path / "canary").exists()


def test_attributes_of_the_repository_change_no_byte(small: Small, tmp_path: Path, git: Git) -> None:
    """Line ends and keywords come as they were committed."""
    (small.work / "pkg" / "a.py").write_bytes(b"# $Id$\na = 1\n")
    git(small.work, "add", "pkg/a.py")
    (small.work / ".gitattributes").write_text("*.py text eol=crlf ident\n")
    git(small.work, "add", ".gitattributes")
    assert read(small.publish(), tmp_path, small.folder) == {"pkg/a.py": b"# $Id$\na = 1\n"}


def test_a_symbolic_link_is_no_file(small: Small, tmp_path: Path, git: Git) -> None:
    """A pinned path that is a link in the commit leads nowhere."""
    (small.work / "pkg" / "a.py").unlink()
    (small.work / "pkg" / "a.py").symlink_to("/etc/hostname")
    git(small.work, "add", "pkg/a.py")
    with pytest.raises(BadInput, match="lacks pinned files"):
        read(small.publish(), tmp_path, small.folder)


@pytest.fixture
def deaf_server() -> Iterator[int]:
    """The port of a server on this machine that takes a connection and never says a word."""
    code = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        server.kill()


def test_a_server_that_never_answers_is_left(
    small: Small, tmp_path: Path, deaf_server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time limit ends the wait, and the error says so."""
    monkeypatch.setattr(under_test, "_CONNECT_SECONDS", 0.5)
    with pytest.raises(BadEnvironment, match="could not reach") as caught:
        read(small.publish(), tmp_path, f"http://127.0.0.1:{deaf_server}/jax")
    assert "0.5 secs" in caught.value.details["git said"]


def test_a_mirror_that_lacks_a_blob_is_an_error_and_leaves_nothing(small: Small, tmp_path: Path) -> None:
    """What git said is shown; no half tree is made."""
    pin = small.publish()
    blob = pin.blob("pkg/a.py").id
    (small.folder / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(BadEnvironment) as caught:
        sync(tmp_path, {"tokamax": pin}, "git", str(small.folder))
    assert blob in caught.value.details["git said"] or "not our ref" in caught.value.details["git said"]
    assert [path.name for path in (tmp_path / "build" / "sources").iterdir()] == [".lock"]
