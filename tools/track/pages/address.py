"""Where the repository lives, if that is known: from the environment of a GitHub workflow, or from git's remote."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

__all__ = ["address"]

_REMOTE = re.compile(
    r"(?:https://(?:[^@/]+@)?|git@|ssh://git@)(?P<host>github\.com|gitlab\.com|codeberg\.org)[:/](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?"
)


def address(root: Path) -> dict[str, str]:
    """Environment variables for mkdocs.yml: repository and edit address together, or neither."""
    url = _from_workflow() or _from_remote(root)
    if not url:
        return {}
    site = os.environ.get("TRACK_SITE_URL", "")
    found = {"TRACK_REPO_URL": url, "TRACK_EDIT_URI": "edit/main/docs/"}
    return {**found, "TRACK_SITE_URL": site} if site else found


def _from_workflow() -> str:
    name = os.environ.get("GITHUB_REPOSITORY", "")
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    return f"{server}/{name}" if name else ""


def _from_remote(root: Path) -> str:
    """The remote named origin, where it is a public host; a folder or an unknown server is no address for readers."""
    if shutil.which("git") is None:
        return ""
    command = ["git", "-C", str(root), "config", "--get", "remote.origin.url"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = _REMOTE.fullmatch(run.stdout.strip())
    return f"https://{found['host']}/{found['name']}" if found else ""
