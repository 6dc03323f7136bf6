"""Lane `gpu-aot`: XLA's real CUDA compiler, Triton and Mosaic GPU included, with no GPU.

One process compiles for one target: what was lowered for the first would be taken for the second.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
from jax.errors import JaxRuntimeError
from jax.experimental import topologies
from jax.sharding import AbstractDevice, AbstractMesh, SingleDeviceSharding, use_abstract_mesh
from msgspec.structs import replace

from track.evidence import child
from track.evidence.lanes import gpu_forms, ptxas
from track.evidence.lanes.extracts import checkout, extract
from track.evidence.lanes.gpu_targets import TARGETS, Target
from track.evidence.record import Form, Measures, Ptxas, Verdict
from track.evidence.texts import clean, fault_of

if TYPE_CHECKING:
    from kernels.contract import Case, Kernel

__all__ = ["judge"]

XLA, MOSAIC = Path("xla"), Path("mosaic")  # in the child's folder; its environment sends the dumps there
PASSES = ".mlir-passes.log"
NO_SASS = "Failed to create a temporary directory"  # Mosaic GPU wants one for its own SASS, which is not asked for
REFUSAL = re.compile(r"ptxas [^\n]*?\b(?:error|fatal) *: ([^\n]+)")
TEMPORARY = "tempfile-[^ ,]*"  # goes on with the name of the machine
REPORT = re.compile(rf"(?:, output: )?ptxas \S*{TEMPORARY}[\s\S]*")
PLACE = re.compile(r"\bloc\(\"([^\"]+)\":(\d+):\d+\): error")


def judge(kernel: Kernel, case: Case, target: str) -> Verdict:
    """Compile the kernel for a GPU: what became of it, or the real reason why nothing did."""
    aim = TARGETS[target]
    os.environ["PATH"] = f"{ptxas.toolkit()}:{os.environ['PATH']}"  # Mosaic GPU takes the first ptxas that it finds
    MOSAIC.mkdir()
    device = device_of(aim)
    arguments = [jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=device) for array in case.inputs()]
    forms: list[Form] = []
    stderr = Path("stderr")
    try:
        with kept(stderr):
            compile_for(aim, functools.partial(kernel.function, interpret=False), arguments, forms)
        verdict = Verdict("ok")
    except Exception as error:  # noqa: BLE001 - as in the child, but what was made until then is of interest
        printed = stderr.read_text(errors="replace")
        verdict = child.verdict_on(fault_of(told(error, printed), checkout()), checkout())
        verdict = replace(verdict, where=verdict.where or place(printed))
    figures = tuple(measured(aim, forms, assembled=verdict.status == "ok"))
    reason = ". ".join(filter(None, (verdict.reason, aim.assumed)))
    return replace(verdict, reason=reason, measures=Measures(forms=tuple(forms), ptxas=figures))


def device_of(aim: Target) -> SingleDeviceSharding:
    """A device that is not there; RuntimeError, which is ours and no verdict, where the compiler does not start."""
    try:
        topology = topologies.get_topology_desc(aim.device_kind, "cuda", topology="1x1x1", target_config=aim.config)
    except Exception as error:
        raise RuntimeError(f"XLA's CUDA compiler did not start: {error}") from error
    return SingleDeviceSharding(topology.devices[0])


def compile_for(aim: Target, function: Any, arguments: list[jax.ShapeDtypeStruct], forms: list[Form]) -> None:
    """Trace, lower and compile; the traced program is the first of the `forms`."""
    mesh = AbstractMesh((), (), abstract_device=AbstractDevice(aim.device_kind, aim.cores, "gpu"))
    with use_abstract_mesh(mesh):
        traced = jax.jit(function).trace(*arguments)
        forms.append(extract("jaxpr", "as traced", str(traced.jaxpr)))
        lowered = traced.lower()
        for module in MOSAIC.glob("*.before_layout_inference.txt"):  # its passes by the hundred: past any limit of size
            module.with_name(module.name.split(".before_")[0] + PASSES).symlink_to(os.devnull)
        forms += gpu_forms.handed_over(lowered.compiler_ir())
        lowered.compile()


def measured(aim: Target, forms: list[Form], *, assembled: bool) -> Iterator[Ptxas]:
    """What ptxas says of each kernel, where it takes them; the forms of Pallas' own are added to the others."""
    for kernel in (*gpu_forms.xla(XLA), *gpu_forms.mosaic_gpu(MOSAIC)):
        forms += kernel.forms
        if assembled:
            made = ptxas.assemble(kernel.ptx, aim.arch, kernel.maker, kernel.dynamic_shared)
            if kernel.maker != "xla":
                forms += [extract("ptx", f"of {made.figures.entry}", made.ptx)]
                forms += [extract("sass", f"of {made.figures.entry}", made.sass)]
            yield made.figures
        elif kernel.maker != "xla" and kernel.ptx.is_file():
            forms.append(extract("ptx", "refused", ptxas.plain_ptx(kernel.ptx.read_text())))


@contextlib.contextmanager
def kept(path: Path) -> Generator[None]:
    """While the block runs, what the process writes to its standard error goes to a file, too.

    Another process sees to that, so that the last words of one that is aborted are not lost.
    """
    sys.stderr.flush()
    before = os.dup(2)
    rules = [f"s/{TEMPORARY}/the PTX/", f"w {path}", f"/{NO_SASS}/d"]
    command = ["sed", "-u", *(part for rule in rules for part in ("-e", rule))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=2) as sed:
        if sed.stdin:
            os.dup2(sed.stdin.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)


def told(error: Exception, printed: str) -> Exception:
    """The error with what ptxas has against the program as notes.

    From jax 0.12 the error itself goes on with ptxas' report, every line of which names a temporary file: that is left
    out.
    """
    said = str(error)
    if REPORT.search(said):
        printed = f"{printed}\n{said}"
        error = JaxRuntimeError(REPORT.sub("", said)).with_traceback(error.__traceback__)
    for line in refusals(printed):
        error.add_note(line)
    return error


def refusals(printed: str) -> list[str]:
    """What ptxas has against the program, each thing once, without the lines of a file that is gone."""
    return list(dict.fromkeys(f"ptxas: {said}" for said in REFUSAL.findall(printed)))[:8]


def place(printed: str) -> str:
    """The line of the kernel that Mosaic GPU holds against it, if it says."""
    found = PLACE.search(printed)
    return clean(f"{found[1]}:{found[2]}", checkout()) if found else ""
