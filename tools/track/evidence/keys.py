"""Under which name a result is kept: a hash of everything that could change it.

The kernel's folder, the contract, our own code that runs in the child, the pins, the package versions and the job.
Our code is followed import by import, so no new helper can be forgotten here. The table of lanes is not followed: a
lane's own line is in its keys, so that a new lane leaves other lanes' keys as they are.
"""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from track.evidence import lanes
from track.evidence.record import Job
from track.files import digest

__all__ = ["key_of", "task_module", "topics_in", "versions"]

PACKAGES = ("jax", "jaxlib", "numpy")
TOOLS = Path(__file__).resolve().parents[2]
UNREAD = {"__pycache__", "records"}
NOT_FOLLOWED = {"track.evidence", "track.evidence.lanes"}
TASKS = {
    "list": "track.evidence.topics",
    "predicates": "track.evidence.predicates",
    "grid": "track.evidence.grids",
    "peaks": "track.evidence.peaks",
}


@functools.cache
def versions(lane: str = "") -> dict[str, str]:
    """The versions that a record names: jax, what else the lane needs as far as it is installed, and the Python."""
    wanted = (*PACKAGES, *(lanes.LANES[lane].packages if lane else ()))
    gone = lanes.missing(wanted)
    found = {package: importlib.metadata.version(package) for package in wanted if package not in gone}
    return {**found, "python": f"{sys.version_info.major}.{sys.version_info.minor}"}


def topics_in(root: Path) -> list[str]:
    """The folders of `kernels/` that have cases, in order."""
    return sorted(cases.parent.name for cases in (root / "kernels").glob("*/cases.py"))


def key_of(job: Job, pins: Mapping[str, str], topics: dict[str, str] | None = None) -> str:
    """The name of the job's result; equal keys mean equal results.

    `topics` remembers the hashes of topics between calls, for as long as their files are taken to stay as they are.
    """
    topics = {} if topics is None else topics
    if job.topic not in topics:
        topics[job.topic] = topic_digest(Path(job.root), job.topic)
    facts = [f"{name}={value}" for source in (versions(job.lane), pins) for name, value in sorted(source.items())]
    names = [job.task, job.topic, job.kernel, job.case, job.lane, job.target]
    line = msgspec.json.encode(msgspec.structs.replace(lanes.LANES[job.lane], targets=())) if job.lane else b""
    return digest(*names, *facts, line, code_digest(task_module(job)), topics[job.topic])


def task_module(job: Job) -> str:
    """The module that does the job in the child."""
    return lanes.LANES[job.lane].module if job.task == "judge" else TASKS[job.task]


def topic_digest(root: Path, topic: str) -> str:
    """A hash of the names and bytes of the topic's files and of what all topics share; empty for no topic."""
    if not topic:
        return ""
    shared = sorted((root / "kernels").glob("*.py"))
    own = sorted(path for path in (root / "kernels" / topic).rglob("*") if path.is_file())
    read = [path for path in (*shared, *own) if not UNREAD & set(path.relative_to(root).parts)]
    return digest(*(part for path in read for part in (path.relative_to(root).as_posix(), path.read_bytes())))


@functools.cache
def code_digest(module: str) -> str:
    """A hash of the source of the server, of `module`, and of everything of ours that they import."""
    found: dict[str, bytes] = {}
    waiting = ["track.evidence.server", module]
    while waiting:
        name = waiting.pop()
        path = module_path(name)
        if name not in found and path is not None and name not in NOT_FOLLOWED:
            stat = path.stat()
            found[name], imported = read(path, stat.st_mtime_ns, stat.st_size)
            waiting += imported
    return digest(*(part for name in sorted(found) for part in (name, found[name])))


@functools.cache
def read(path: Path, changed: int, size: int) -> tuple[bytes, tuple[str, ...]]:
    """A source and what it may import, read and parsed once for as long as its time and size stay."""
    source = path.read_bytes()
    return source, tuple(imports_of(source))


def imports_of(source: bytes) -> Iterator[str]:
    """The modules of ours that a source may import, by `import a.b` or `from a import b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("track"):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("track"))


def module_path(name: str) -> Path | None:
    """The file of a module of ours, or None where the name is of something inside a module."""
    base = TOOLS.joinpath(*name.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
