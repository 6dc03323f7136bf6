"""The named facts: what each is, and the code that computes it from the sources.

A page writes `{{ pipeline.lines }}`; nobody writes the number. A fact whose code or file a pin does not have is absent
there, with the reason, and a page that names it does not build.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from track.anchors import symbols
from track.anchors.symbols import Module
from track.errors import TrackError
from track.facts import backends, rules
from track.facts.registrations import Rule

__all__ = ["CATALOG", "Entry", "Fact", "compute"]

Value = int | str | None
ModuleOf = Callable[[str], Module]
type _Names = frozenset[str]
type _Combine = Callable[[_Names, _Names, _Names], _Names]

PIPELINE = "jax/_src/pallas/mosaic/pipeline.py"
LOWERING = "jax/_src/pallas/mosaic/lowering.py"
PALLAS_CORE = "jax/_src/pallas/core.py"
PALLAS_CALL = "jax/_src/pallas/pallas_call.py"


@dataclasses.dataclass(frozen=True)
class Fact:
    """A value at one pin, with what it says and where it was computed; `why` tells why it is absent."""

    name: str
    value: Value
    what: str
    where: str
    why: str = ""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A fact that can be computed: from which project's sources, and how."""

    name: str
    what: str
    project: str
    source: str
    value: Callable[[ModuleOf], Value]

    def compute(self, module_of: ModuleOf) -> Fact:
        """The fact at the pin that `module_of` reads."""
        where = f"track.facts.catalog, from {self.source}"
        try:
            return Fact(self.name, self.value(module_of), self.what, where)
        except TrackError as error:
            return Fact(self.name, None, self.what, where, error.what)


def compute(project: str, module_of: ModuleOf) -> Iterator[Fact]:
    """Every static fact of a project, in the order of the catalog."""
    yield from (entry.compute(module_of) for entry in CATALOG if entry.project == project)


def _lines(path: str) -> Callable[[ModuleOf], Value]:
    return lambda module_of: len(module_of(path).lines)


def _count(path: str, kind: str) -> Callable[[ModuleOf], Value]:
    return lambda module_of: sum(1 for s in module_of(path).symbols if s.kind == kind)


def _file(short: str, path: str) -> Iterator[Entry]:
    yield Entry(f"{short}.lines", f"lines of {path}", "jax", path, _lines(path))
    yield Entry(f"{short}.classes", f"classes in {path}", "jax", path, _count(path, "class"))
    yield Entry(f"{short}.functions", f"functions and methods in {path}", "jax", path, _count(path, "function"))


def _symbol(short: str, path: str, name: str, selector: str) -> Iterator[Entry]:
    source = f"{path}, {selector}"
    yield Entry(
        f"{short}.{name}.lines",
        f"lines of {selector}, decorators included",
        "jax",
        source,
        lambda module_of: symbols.find(module_of(path), selector).span.length,
    )
    yield Entry(
        f"{short}.{name}.span",
        f"first and last line of {selector}",
        "jax",
        source,
        lambda module_of: str(symbols.find(module_of(path), selector).span),
    )


PIPELINE_SYMBOLS = {
    "slices": "_make_block_slice",
    "trivial-windowing": "_spec_has_trivial_windowing",
    "buffer-type": "BufferType",
    "buffered-ref-base": "BufferedRefBase",
    "buffered-ref": "BufferedRef",
    "lookahead": "fetch_with_lookahead",
    "scheduler": "Scheduler",
    "out-of-fetch": "Scheduler.out_of_fetch",
    "has-changed": "Scheduler.has_changed",
    "will-change-current": "Scheduler.will_change_current",
    "will-change-fetch": "Scheduler.will_change_fetch",
    "initialize-step": "Scheduler.initialize_step",
    "wait-in": "Scheduler.wait_in",
    "copy-in": "Scheduler.copy_in",
    "wait-out": "Scheduler.wait_out",
    "copy-out": "Scheduler.copy_out",
    "finalize": "Scheduler.finalize",
    "advance-slots": "Scheduler.advance_slots",
    "allocations": "_make_pipeline_allocations",
    "partition-grid": "_partition_grid",
    "sync-copy": "sync_copy",
    "step": "PipelineStep",
    "loop": "_emit_pipeline",
    "door": "emit_pipeline",
}
"""Names of the pipeline page's facts, and the symbols behind them."""


