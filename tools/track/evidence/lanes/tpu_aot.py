"""Lane `tpu-aot`: the kernel, compiled by the real TPU compiler, with no TPU."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import AbstractDevice, AbstractMesh, Mesh, NamedSharding, PartitionSpec, use_abstract_mesh

from track.evidence.lanes import tpu_dumps
from track.evidence.lanes.blame import place_of
from track.evidence.lanes.stopped import Stopped
from track.evidence.lanes.tpu_bundles import Program
from track.evidence.lanes.tpu_ledger import ledger
from track.evidence.record import Form, Measures, Verdict

if TYPE_CHECKING:
    from kernels.contract import Case, Kernel

__all__ = ["judge"]

TOPOLOGIES = {"v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "7x": "tpu7x:2x2x1"}


def judge(kernel: Kernel, case: Case, target: str) -> Verdict:
    """Compile the kernel for one generation of TPU, and read what the compiler dumped on its way."""
    mesh = mesh_of(target, kernel.devices)
    device = mesh.devices.flat[0]
    everywhere = NamedSharding(mesh, PartitionSpec())
    arrays = [jnp.asarray(array) for array in case.inputs()]
    inputs = [jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=everywhere) for array in arrays]
    options = {"interpret": False, **({"mesh": mesh} if kernel.devices > 1 else {})}
    # Some lowering rules ask what chip they are for.
    chip = AbstractDevice(device.device_kind, getattr(device, "num_cores", 1), "tpu")
    jaxpr: Any = None
    with use_abstract_mesh(AbstractMesh((), (), abstract_device=chip)):
        try:
            traced = jax.jit(functools.partial(kernel.function, **options), keep_unused=True).trace(*inputs)
            jaxpr = traced.jaxpr.jaxpr
            traced.lower().compile()
        except Exception as error:
            raise Stopped(measures(jaxpr), place_of(error)) from error
    return Verdict("ok", measures=measures(jaxpr))


def mesh_of(target: str, devices: int) -> Mesh:
    """So many devices of a target on one axis; what fails here says nothing of the kernel."""
    try:
        topology = topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[target])
    except Exception as error:
        raise LookupError(f"libtpu gives no topology for {target}: {error}") from error
    return Mesh(np.array(topology.devices[:devices]), ("x",))


def measures(jaxpr: Any) -> Measures:
    """What there is to read after the compiler is done, or has stopped."""
    dumps = tpu_dumps.dumps_in(Path("llo"))
    programs = [program for dump in dumps if (program := dump.program())]
    spills = sum((program.spills() for program in programs), Counter[str]())
    return Measures(
        forms=tuple(forms(jaxpr, programs)),
        ledger=None if jaxpr is None else ledger(jaxpr, [dump.text("original") for dump in dumps]),
        regions=tuple(region for program in programs for region in program.regions()) or None,
        capacity=programs[0].use.capacity if programs else None,
        spills={word: spills[word] for word in ("stores", "loads", "scalars")} if programs else None,
    )


def forms(jaxpr: Any, programs: list[Program]) -> Iterator[Form]:
    """The kernel as jax traced it, after each pass of Mosaic, and as bundles."""
    if jaxpr is not None:
        yield tpu_dumps.jaxpr_form(str(jaxpr))
    yield from tpu_dumps.mosaic_forms(Path("mosaic"))
    yield from map(tpu_dumps.bundle_form, programs)
