"""What a child process may see and use, and how its leftovers are ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["child_environment", "confine", "end_group"]

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
LARGEST_FILE = 64 * 2**20
PR_SET_PDEATHSIG = 1


def child_environment(outer: Mapping[str, str], home: Path) -> dict[str, str]:
    """The environment of the server and its children: a short allow-list, and what makes runs alike."""
    return {
        **{name: outer[name] for name in PASSED_ON if name in outer},
        "HOME": str(home),
        "TMPDIR": str(home),
        "JAX_PLATFORMS": "cpu",
        "JAX_TRACEBACK_FILTERING": "off",  # the frames decide whether jax or the kernel raised
        "TPU_SKIP_MDS_QUERY": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }


def confine(work: Path) -> None:
    """Make this process the leader of its own group, in `work`, with limits and, where that is allowed, no network."""
    os.setsid()
    os.chdir(work)
    os.environ["HOME"] = os.environ["TMPDIR"] = str(work)
    sys.dont_write_bytecode = True  # nothing is left in the kernel's folder
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    if leave_network():
        (work / "confined").touch()
    die_with_parent()  # last: a change of namespace may undo it


def leave_network() -> bool:
    """Move into a new user and network namespace, which has no way out; return whether the system allowed it."""
    user, group = os.getuid(), os.getgid()
    try:
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
    except (AttributeError, OSError):  # not Linux, or forbidden here: the record says so
        return False
    with contextlib.suppress(OSError):  # only the names of the user and group are at stake
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def die_with_parent() -> None:
    """Ask Linux to kill this process when its parent is gone, so that a killed server leaves nothing behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_group(leader: int) -> None:
    """Kill whatever is left of a child's process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
