"""The pinned files from git: one commit, shallow, without blobs but those that the pin names.

The one importer of GitPython, and the one place that runs git. What a repository holds is data and nothing more:

- the commit is a full id, the address is https (a mirror: a folder, `file://`, or one on this machine);
- no other protocol is allowed, not even to a redirect, a submodule or a remote helper (`ext::`);
- no configuration, template, hook, attribute or credential helper takes part, whoever wrote it;
- every command has a time limit, and nothing ever asks a question.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from git.cmd import Git
from git.exc import GitCommandError

from track.errors import BadEnvironment, BadInput
from track.pins.lock import Pin

__all__ = ["mirror_address", "read"]

_CONNECT_SECONDS = 10
_FETCH_SECONDS = 300

_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.sparseCheckout": "true",
    # A pinned path that is a symbolic link becomes a file that holds its target: no way out of the folder.
    "core.symlinks": "false",
    "core.autocrlf": "false",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "init.defaultBranch": "none",
    "advice.detachedHead": "false",
    # git has no time-out for a connection that stalls, but gives up one that is slow.
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "20",
}
# The bytes as they were committed, whatever a .gitattributes file in the repository asks for.
_ATTRIBUTES = "* -text -eol -ident -filter -working-tree-encoding\n"
_ABSENT = ("not our ref", "unadvertised object", "remote ref")
_LOCAL = re.compile(r"(https?|git)://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?/")


def read(pin: Pin, scratch: Path, mirror: str | None = None) -> Mapping[str, bytes]:
    """Every pinned file, fetched into the new folder `scratch`, which the caller removes.

    Errors: BadInput for an absent commit, a path that the commit lacks, or a mirror that is none;
    BadEnvironment where the repository does not answer or does not give its files.
    """
    address = pin.repository if mirror is None else mirror_address(mirror)
    git = _repository(scratch, "https" if mirror is None else urlsplit(address).scheme)
    _run(git, pin, "reach", ["ls-remote", "--quiet", address, "HEAD"], _CONNECT_SECONDS)
    _run(git, pin, "begin", ["init", "--quiet", "--template="])
    _run(git, pin, "begin", ["remote", "add", "origin", address])
    limits = ["--depth=1", "--filter=blob:none", "--no-tags", "--no-recurse-submodules"]
    _run(git, pin, "fetch", ["fetch", "--quiet", *limits, "origin", pin.commit])
    _check_listed(git, pin)
    (scratch / "git" / "info").mkdir(exist_ok=True)
    (scratch / "git" / "info" / "attributes").write_text(_ATTRIBUTES)
    (scratch / "git" / "info" / "sparse-checkout").write_text("".join(f"/{path}\n" for path in pin.files))
    # The checkout fetches the missing blobs, all at once, in the same environment.
    _run(git, pin, "check out", ["checkout", "--quiet", "--detach", pin.commit])
    return {path: (scratch / "work" / path).read_bytes() for path in pin.files}


def mirror_address(mirror: str) -> str:
    """What git is given for a mirror; BadInput unless that is a folder or an address on this machine."""
    if Path(mirror).is_dir():
        return Path(mirror).resolve().as_uri()
    if mirror.startswith("file:///") or _LOCAL.match(mirror):
        return mirror
    expected = "a folder that is there, file:///..., or http(s):// or git:// at localhost"
    raise BadInput("a mirror must be on this machine", {"expected": expected, "found": repr(mirror)})


def _repository(scratch: Path, protocol: str) -> Git:
    """A git command that works in `scratch`, speaks one protocol and heeds no setting but ours."""
    scratch = scratch.resolve()  # git works in the folder below, where a relative path would lead elsewhere
    (scratch / "work").mkdir(parents=True)
    environment = {
        "GIT_DIR": str(scratch / "git"),
        "GIT_WORK_TREE": str(scratch / "work"),
        # A git hook that runs us leaves these two pointing into its own repository.
        "GIT_INDEX_FILE": str(scratch / "git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(scratch / "git" / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_PARAMETERS": "",
        "GIT_CONFIG_COUNT": str(len(_CONFIG)),
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": protocol,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
    }
    for place, (key, value) in enumerate(_CONFIG.items()):
        environment |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    git = Git(scratch / "work")
    git.update_environment(**environment)
    return git


def _run(git: Git, pin: Pin, verb: str, command: list[str], seconds: float = _FETCH_SECONDS) -> str:
    try:
        return str(git.execute(["git", *command], kill_after_timeout=seconds))
    except GitCommandError as error:
        said = str(error.stderr).strip().removeprefix("stderr: ").strip("'\n ")
        details = {"pin": pin, "commit": pin.commit, "git said": said}
        if verb == "fetch" and any(words in said for words in _ABSENT):
            next_step = f"check the commit of {pin.project} in pins.toml"
            raise BadInput("the repository has no such commit, or does not give it out", details, next_step) from None
        what = f"git could not {verb} {command[-2] if verb == 'reach' else pin}"
        raise BadEnvironment(what, details, "check the connection, or run: track sync --from wheel") from None


def _check_listed(git: Git, pin: Pin) -> None:
    """The commit is one, and each pinned path is a file of it: known before any file is fetched."""
    if _run(git, pin, "look at", ["cat-file", "-t", pin.commit]) != "commit":
        raise BadInput("the pinned id is not a commit", {"pin": pin, "commit": pin.commit})
    listed = _run(git, pin, "list", ["ls-tree", "-r", "--full-tree", pin.commit, "--", *pin.files]).splitlines()
    files = {path for mode, path in (line.split("\t") for line in listed) if mode.startswith("100")}
    missing = [path for path in pin.files if path not in files]
    if missing:
        raise BadInput("the pinned commit lacks pinned files", {"pin": pin, "files": "\n".join(missing)})