def _alone(module_of: ModuleOf) -> tuple[Rule, ...]:
    return backends.TPU.rules(module_of, [LOWERING])


def _in(table: str, of: Callable[[ModuleOf], tuple[Rule, ...]]) -> Callable[[ModuleOf], Value]:
    return lambda module_of: len(rules.certain(rule for rule in of(module_of) if rule.table == table))


def _tpu_rules() -> Iterator[Entry]:
    source = f"{LOWERING}, calls of register_lowering_rule"
    for name, core_type in (("tc", "TC"), ("sc-scalar", "SC_SCALAR_SUBCORE"), ("sc-vector", "SC_VECTOR_SUBCORE")):
        what = f"primitives with a rule for core type {core_type} in lowering.py alone"
        yield Entry(f"tpu.rules.{name}", what, "jax", source, _in(f"TPU {core_type}", _alone))
    what = "primitives with a rule for any core type, lowering.py alone"
    yield Entry("tpu.rules.union", what, "jax", source, lambda m: len(rules.certain(_alone(m))))
    what = "calls that register a rule"
    yield Entry("tpu.rules.sites", what, "jax", source, lambda m: len({r.site for r in _alone(m)}))
    what = "rules registered by decorator"
    yield Entry(
        "tpu.rules.decorators", what, "jax", source, lambda m: len({r.site for r in _alone(m) if r.is_decorator})
    )


def _gpu_rules() -> Iterator[Entry]:
    triton, mosaic = backends.TRITON, backends.GPU
    what = "primitives with a rule for Triton in lowering.py, which is all that pallas_call imports"
    yield Entry("triton.rules", what, "jax", triton.core, lambda m: len(rules.certain(triton.rules(m, [triton.core]))))
    what = "primitives with a rule for Triton, those of triton/primitives.py included"
    yield Entry("triton.rules.all", what, "jax", ", ".join(triton.files), _in("Triton", triton.rules))
    source = ", ".join(mosaic.files)
    for pair in ("Lane×Warpgroup", "Lane×Warp", "Warpgroup×Warpgroup", "Warpgroup×Warp"):
        name = pair.lower().replace("×", "-")
        what = f"primitives with a rule for Mosaic GPU under {pair} semantics"
        yield Entry(f"mgpu.rules.{name}", what, "jax", source, _in(f"Mosaic GPU {pair}", mosaic.rules))
    what = "primitives with a rule for Mosaic GPU under any semantics"
    yield Entry("mgpu.rules.union", what, "jax", source, lambda m: len(rules.certain(mosaic.rules(m))))


def _shared_rules() -> Iterator[Entry]:
    """How many primitives two backends, or all three, have a rule for; the TPU's are the TensorCore's."""
    combinations: tuple[tuple[str, str, _Combine], ...] = (
        ("gpu.both", "both Triton and Mosaic GPU", lambda triton, mosaic, _: triton & mosaic),
        ("gpu.triton-only", "Triton and not Mosaic GPU", lambda triton, mosaic, _: triton - mosaic),
        ("gpu.mosaic-only", "Mosaic GPU and not Triton", lambda triton, mosaic, _: mosaic - triton),
        ("all-backends", "Triton, Mosaic GPU and the TensorCore", lambda triton, mosaic, tpu: triton & mosaic & tpu),
        ("any-backend", "at least one of the three", lambda triton, mosaic, tpu: triton | mosaic | tpu),
    )
    for name, which, combine in combinations:
        what = f"primitives with a rule for {which}"
        yield Entry(f"rules.{name}", what, "jax", "the tables of all backends", _shared(combine))


def _shared(combine: _Combine) -> Callable[[ModuleOf], Value]:
    def value(module_of: ModuleOf) -> Value:
        triton, mosaic = (rules.certain(backend.rules(module_of)) for backend in (backends.TRITON, backends.GPU))
        tpu = rules.certain(rule for rule in backends.TPU.rules(module_of) if rule.table == "TPU TC")
        return len(combine(triton, mosaic, tpu))

    return value


CATALOG: tuple[Entry, ...] = (
    *_file("pipeline", PIPELINE),
    *_file("pallas-call", PALLAS_CALL),
    *_file("core", PALLAS_CORE),
    *(entry for name, selector in PIPELINE_SYMBOLS.items() for entry in _symbol("pipeline", PIPELINE, name, selector)),
    *_tpu_rules(),
    *_gpu_rules(),
    *_shared_rules(),
)
