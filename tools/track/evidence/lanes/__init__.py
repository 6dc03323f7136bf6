"""The lanes: ways of getting a verdict on a kernel.

A lane is a module with one function, `judge(kernel, case, target) -> Verdict`, imported and called in a child process
only. To add a lane, write the module and add a line here; every kernel then has to ask for it, or to say why it does
not apply.
"""

from __future__ import annotations

import importlib.metadata

from msgspec import Struct

__all__ = ["LANES", "Lane", "missing"]


class Lane(Struct, frozen=True):
    """What the parent has to know of a lane to run it.

    `targets` are what a kernel is run or compiled for, each with a verdict of its own.
    `limit` is the seconds after which the verdict is `timed-out`.
    `packages` are the distributions that must be installed for the lane to be available; a record names their versions.
    `environment` is what the child needs on top of its own; {work} in a value stands for the child's folder.
    `fresh` says that the child must be a new interpreter: by default it is forked from one that has imported jax, and
    the environment is set after the fork, which is early enough for what reads it late.
    `by_shape` says that a verdict depends on the shapes and dtypes of a case alone, so cases that share them share it.
    `on_chip` says that nothing is run here: the records are committed, and read.
    """

    module: str
    targets: tuple[str, ...]
    limit: float
    packages: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    fresh: bool = False
    by_shape: bool = False
    on_chip: bool = False


LIBTPU = {
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # else the second of two children at once is refused by a lock file
    "TPU_LOG_DIR": "disabled",
    "LIBTPU_INIT_ARGS": "--xla_mosaic_dump_to={work}/mosaic --xla_jf_dump_to={work}/llo --xla_jf_dump_llo_text=true",
}
CUDA = {
    "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",  # there is no driver here
    "XLA_FLAGS": "--xla_dump_to={work}/xla --xla_dump_emitter_re=.*",
    "MOSAIC_GPU_DUMP_TO": "{work}/mosaic",
    "LLVM_DISABLE_SYMBOLIZATION": "1",  # else six seconds for the names in a trace that nobody sees
}

LANES = {
    "hlo": Lane("track.evidence.lanes.hlo", ("any",), 60.0),
    "tpu-interpret": Lane("track.evidence.lanes.tpu_interpret", ("v5e",), 60.0),
    "gpu-interpret": Lane("track.evidence.lanes.gpu_interpret", ("any",), 60.0),
    "tpu-aot": Lane(
        "track.evidence.lanes.tpu_aot", ("v4", "v5e", "v5p", "v6e", "7x"), 60.0, ("libtpu",), LIBTPU, by_shape=True
    ),
    "gpu-aot": Lane(
        "track.evidence.lanes.gpu_aot",
        ("sm90", "sm100"),
        60.0,
        ("jax-cuda13-plugin", "jax-cuda13-pjrt", "nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-nvdisasm"),
        CUDA,
        by_shape=True,
    ),
    "h200": Lane("track.evidence.lanes.h200", ("H200",), 600.0, ("jax-cuda13-plugin", "jax-cuda13-pjrt"), on_chip=True),
}


def missing(packages: tuple[str, ...]) -> list[str]:
    """Those of the distributions that are not installed."""
    return [package for package in packages if not is_installed(package)]


def is_installed(package: str) -> bool:
    """Whether a distribution of this name is there."""
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
