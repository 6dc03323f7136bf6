"""Topics that misbehave, written for a test."""

from __future__ import annotations

import os
import shutil
import textwrap
from pathlib import Path

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
OTHER = {{lane: "the test is of another lane" for lane in ("hlo", "tpu-interpret") if lane != "{lane}"}}
KERNELS = (Kernel("{name}", kernel, lambda x: x, CASES, ("{lane}",), OTHER),)
"""


def write_topic(root: Path, name: str, body: str, lane: str = "hlo") -> None:
    """A topic whose one kernel, called like it, has this body, and should return its input."""
    folder = root / "kernels" / name
    folder.mkdir(parents=True)
    shutil.copy(PROJECT / "kernels" / "contract.py", root / "kernels")
    text = TOPIC.format(name=name, lane=lane, body=textwrap.indent(textwrap.dedent(body), "    "))
    (folder / "cases.py").write_text(text)
