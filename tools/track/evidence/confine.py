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
LARGEST_FILE = 512 * 2**20  # a compiler that dumps into a full file dies; 47 MB is what one dump has taken
PR_SET_PDEATHSIG = 1

# From the Linux headers; the number of the call is the same on every architecture.
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
SYS_MOUNT_SETATTR, MOUNT_ATTR_RDONLY = 442, 1
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
CAPABILITY_VERSION_3 = 0x20080522


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
    """Make this process the leader of its own group, in `work`, with limits and, where that is allowed, shut in.

    Shut in, it has no network and writes nowhere but in `work`; a file `confined` there says that it is.
    """
    os.setsid()
    os.chdir(work)
    os.environ["HOME"] = os.environ["TMPDIR"] = str(work)
    sys.dont_write_bytecode = True  # nothing is left in the kernel's folder
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    if shut_in(work):
        (work / "confined").touch()
    die_with_parent()  # last: a change of namespace may undo it


def shut_in(work: Path) -> bool:
    """Move into new user, network and mount namespaces; return whether the system allowed all of it."""
    user, group = os.getuid(), os.getgid()
    try:
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET | os.CLONE_NEWNS)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        write_only_in(work)
    except (AttributeError, OSError):  # not Linux, or forbidden here: the record says so
        return False
    return True


def write_only_in(work: Path) -> None:
    """Make every mount read-only but that of `work`, and give up the right to undo it; OSError where that fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    place = bytes(work)
    passed(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))  # nothing of this shows outside
    passed(libc.mount(place, place, None, MS_BIND, None))
    set_read_only(libc, b"/", AT_RECURSIVE, to=True)
    set_read_only(libc, place, 0, to=False)
    os.chdir(work)  # the folder that it was in is below the new mount
    passed(libc.capset((ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()))


def set_read_only(libc: ctypes.CDLL, place: bytes, flags: int, *, to: bool) -> None:
    """Set or clear one attribute of the mount at a place: `mount_setattr`, which the C library may have no name for."""
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY if to else 0, 0 if to else MOUNT_ATTR_RDONLY, 0, 0)
    passed(libc.syscall(SYS_MOUNT_SETATTR, AT_FDCWD, place, flags, attributes, ctypes.sizeof(attributes)))


def passed(result: int) -> None:
    """OSError where a call of the C library failed."""
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def die_with_parent() -> None:
    """Ask Linux to kill this process when its parent is gone, so that a killed server leaves nothing behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_group(leader: int) -> None:
    """Kill whatever is left of a child's process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
