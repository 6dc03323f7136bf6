"""The private parts of jax that the lanes hook into: when a pin moves and one of these fails, the lanes need a look."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

MOSAIC = "_src/pallas/mosaic"
DEFINED = {
    "_src/tpu_info.py": "chip_version_from_device_kind get_tpu_info_for_chip registry",
    "_src/pallas/core.py": "BoundedSlice tracing_grid_env",
    f"{MOSAIC}/pipeline.py": "BufferedRef Scheduler _make_pipeline_allocations when",
    f"{MOSAIC}/interpret/race_detection_state.py": "RaceDetectionState",
    f"{MOSAIC}/interpret/utils.py": "to_range",
    f"{MOSAIC}/interpret/interpret_pallas_call.py": "dma_start dma_wait get store swap semaphore_signal semaphore_wait"
    " _allocate_buffer _allocate_semaphores",
}
SCOPES = "ep_initialize_ ep_copy_in ep_wait_in ep_run_kernel ep_copy_out ep_wait_out ep_finalize"


def source(path: str) -> str:
    """A file of the installed jax, read and not imported."""
    spec = importlib.util.find_spec("jax")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / path).read_text()


@pytest.mark.parametrize("path", list(DEFINED))
def test_what_the_hooks_stand_in_for_is_there(path: str) -> None:
    names: set[str] = set()
    for node in ast.parse(source(path)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    assert set(DEFINED[path].split()) <= names


@pytest.mark.parametrize("scope", SCOPES.split())
def test_the_scopes_that_tell_a_step_from_another_are_there(scope: str) -> None:
    assert f'_named_scope("{scope}' in source(f"{MOSAIC}/pipeline.py").replace('(f"', '("')


def test_a_race_is_still_reported_by_printing_it() -> None:
    assert source(f"{MOSAIC}/interpret/race_detection_state.py").count("print(") == 3
