"""What the pinned `tpu_info` says of the chips: the peaks that rooflines are drawn against."""

from __future__ import annotations

from jax._src import tpu_info

from track.evidence.record import Chip, Job, Verdict

__all__ = ["perform"]

KINDS = {"v4": "TPU v4", "v5e": "TPU v5 lite", "v5p": "TPU v5p", "v6e": "TPU v6 lite", "7x": "TPU7x"}


def perform(_: Job) -> Verdict:
    """The peaks of one core of each chip."""
    return Verdict("ok", chips=tuple(chip(name, kind) for name, kind in KINDS.items()))


def chip(name: str, kind: str) -> Chip:
    """One core's share, which is what `tpu_info` gives for a chip asked for with one core."""
    version = tpu_info.chip_version_from_device_kind(kind)
    if version is None:
        raise LookupError(f"tpu_info knows no {kind!r}")
    info = tpu_info.get_tpu_info_for_chip(version, 1)
    return Chip(
        name,
        kind,
        version.num_physical_tensor_cores_per_chip,
        info.mem_bw_bytes_per_second,
        info.bf16_ops_per_second,
        info.vmem_capacity_bytes,
    )
