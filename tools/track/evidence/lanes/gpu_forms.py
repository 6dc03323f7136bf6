"""The forms that a GPU kernel takes on its way: what Pallas hands to Triton, and what the compilers dump.

XLA writes one PTX a kernel, and for a Triton kernel also its module before each pass, in MLIR's generic syntax.
Mosaic GPU writes its module, before and after it has chosen the layouts, and the PTX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jax._src.lib import triton
from jaxlib.mlir import ir
from msgspec import Struct

from track.evidence.gpu_record import Maker
from track.evidence.lanes.extracts import clean, extract
from track.evidence.record import Form

__all__ = ["Dumped", "handed_over", "mosaic_gpu", "passes", "xla"]

PASS = re.compile(r"^// -----// IR Dump Before (?:\(anonymous namespace\)::)?(.+?): .*$", re.MULTILINE)
TO_TRITONGPU, TO_LLVM = "ConvertTritonToTritonGPU", "ConvertTritonGPUToLLVM"
LAUNCH = re.compile(
    r"^\d+: (?:\S+ )+?\[.*?\] (?P<entry>\S+) grid: .* shared_memory: (?P<bytes>\d+) bytes", re.MULTILINE
)
ENTRY = re.compile(r"\.entry\s+([\w$]+)\(")
DYNAMIC = re.compile(r"dynamic_shared_memory_size (%\w+)")
NOT_CODE = re.compile(r"^(?:!|attributes #|source_filename|; ModuleID).*$|,? ?!(?:dbg|tbaa) !\d+", re.MULTILINE)


TRITON_CALL = "__gpu$xla.gpu.triton"


class Dumped(Struct, frozen=True):
    """A kernel with PTX: who wrote that, its forms before it, and the shared memory that its launch asks for."""

    ptx: Path
    maker: Maker
    dynamic_shared: int
    forms: tuple[Form, ...]


def handed_over(module: Any) -> Iterator[Form]:
    """The Triton modules in a lowered program, as Pallas wrote them."""
    for inner in operations(module.operation):
        if inner.name == "stablehlo.custom_call" and TRITON_CALL in str(inner.attributes["call_target_name"]):
            config = ir.DictAttr(inner.attributes["mhlo.backend_config"])
            with inner.context as context:
                triton.dialect.register_dialect(context)  # pyright: ignore[reportPrivateImportUsage] - it has no other name
                yield extract(
                    "triton", "as Pallas lowered it", str(ir.Module.parse(ir.StringAttr(config["ir"]).value_bytes))
                )


def operations(operation: Any) -> Iterator[Any]:
    """Every operation below one, outermost first."""
    for inner in (inner for region in operation.regions for block in region.blocks for inner in block.operations):
        yield inner
        yield from operations(inner)


def xla(folder: Path) -> list[Dumped]:
    """The kernels that XLA compiled itself, Triton's and its own, in the order in which they are launched."""
    launches = launched(folder)
    found = {entry_of(path): path for path in sorted(folder.glob("*.ptx"))}
    order = [entry for entry in launches if entry in found] + [entry for entry in found if entry not in launches]
    return [from_xla(folder, entry, found[entry], launches.get(entry, 0)) for entry in order]


def launched(folder: Path) -> dict[str, int]:
    """The kernels of the program in order, with their dynamic shared memory in bytes."""
    texts = [path.read_text() for path in sorted(folder.glob("*.thunk_sequence.txt"))]
    return {launch["entry"]: int(launch["bytes"]) for text in texts for launch in LAUNCH.finditer(text)}


def entry_of(ptx: Path) -> str:
    """The name of the one entry of a PTX file, or nothing."""
    entry = ENTRY.search(ptx.read_text())
    return entry[1] if entry else ""


def from_xla(folder: Path, entry: str, ptx: Path, dynamic_shared: int) -> Dumped:
    """One kernel of XLA's; only of a Triton kernel, which is what the reader wrote, the forms are kept."""
    dumps = sorted(folder.glob(f"*.{entry}.triton-to-llvm.txt"))
    if not dumps:
        return Dumped(ptx, "xla", dynamic_shared, ())
    forms = list(passes(dumps[0].read_text()))
    llvm = ptx.with_name(f"{ptx.stem}.ir-with-opt.ll")
    if llvm.is_file():
        forms.append(extract("llvm", "optimized", NOT_CODE.sub("", llvm.read_text())))
    return Dumped(ptx, "triton", dynamic_shared, tuple(forms))


def passes(dump: str) -> Iterator[Form]:
    """The module after each pass that changed it, up to the pass that turns it into LLVM's dialect.

    The dump has the module before each pass, so what is before one pass is what the one before it left.
    """
    parts = PASS.split(dump)[1:]  # name, text, name, text, ...
    kind, stage, last = "triton", "as XLA takes it up", ""
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        plain = clean(text).strip()
        if plain != last:
            yield extract(kind, stage, plain)
        if name == TO_LLVM:
            return
        kind = "ttgir" if name == TO_TRITONGPU else kind
        stage, last = f"after {name}", plain


def mosaic_gpu(folder: Path) -> list[Dumped]:
    """The kernels that Mosaic GPU compiled, by name, those that got as far as PTX and those that did not."""
    names = sorted(path.name.split(".before_")[0] for path in folder.glob("*.before_layout_inference.txt"))
    return [from_mosaic(folder, name) for name in names]


def from_mosaic(folder: Path, name: str) -> Dumped:
    """One kernel of Mosaic GPU's."""
    stages = {"as lowered": "before_layout_inference", "after layout inference": "after_layout_inference"}
    files = {stage: folder / f"{name}.{ending}.txt" for stage, ending in stages.items()}
    texts = {stage: file.read_text() for stage, file in files.items() if file.is_file()}
    forms = tuple(extract("mosaic-gpu", stage, text) for stage, text in texts.items())
    return Dumped(folder / f"{name}.ptx", "mosaic-gpu", dynamic_shared(texts["as lowered"]), forms)


def dynamic_shared(module: str) -> int:
    """The bytes of shared memory that the launch in a module asks for."""
    asked = DYNAMIC.search(module)
    constant = asked and re.search(rf"^\s*{re.escape(asked[1])} = arith.constant (\d+) :", module, re.MULTILINE)
    if not constant:
        raise LookupError("the launch in Mosaic GPU's module does not say how much shared memory it asks for")
    return int(constant[1])
