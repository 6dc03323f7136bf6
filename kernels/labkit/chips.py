"""Does the TPU compiler take a kernel? It runs without a TPU, where its package is installed."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kernels.labkit.problem import Cause, Wrong

if TYPE_CHECKING:
    import numpy as np

__all__ = ["ENVIRONMENT", "check_chips", "missing"]

TOPOLOGIES = {"v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "7x": "tpu7x:2x2x1"}
ENVIRONMENT = {"TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1", "TPU_LOG_DIR": "disabled"}
"""Ask no network which TPU this is, and leave other processes their libtpu."""
REFUSED = Cause("refused by the compiler", "the interpreters run things that a TPU cannot do")


def missing() -> str:
    """Why nothing can be compiled here, as a sentence, or nothing."""
    if importlib.util.find_spec("libtpu") is None:
        return "not compiled for a TPU: the package libtpu, for Linux on x86-64, is not installed"
    return ""


def check_chips(
    function: Callable[..., object], inputs: Sequence[np.ndarray], keywords: Mapping[str, int], chips: Iterable[str]
) -> None:
    """Wrong with the compiler's words for the first chip that it refuses the call for."""
    import jax  # noqa: PLC0415 -- the environment is set before
    from jax.experimental import topologies  # noqa: PLC0415 -- as above
    from jax.sharding import AbstractDevice, AbstractMesh, SingleDeviceSharding, use_abstract_mesh  # noqa: PLC0415 -- as above

    for chip in chips:
        device = topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[chip]).devices[0]
        kind = AbstractDevice(device.device_kind, getattr(device, "num_cores", 1), "tpu")
        place = SingleDeviceSharding(device)
        shapes = [jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=place) for array in inputs]
        called = functools.partial(function, **keywords, interpret=False)
        try:
            with use_abstract_mesh(AbstractMesh((), (), abstract_device=kind)):
                jax.jit(called, keep_unused=True).trace(*shapes).lower().compile()
        except Exception as error:
            said = " ".join(str(error).split())[:300]
            raise Wrong(
                f"the compiler refuses it for {chip}", {"found": f"{type(error).__name__}: {said}"}, REFUSED
            ) from error
