"""Error texts made fit to be shown: the real cause, without the paths, addresses and times of this machine."""

from __future__ import annotations

import re
import sysconfig
import traceback
from pathlib import Path
from typing import NamedTuple

__all__ = ["Fault", "clean", "fault_of"]

KEPT = 2000
OURS = Path(__file__).resolve().parents[1]
STDLIB = sysconfig.get_paths()["stdlib"]
LOG_PREFIX = re.compile(r"^[IWEF]\d{4} [\d:.]+ +\d+ ", re.MULTILINE)
CAUSE = re.compile(r"^(?P<kind>[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)): ", re.MULTILINE)
# What libtpu says of itself or of this machine, whatever it is asked to compile.
BANNER = re.compile(
    r"^(?:Failed to find host bounds for accelerator type|WARNING: Logging before InitGoogle|WARNING: All log messages"
    r"|Jax plugin configuration error).*\n?"
    r"|^.*common_lib\.cc:\d+\].*TPU_WORKER_HOSTNAMES.*\n?"
    r"|^=== Source Location Trace: ===\s*\n(?:[\w+./-]+:\d+\s*(?:\n|\Z))*"
    r"|^ *(?:XLA label: .*|={10,})\n|^ *\[type\.googleapis\.com/[\s\S]*",
    re.MULTILINE,
)
HLO = re.compile(
    r"(custom-call\([^)]*\)), custom_call_target=.*?stack_frame_id=\d+\}"
)  # what XLA wrote around a kernel
CALLBACK = "CpuCallback error calling callback: "


class Fault(NamedTuple):
    """What was raised, as text, by whose code it was raised, and where in the kernel's own files.

    `of_jax` says that jax alone raises such a thing; its compilers do so with the kernel's line as the last frame.
    """

    text: str
    file: str
    through_jax: bool
    where: str
    of_jax: bool = False


def clean(text: str, root: Path, work: Path | None = None) -> str:
    """The text with paths relative to the project or to site-packages, no times or addresses, and not too long."""
    for folder, shown in ((work, ""), (root, ""), (OURS.parent, ""), (STDLIB, "python/")):
        text = text.replace(f"{folder}/", shown) if folder else text
    text = re.sub(r"[^\s\"'(]*/(?:site|dist)-packages/", "", text)
    text = re.sub(r"(?<!size = )\b0x[0-9a-f]{6,}\b", "0x...", text)
    text = HLO.sub(r"\1", text)
    text = LOG_PREFIX.sub("", BANNER.sub("", text)).strip()
    return text if len(text) <= KEPT else f"{text[:KEPT]}\n[cut]"


def fault_of(error: BaseException, root: Path) -> Fault:
    """The real cause of an exception, which jax may have wrapped in the text of another."""
    frames = traceback.extract_tb(error.__traceback__)
    files = [frame.filename for frame in frames]
    text = "".join(traceback.format_exception_only(error)).strip()
    of_jax = type(error).__module__.split(".")[0] in ("jax", "jaxlib")
    if CALLBACK in text:
        of_jax = False
        text, files = unwrapped(text)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(root / "kernels")]
    where = ""
    if own:
        name = own[-1].name.rpartition(".")[2]  # Mosaic puts the name of an operation before that of the function
        where = f"{own[-1].filename}:{own[-1].lineno}, in {name}: {own[-1].line}"
    through_jax = any("/jax/" in file for file in files)
    return Fault(clean(text, root), files[-1] if files else "", through_jax, clean(where, root), of_jax)


def unwrapped(text: str) -> tuple[str, list[str]]:
    """The exception at the end of a callback's traceback, and the files of that traceback, outermost first."""
    body = text.split(CALLBACK, 1)[1]
    causes = list(CAUSE.finditer(body))
    files = re.findall(r'^  File "([^"]+)", line', body, re.MULTILINE)
    return (body[causes[-1].start() :] if causes else body), files
