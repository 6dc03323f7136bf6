"""Lane `h200`: the kernel on an NVIDIA H200, its numbers compared and its time taken.

Run it on such a machine, in a checkout, with nothing installed but `jax[cuda13]` of the pinned version and msgspec:

    PYTHONPATH=tools python -m track.evidence.lanes.h200 TOPIC...

It writes `kernels/TOPIC/records/KERNEL-h200-H200.json`, which is committed: the site shows that and runs nothing.
Each kernel has a process of its own, because one that breaks the GPU's context breaks it for all that come after it.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.mosaic.gpu import profiler
from msgspec.structs import replace

from track.errors import BadEnvironment, BadInput, TrackError
from track.evidence import child, committed, keys, topics, useful_work
from track.evidence.lanes.compare import verdict_on, widened
from track.evidence.record import Record, Timing, Verdict
from track.evidence.texts import fault_of
from track.pins import lock

if TYPE_CHECKING:
    from kernels.contract import Case, Kernel

__all__ = ["judge", "main", "timed"]

LANE, TARGET = "h200", "H200"
WARM_UP, RUNS = 10, 20
LIMIT = 300.0  # seconds for one kernel with all its cases


def judge(kernel: Kernel, case: Case, target: str) -> Verdict:
    """Run the kernel on this machine's GPU, compare its numbers with the reference, and take its time."""
    check_machine(target)
    inputs = [jnp.asarray(array) for array in case.inputs()]
    run = jax.jit(functools.partial(kernel.function, interpret=False)).lower(*inputs).compile()
    found = np.asarray(run(*inputs))
    flops, uncounted = useful(kernel, case)
    moved = sum(array.nbytes for array in inputs) + found.nbytes
    verdict = verdict_on(kernel, case, found)
    timing = timed(run, inputs, flops, moved)
    reason = "; ".join(filter(None, (verdict.reason, uncounted)))
    return replace(verdict, reason=reason, measures=replace(verdict.measures, timing=timing))


def check_machine(target: str) -> None:
    """BadEnvironment where jax runs on anything but the target."""
    kind = jax.devices()[0].device_kind
    if target not in kind:
        raise BadEnvironment(
            "this lane measures a chip that is not here", {"expected": f"an NVIDIA {target}", "found": kind}
        )


def useful(kernel: Kernel, case: Case) -> tuple[int, str]:
    """The floating-point operations that the answer takes, or 0 and why they cannot be told."""
    try:
        return useful_work.flops_of(kernel.reference, [widened(array) for array in case.inputs()]), ""
    except useful_work.Uncountable as error:
        return 0, str(error)


def timed(run: Any, inputs: list[jax.Array], flops: int, moved: int) -> Timing:
    """The time of `RUNS` calls after a warm-up: what CUPTI says that all the kernels of a call took on the device.

    The calls follow each other at once, on the same inputs: what fits in the L2 cache is found there.
    """
    for _ in range(WARM_UP):
        jax.block_until_ready(run(*inputs))
    try:
        _, milliseconds = profiler.measure(run, iterations=RUNS)(*inputs)
    except Exception as error:
        raise RuntimeError(f"the kernel runs, but its time could not be taken: {error}") from error
    if not milliseconds:
        raise RuntimeError("CUPTI saw no kernel run")
    seconds = [one / 1000 for one in milliseconds]
    return Timing(statistics.median(seconds), RUNS, flops, moved, min(seconds), max(seconds))


def main(arguments: list[str]) -> int:
    """Measure the kernels of each TOPIC, or one TOPIC/KERNEL in this process; 1 where one is not `ok`."""
    root = Path.cwd()
    failed = 0
    for argument in arguments:
        topic, _, name = argument.partition("/")
        if topic not in keys.topics_in(root):
            raise BadInput(f"no topic is called {topic!r}", {"topics": ", ".join(keys.topics_in(root))})
        failed += measured(root, topic, name) if name else each(root, topic)
    return min(failed, 1)


def each(root: Path, topic: str) -> int:
    """Measure each kernel of a topic that asks for this lane in a process of its own; how many were not `ok`."""
    jax.config.update("jax_platforms", "cpu")  # the GPU is for those
    names = [kernel.name for kernel in topics.load(root, topic) if LANE in kernel.lanes]
    commands = [[sys.executable, "-m", "track.evidence.lanes.h200", f"{topic}/{name}"] for name in names]
    return sum(not succeeded(command) for command in commands)


def succeeded(command: list[str]) -> bool:
    """Run a command within the limit; whether it was content."""
    try:
        return not subprocess.run(command, check=False, timeout=LIMIT).returncode
    except subprocess.TimeoutExpired:
        sys.stderr.write(f"{command[-1]}: still running after {LIMIT:g} s, not written\n")
        return False


def measured(root: Path, topic: str, name: str) -> int:
    """Judge one kernel on all its cases and write its record; 1 where a case is not `ok`."""
    kernel = next((kernel for kernel in topics.load(root, topic) if kernel.name == name), None)
    if kernel is None:
        raise BadInput(f"topic {topic!r} has no kernel {name!r}")
    check_machine(TARGET)
    jax.config.update("jax_traceback_filtering", "off")  # the frames decide whether jax or the kernel raised
    names, versions = (LANE, TARGET, ""), keys.versions(LANE)
    records = [
        Record(
            topic, name, case.name, *names, versions, confined=False, output="", verdict=verdict_of(root, kernel, case)
        )
        for case in kernel.cases
    ]
    for record in records:
        sys.stdout.write(f"{name}, {record.case}: {told(record.verdict)}\n")
    if any(record.status == "harness-error" for record in records):
        raise BadEnvironment(f"no record of {name!r} is written, for the tool's own code failed")
    pins = {project: pin.commit for project, pin in lock.read(root / "pins.toml").items()}
    committed.write(root, records, pins, machine(), dt.datetime.now(dt.UTC).date().isoformat())
    return int(any(record.status != "ok" for record in records))


def verdict_of(root: Path, kernel: Kernel, case: Case) -> Verdict:
    """The verdict on a case, an exception included."""
    try:
        return judge(kernel, case, TARGET)
    except Exception as error:  # noqa: BLE001 - as in the child of every other lane: it is the verdict
        return child.verdict_on(fault_of(error, root), root)


def told(verdict: Verdict) -> str:
    """A verdict on a line."""
    timing = verdict.measures.timing
    if not timing:
        return f"{verdict.status}: {verdict.error}"
    speed = f"{timing.teraflops:.3g} TFLOP/s, {timing.gigabytes:.4g} GB/s"
    words = (f"{verdict.status}, {timing.seconds * 1e6:.2f} µs, {speed}", verdict.error, verdict.reason)
    return "; ".join(filter(None, words))


def machine() -> str:
    """The GPU, its driver and the CUDA that jax was built for."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]
    name, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip().split(", ")
    cuda = re.search(r"cuda (\d+)", jax.devices()[0].client.platform_version)
    version = f"{int(cuda[1]) // 1000}.{int(cuda[1]) % 1000 // 10}" if cuda else "unknown"
    return f"{name}, driver {driver}, CUDA {version}"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except TrackError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_code)
