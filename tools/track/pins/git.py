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
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from git.cmd import Git
from git.exc import GitCommandError

from track.errors import BadEnvironment, BadInput
from track.pins.lock import Pin

__all__ = ["mirror_address", "read", "tagged"]

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


def read(pin: Pin, scratch: Path, mirror: str | None = None, *, present: bool = False) -> Mapping[str, bytes]:
    """Every pinned file, or with `present` those that the commit has, fetched into the new folder `scratch`.

    The caller removes the folder.

    Errors: BadInput for an absent commit, a path that the commit lacks, or a mirror that is none;
    BadEnvironment where the repository does not answer or does not give its files.
    """
    git, address = _opened(pin, scratch, mirror)
    _run(git, pin, "reach", ["ls-remote", "--quiet", address, "HEAD"], _CONNECT_SECONDS)
    _run(git, pin, "begin", ["init", "--quiet", "--template="])
    _run(git, pin, "begin", ["remote", "add", "origin", address])
    limits = ["--depth=1", "--filter=blob:none", "--no-tags", "--no-recurse-submodules"]
    _run(git, pin, "fetch", ["fetch", "--quiet", *limits, "origin", pin.commit])
    paths = _listed(git, pin)
    if not present:
        _check_listed(pin, paths)
    (scratch / "git" / "info").mkdir(exist_ok=True)
    (scratch / "git" / "info" / "attributes").write_text(_ATTRIBUTES)
    (scratch / "git" / "info" / "sparse-checkout").write_text("".join(f"/{path}\n" for path in paths))
    # The checkout fetches the missing blobs, all at once, in the same environment.
    _run(git, pin, "check out", ["checkout", "--quiet", "--detach", pin.commit])
    return {path: (scratch / "work" / path).read_bytes() for path in paths}


def tagged(pin: Pin, names: Sequence[str], scratch: Path, mirror: str | None = None) -> str | None:
    """The commit of the first of these tags that the repository has, or None; errors as of `read`."""
    git, address = _opened(pin, scratch, mirror)
    asked = [f"refs/tags/{name}{peeled}" for name in names for peeled in ("", "^{}")]
    answer = _run(git, pin, "reach", ["ls-remote", "--quiet", address, *asked], _CONNECT_SECONDS)
    found = {ref: commit for commit, _, ref in (line.partition("\t") for line in answer.splitlines())}
    # An annotated tag is an object of its own; what it stands on has the same name with ^{} behind it.
    return next(
        (found[ref] for name in names for ref in (f"refs/tags/{name}^{{}}", f"refs/tags/{name}") if ref in found), None
    )


def mirror_address(mirror: str) -> str:
    """What git is given for a mirror; BadInput unless that is a folder or an address on this machine."""
    if Path(mirror).is_dir():
        return Path(mirror).resolve().as_uri()
    if mirror.startswith("file:///") or _LOCAL.match(mirror):
        return mirror
    expected = "a folder that is there, file:///..., or http(s):// or git:// at localhost"
    raise BadInput("a mirror must be on this machine", {"expected": expected, "found": repr(mirror)})


def _opened(pin: Pin, scratch: Path, mirror: str | None) -> tuple[Git, str]:
    """A git command that works in `scratch`, and the address that it is to speak to."""
    address = pin.repository if mirror is None else mirror_address(mirror)
    return _repository(scratch, "https" if mirror is None else urlsplit(address).scheme), address


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
        if not said and error.status == -signal.SIGKILL:  # GitPython does not always get to say it
            said = f"no answer within {seconds:g} secs"
        details = {"pin": pin, "commit": pin.commit, "git said": said}
        if verb == "fetch" and any(words in said for words in _ABSENT):
            next_step = f"check the commit of {pin.project} in pins.toml"
            raise BadInput("the repository has no such commit, or does not give it out", details, next_step) from None
        what = f"git could not {verb} {command[2] if verb == 'reach' else pin}"
        raise BadEnvironment(what, details, "check the connection, or run: track sync --from wheel") from None


def _listed(git: Git, pin: Pin) -> list[str]:
    """The pinned paths that are files of the commit, which is one: known before any file is fetched."""
    if _run(git, pin, "look at", ["cat-file", "-t", pin.commit]) != "commit":
        raise BadInput("the pinned id is not a commit", {"pin": pin, "commit": pin.commit})
    listed = _run(git, pin, "list", ["ls-tree", "-r", "--full-tree", pin.commit, "--", *pin.files]).splitlines()
    files = {path for mode, path in (line.split("\t") for line in listed) if mode.startswith("100")}
    return [path for path in pin.files if path in files]


def _check_listed(pin: Pin, paths: Sequence[str]) -> None:
    missing = [path for path in pin.files if path not in paths]
    if missing:
        raise BadInput("the pinned commit lacks pinned files", {"pin": pin, "files": "\n".join(missing)})
