"""The GPU lanes on small kernels: what the simulated GPU sees, and what the real compiler makes of them."""

from __future__ import annotations

from pathlib import Path
from tempfile import gettempdir

import pytest

from tests.evidence.helpers import PINS, write_topic
from track.evidence import Evidence, Record, Runner, collect
from track.evidence.gpu_record import Ptxas
from track.evidence.lanes import LANES, missing

COMPILER = not missing(LANES["gpu-aot"].packages)
needs_compiler = pytest.mark.skipif(not COMPILER, reason="the CUDA compiler's packages are not installed")

HEAD = """
from jax.experimental.pallas import mosaic_gpu as plgpu
def call(body, *scratch, **options):
    return plgpu.kernel(body, out_type=x, scratch_types=scratch, interpret=interpret, **options)(x)
tile, barrier = plgpu.SMEM(x.shape, x.dtype), plgpu.Barrier()
"""
INTERPRETED = {
    "copied": """
        def body(a, b, tile, barrier):
            plgpu.copy_gmem_to_smem(a, tile, barrier)
            plgpu.barrier_wait(barrier)
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(tile, b)
            plgpu.wait_smem_to_gmem(0)
        return call(body, tile, barrier)
    """,
    "too_early": """
        def body(a, b, tile, barrier):
            plgpu.copy_gmem_to_smem(a, tile, barrier)
            b[...] = tile[...]
            plgpu.barrier_wait(barrier)
        return call(body, tile, barrier)
    """,
    "two_groups": """
        def body(a, b, tile):
            group = jax.lax.axis_index("group")
            @pl.when(group == 0)
            def write():
                tile[...] = a[...]
            @pl.when(group == 1)
            def read():
                b[...] = tile[...]
        return call(body, tile, num_threads=2, thread_name="group")
    """,
    "outside": """
        def body(a, b):
            b[...] = a[pl.ds(jax.lax.axis_index("i") + 1, 16)]
        return call(body, grid=(1,), grid_names=("i",))
    """,
    "blocked": """
        spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
        def body(a, b):
            b[...] = a[...]
        return pl.pallas_call(body, grid=(2,), in_specs=[spec], out_specs=spec, out_shape=x, interpret=interpret)(x)
    """,
}
COMPILED = {
    "bulk_copy": INTERPRETED["copied"],
    "triton": """
        spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
        def body(a, b):
            b[...] = a[...] * 1.0
        return pl.pallas_call(body, grid=(2,), in_specs=[spec], out_specs=spec, out_shape=x, interpret=interpret)(x)
    """,
    "hopper_only": """
        rows = jnp.ones((64, 64), jnp.bfloat16)
        transforms = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
        def body(a, b, o, left, right, out, barrier):
            plgpu.copy_gmem_to_smem(b, left, barrier)
            plgpu.copy_gmem_to_smem(b, right, barrier)
            plgpu.barrier_wait(barrier)
            def product(sum):
                plgpu.wgmma(sum, left, right)
                return sum[...]
            out[...] = pl.run_scoped(product, plgpu.ACC((64, 64), jnp.float32)).astype(jnp.bfloat16)
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(out, o)
            plgpu.wait_smem_to_gmem(0)
        matrix = plgpu.SMEM((64, 64), jnp.bfloat16, transforms=transforms)
        scratch = [matrix, matrix, matrix, plgpu.Barrier(num_arrivals=2)]
        return plgpu.kernel(body, out_type=rows, scratch_types=scratch, interpret=interpret)(x, rows)
    """,
    "too_big": """
        def body(a, b, tile):
            b[...] = a[...]
        return call(body, plgpu.SMEM((512, 128), jnp.float32))
    """,
}


def collected(root: Path, runner: Runner, kernels: dict[str, str], lane: str) -> Evidence:
    for name, body in kernels.items():
        lines = [line[8:] if line.startswith(" " * 8) else line for line in body.splitlines()]
        write_topic(root, name, HEAD + "\n".join(lines), lane=lane)
    return collect(root, PINS, runner=runner, lane=lane)


def only_entry(record: Record) -> Ptxas:
    entries = [entry for entry in record.measures.ptxas or () if entry.maker != "xla"]
    assert len(entries) == 1
    return entries[0]


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory, runner: Runner) -> Evidence:
    return collected(tmp_path_factory.mktemp("interpreted"), runner, INTERPRETED, "gpu-interpret")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory, runner: Runner) -> Evidence:
    return collected(tmp_path_factory.mktemp("compiled"), runner, COMPILED, "gpu-aot")


