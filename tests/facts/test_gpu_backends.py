"""The page that says which backend a GPU gets in each release, against the sources of those releases."""

from __future__ import annotations

import ast
import re
import zipfile
from collections.abc import Callable

import pytest

from tests.facts.conftest import ROOT
from track.pins import history, wheel

PAGE = ROOT / "docs" / "start" / "pallas-mosaic-triton.md"
PALLAS = "jax/_src/pallas"
REGISTERS = re.compile(r"\.register_lowering_rule\(\s*gpu_core\.CompilerParams,\s*\w+,\s*\"gpu\"")
ROW = re.compile(r"^\| (\d[\d.]+) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
RELEASES = ("0.10.2", "0.11.0", "0.11.1", "0.11.2", "0.12.0.1")


def sources(version: str) -> Callable[[str], str]:
    """A function that reads a file of the release."""
    wanted = next(
        release
        for release in history.read(ROOT / "requirements" / "history.txt")
        if (release.distribution, release.version) == ("jax", version)
    )
    path = wheel.find(wanted, ROOT / "build" / "wheels")
    assert path is not None, "`make test` fetches the wheels, as does `track sync --history`"
    archive = zipfile.ZipFile(path)
    return lambda name: archive.read(name).decode()


def gpu_lowering(read: Callable[[str], str]) -> str:
    """The function in `pallas_call.py` that chooses."""
    text = read(f"{PALLAS}/pallas_call.py")
    found = [node for node in ast.walk(ast.parse(text)) if getattr(node, "name", "") == "gpu_lowering"]
    assert len(found) == 1
    return ast.get_source_segment(text, found[0]) or ""


def default_of(chooser: str, config: str, *, triton_warns: bool) -> str:
    """The backend without parameters, and whether jax warns of it."""
    if "jax_pallas_use_mosaic_gpu" in chooser:
        assert "bool_env('JAX_PALLAS_USE_MOSAIC_GPU', True)" in config
        assert re.search(
            r'if ctx\.primitive is pallas_call_p:\s+deprecations\.warn\(\s+"jax-pallas-call-mgpu"', chooser
        )
        return "Mosaic GPU, deprecated"
    assert "jax_pallas_use_mosaic_gpu" not in config
    assert "compiler_params = triton_core.CompilerParams()" in chooser
    return "Triton, deprecated" if triton_warns else "Triton"


def row_of(version: str) -> tuple[str, str, str]:
    """What the sources say: without parameters, with Triton's, and with those of Mosaic GPU."""
    read = sources(version)
    chooser = gpu_lowering(read)
    asks_table = 'pallas_core.get_lowering_rule(type(compiler_params), "gpu")'
    assert asks_table in chooser
    triton_warns = '"jax-pallas-triton"' in read(f"{PALLAS}/triton/pallas_call_registration.py")
    mosaic = REGISTERS.search(read(f"{PALLAS}/mosaic_gpu/pallas_call_registration.py"))
    if mosaic:  # it registers itself when the chooser imports it, so the first call gets past the table to the warning
        assert "isinstance(compiler_params, mgpu_core.CompilerParams)" in chooser
    else:
        assert "assert rule is not None" in chooser
    return (
        default_of(chooser, read("jax/_src/config.py"), triton_warns=triton_warns),
        "Triton, deprecated" if triton_warns else "Triton",
        "Mosaic GPU, deprecated" if mosaic else "an assertion",
    )


@pytest.mark.parametrize("version", RELEASES)
def test_the_page_says_what_the_release_does(version: str) -> None:
    said = {release: tuple(cells) for release, *cells in ROW.findall(PAGE.read_text("utf-8"))}
    assert said[version] == row_of(version)


def test_the_page_has_a_row_for_each_release_that_is_compared() -> None:
    known = [r.version for r in history.read(ROOT / "requirements" / "history.txt") if r.distribution == "jax"]
    assert [release for release, *_ in ROW.findall(PAGE.read_text("utf-8"))] == known == list(RELEASES)
