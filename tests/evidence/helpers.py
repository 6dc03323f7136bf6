"""Topics that misbehave, written for a test."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from importlib import metadata
from pathlib import Path

from msgspec.structs import replace

from track.evidence import Evidence, lanes

PROJECT = Path(__file__).parents[2]
WITH_TOOLS = {**os.environ, "PYTHONPATH": str(PROJECT / "tools")}
PINS = {"jax": "the pin of the tests"}

TOPIC = """
import os, sys, time
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from kernels.contract import Case, Kernel, Tolerance

def kernel(x, *, interpret):
{body}

CASES = (Case("ones", lambda rng: (np.ones((16, 128), np.float32),), Tolerance(0.0, 0.0, "nothing is rounded")),)
OTHER = {{lane: "the test is of another lane" for lane in {lanes} if lane != "{lane}"}}
KERNELS = (Kernel("{name}", kernel, lambda x: x, CASES, ("{lane}",), OTHER),)
"""


def of_topics(everything: Evidence, *topics: str) -> Evidence:
    """What is known of the kernels of some topics."""
    records = {at: record for at, record in everything.records.items() if record.topic in topics}
    names = {name for name, *_ in records}
    kernels = {name: listed for name, listed in everything.kernels.items() if name in names}
    return replace(everything, records=records, kernels=kernels)


def copy_topic(root: Path, topic: str) -> None:
    """One of the project's own topics, and what all topics share."""
    (root / "kernels").mkdir(exist_ok=True)
    for shared in (PROJECT / "kernels").glob("*.py"):
        shutil.copy(shared, root / "kernels")
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PROJECT / "kernels" / topic, root / "kernels" / topic, ignore=skipped)


def write_topic(root: Path, name: str, body: str, lane: str = "hlo") -> None:
    """A topic whose one kernel, called like it, has this body, and should return its input."""
    folder = root / "kernels" / name
    folder.mkdir(parents=True)
    shutil.copy(PROJECT / "kernels" / "contract.py", root / "kernels")
    text = TOPIC.format(
        name=name, lane=lane, lanes=list(lanes.LANES), body=textwrap.indent(textwrap.dedent(body), "    ")
    )
    (folder / "cases.py").write_text(text)


def plain_site(folder: Path) -> Path:
    """The site-packages of an environment that has jax, numpy and what they ask for, and nothing else."""
    site = folder / "site"
    site.mkdir()
    waiting, seen = ["jax", "numpy"], set[str]()
    while waiting:
        found = metadata.distribution(waiting.pop())
        if found.name in seen:
            continue
        seen.add(found.name)
        waiting += [re.split(r"[^\w.-]", line)[0] for line in found.requires or () if "extra ==" not in line]
        for top in {path.parts[0] for path in found.files or () if path.parts[0] != ".."}:
            if not (site / top).exists():
                (site / top).symlink_to(str(found.locate_file(top)))
    return site


def printed_by_itself(topic: str, folder: Path) -> str:
    """What a topic's file prints when a reader runs it from elsewhere, with nothing of this project at hand."""
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "XLA_FLAGS")}
    ran = subprocess.run(
        [sys.executable, "-B", PROJECT / "kernels" / topic / "kernel.py"],
        capture_output=True,
        text=True,
        env={**plain, "JAX_PLATFORMS": "cpu", "TPU_SKIP_MDS_QUERY": "1"},
        cwd=folder,
        check=True,
    )
    assert ran.stderr == ""
    return ran.stdout
