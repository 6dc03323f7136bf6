"""The GPUs that kernels are compiled for, as XLA has them described.

A compiler that has no GPU at hand has to be told about one: cores, memories, clocks. XLA writes such a description of
the GPU that it runs on, and takes it back on a machine without one.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["TARGETS", "Target"]

# What XLA itself wrote about an NVIDIA H200 (driver 580.159.04, CUDA 13.0, jax 0.11.2), a GpuTargetConfigProto as text.
H200 = """\
gpu_device_info {
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: 233472
  threads_per_core_limit: 2048
  core_count: 132
  fpus_per_core: 128
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: 4814304000000
  l2_cache_size: 62914560
  clock_rate_ghz: 1.98
  device_memory_size: 150109880320
  shared_memory_per_block_optin: 232448
  cuda_compute_capability {
    major: 9
    feature_extension: ACCELERATED_FEATURES
  }
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  scalar_unit_description {
    rate_infos { key: 4 value { clock_rate_ghz: 1.98 units_per_core: 64 ops_per_clock: 1 } }
    rate_infos { key: 8 value { clock_rate_ghz: 1.98 units_per_core: 64 ops_per_clock: 1 } }
    rate_infos { key: 10 value { clock_rate_ghz: 1.98 units_per_core: 128 ops_per_clock: 2 } }
    rate_infos { key: 11 value { clock_rate_ghz: 1.98 units_per_core: 128 ops_per_clock: 1 } }
    rate_infos { key: 12 value { clock_rate_ghz: 1.98 units_per_core: 64 ops_per_clock: 1 } }
    rate_infos { key: 16 value { clock_rate_ghz: 1.98 units_per_core: 128 ops_per_clock: 2 } }
  }
  matrix_unit_description {
    rate_infos { key: 2 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 6 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 10 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 512 } }
    rate_infos { key: 11 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 256 } }
    rate_infos { key: 12 value { clock_rate_ghz: 1.98 units_per_core: 4 ops_per_clock: 32 } }
    rate_infos { key: 16 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 512 } }
    rate_infos { key: 19 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 20 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 23 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 24 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 25 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 28 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 29 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 33 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 35 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
    rate_infos { key: 36 value { clock_rate_ghz: 1.82952011 units_per_core: 4 ops_per_clock: 1024 } }
  }
  driver_version: "13.0.0"
  kernel_mode_driver_version: "580.159.4"
  runtime_version: "13.0.0"
  compile_time_toolkit_version: "13.0.0"
  dnn_version: "9.19.0"
  cub_version: "3.2.0"
  device_vendor: "NVIDIA Corporation"
  platform_version: "Compute Capability 9.0a"
  name: "NVIDIA H200"
  model_str: "sm_9.0a with 150109880320B RAM, 132 cores, 1980000KHz clock, 3201000KHz mem clock, 62914560B L2$"
  numa_node: -1
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  device_address_bits: 64
  pcie_bandwidth: 68719476736
  ecc_enabled: true
  mem_clock_ghz: 3.201
  reserved_shared_memory_per_block: 1024
  max_blocks_per_multiprocessor: 32
  collective_memory_granularity: 2097152
}
platform_name: "CUDA"
device_description_str: "NVIDIA H200"
runtime_version {
  major: 13
}
"""


class Target(Struct, frozen=True):
    """A GPU to compile for: its name, its multiprocessors, the architecture for ptxas, and XLA's description.

    `assumed` says in a sentence what of the description is not from such a GPU.
    """

    device_kind: str
    cores: int
    arch: str
    config: str
    assumed: str = ""


def named_b200() -> str:
    """The description of the H200 with a B200's name, compute capability and number of multiprocessors."""
    description = H200
    for found, put in (
        ("cuda_compute_capability {\n    major: 9\n", "cuda_compute_capability {\n    major: 10\n"),
        ("core_count: 132\n", "core_count: 148\n"),
        ("NVIDIA H200", "NVIDIA B200"),
    ):
        if found not in description:
            raise LookupError(f"the description of the H200 has no {found!r}")
        description = description.replace(found, put)
    return description


TARGETS = {
    "sm90": Target("NVIDIA H200", 132, "sm_90a", H200),
    "sm100": Target(
        "NVIDIA B200",
        148,
        "sm_100a",
        named_b200(),
        "The description of the chip is assumed: an H200's, memories and clocks included, under a B200's name."
        " Whether the kernel compiles, its PTX and what ptxas says hold; what XLA's cost model chooses may not.",
    ),
}