@pytest.mark.parametrize(
    ("kernel", "status", "error"),
    [
        ("copied", "ok", ""),
        ("too_early", "wrong", "RACE DETECTED read of SMEM buffer"),
        ("two_groups", "wrong", "RACE DETECTED "),
        ("outside", "refused", "IndexError: Out-of-bounds read"),
        ("blocked", "refused", "AssertionError: assert all(bm.has_trivial_window() for bm in"),
    ],
)
def test_the_simulated_gpu_judges(interpreted: Evidence, kernel: str, status: str, error: str) -> None:
    record = interpreted.records[kernel, "ones", "gpu-interpret", "any"]
    assert record.status == status, record
    assert record.error.startswith(error) if error else not record.error


def test_a_race_on_the_simulated_gpu_is_a_verdict_although_the_numbers_agree(interpreted: Evidence) -> None:
    measures = interpreted.records["too_early", "ones", "gpu-interpret", "any"].measures
    assert measures.numbers is not None
    assert measures.numbers.differing == 0
    assert measures.races
    assert "kernels/too_early/cases.py:" in measures.races[0]
    assert interpreted.records["copied", "ones", "gpu-interpret", "any"].measures.races == ()


@needs_compiler
def test_both_compilers_reach_the_machine_for_both_chips(compiled: Evidence) -> None:
    for kernel, maker in (("triton", "triton"), ("bulk_copy", "mosaic-gpu")):
        for target, arch in (("sm90", ".target sm_90a"), ("sm100", ".target sm_100a")):
            record = compiled.records[kernel, "ones", "gpu-aot", target]
            assert (record.status, record.error) == ("ok", ""), record
            entry = only_entry(record)
            assert entry.maker == maker
            assert 0 < entry.registers <= 255
            assert entry.instructions == sum(entry.classes.values()) > 0
            forms = {form.kind: form for form in record.measures.forms or ()}
            assert arch in forms["ptx"].text
            assert "EXIT" in forms["sass"].text


@needs_compiler
def test_every_form_on_the_way_is_there_in_order(compiled: Evidence) -> None:
    def kinds(kernel: str) -> list[str]:
        forms = compiled.records[kernel, "ones", "gpu-aot", "sm90"].measures.forms or ()
        return list(dict.fromkeys(form.kind for form in forms))

    assert kinds("triton") == ["jaxpr", "triton", "ttgir", "llvm", "ptx", "sass"]
    assert kinds("bulk_copy") == ["jaxpr", "mosaic-gpu", "ptx", "sass"]


@needs_compiler
def test_a_bulk_copy_asks_for_its_tile_and_its_barrier_in_shared_memory(compiled: Evidence) -> None:
    entry = only_entry(compiled.records["bulk_copy", "ones", "gpu-aot", "sm90"])
    assert entry.dynamic_shared == 16 * 128 * 4 + 8  # an mbarrier is 8 bytes
    assert entry.classes["bulk copy"] > 0
    assert "tensor" not in entry.classes


@needs_compiler
def test_wgmma_is_hoppers_alone(compiled: Evidence) -> None:
    hopper, blackwell = (compiled.records["hopper_only", "ones", "gpu-aot", target] for target in ("sm90", "sm100"))
    assert (hopper.status, hopper.error) == ("ok", "")
    assert only_entry(hopper).classes["tensor"] > 0
    assert [entry.maker for entry in hopper.measures.ptxas or ()] == ["xla", "mosaic-gpu"]  # XLA makes the ones
    assert blackwell.status == "refused"
    assert "ptxas: Instruction 'wgmma.fence' not supported on .target 'sm_100a'" in blackwell.error
    assert blackwell.verdict.where.startswith("kernels/hopper_only/cases.py:")
    assert any("wgmma.mma_async" in form.text for form in blackwell.measures.forms or () if form.kind == "ptx")


@needs_compiler
def test_too_much_shared_memory_is_refused_with_both_numbers(compiled: Evidence) -> None:
    record = compiled.records["too_big", "ones", "gpu-aot", "sm90"]
    assert record.status == "refused"
    assert record.error.endswith(f"smem_bytes={512 * 128 * 4} > max_smem_bytes={227 * 1024}")


@needs_compiler
def test_records_say_that_one_chip_is_assumed_and_name_nothing_of_this_machine(compiled: Evidence) -> None:
    for (_, case, lane, target), record in compiled.records.items():
        if case and lane == "gpu-aot":
            assert ("assumed" in record.reason) == (target == "sm100")
            assert not any(part in str(record) for part in (gettempdir() + "/", "site-packages", "/home/", "/root/"))
