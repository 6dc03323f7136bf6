"""Which backend a GPU gets in each release: the committed answers, against the sources of those releases."""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from collections.abc import Callable

import pytest

from tests.facts.conftest import ROOT
from track.errors import BadEnvironment, BadInput
from track.evidence import releases
from track.evidence.releases import Answer
from track.pages.releases import cell
from track.pins import history, wheel

PALLAS = "jax/_src/pallas"
REGISTERS = re.compile(r"\.register_lowering_rule\(\s*gpu_core\.CompilerParams,\s*\w+,\s*\"gpu\"")
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
        "Mosaic GPU, deprecated" if mosaic else "`AssertionError`",
    )


@pytest.fixture(scope="module")
def answers() -> releases.Answers:
    return releases.read(ROOT)


@pytest.mark.parametrize("version", RELEASES)
def test_a_release_answered_what_its_sources_say(answers, version: str) -> None:
    said = answers.releases[version]
    assert tuple(cell(said[way]) for way in ("default", "triton", "mosaic_gpu")) == row_of(version)
    assert {answer.jax for answer in said.values()} == {version}


def test_every_release_that_is_compared_was_asked(answers) -> None:
    known = [r.version for r in history.read(ROOT / "requirements" / "history.txt") if r.distribution == "jax"]
    assert [*answers.releases] == known == list(RELEASES)


@pytest.mark.parametrize("way", releases.WAYS)
def test_the_installed_release_still_answers_so(answers, way: str) -> None:
    found = releases.ask(way)
    assert found == answers.releases[found.jax][way]


def test_a_python_without_jax_is_told_with_its_own_words(tmp_path, monkeypatch) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho \"No module named 'jax'\" >&2; exit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(BadEnvironment, match="No module named 'jax'"):
        releases.ask("default")


def test_answers_that_cannot_be_read_name_the_command_that_writes_them(tmp_path) -> None:
    with pytest.raises(BadInput, match="track releases"):
        releases.read(tmp_path)
    path = tmp_path / releases.PATH
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"date": "2026-11-29"}))
    with pytest.raises(BadInput, match="python"):
        releases.read(tmp_path)


@pytest.mark.parametrize(
    ("calls", "warned", "error", "shown"),
    [
        (("mosaic_gpu_v2",), (), "", "Mosaic GPU"),
        (("another.call",), ("is deprecated",), "", "`another.call`, deprecated"),
        (("mosaic_gpu_v2",), ("is experimental",), "", "Mosaic GPU"),
        ((), (), "NotImplementedError: not yet", "`NotImplementedError`"),
    ],
)
def test_a_cell_says_the_backend_and_whether_it_is_deprecated(calls, warned, error, shown) -> None:
    assert cell(Answer("1.0", "1.0", calls, warned, error)) == shown
