"""`pins.toml` is read into frozen values, and every mistake in it has a place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from track.errors import BadInput, Findings
from track.pins import lock
from track.pins.lock import Pin

GOOD = """
[jax]
repository = "https://github.com/jax-ml/jax"
commit = "32544801e26115ac1794926d027148abf3baf009"
distribution = "jax"
version = "0.11.2"
wheel_sha256 = "59e7ed9bd9ace049f4856752fe580c890e0164e1c023f40fadac386408daad66"
wheel_names_commit = true

[jax.files]
"jax/_src/pallas/core.py" = "wheel:7fe4d6048b3b322048975d470ae03661107a97cf"
"""
COMMIT = "32544801e26115ac1794926d027148abf3baf009"
REPOSITORY = "https://github.com/jax-ml/jax"
FILE = "jax/_src/pallas/core.py"
BLOB = "wheel:7fe4d6048b3b322048975d470ae03661107a97cf"


def read(folder: Path, text: str, *, draft: bool = False) -> Mapping[str, Pin]:
    (folder / "pins.toml").write_text(text, "utf-8")
    return lock.read(folder / "pins.toml", draft=draft)


def test_a_pin_keeps_what_the_file_says(tmp_path: Path) -> None:
    """Each field and each file's id arrive as they were written."""
    pin = read(tmp_path, GOOD)["jax"]
    assert (pin.repository, pin.commit, str(pin.release), str(pin)) == (REPOSITORY, COMMIT, "jax 0.11.2", "jax 3254480")
    assert pin.wheel_names_commit
    assert {path: str(blob) for path, blob in pin.files.items()} == {FILE: BLOB}


@pytest.mark.parametrize(
    ("old", "new", "field", "words"),
    [
        (COMMIT, "3254480", "jax.commit", "40 lowercase hex digits"),
        (COMMIT, COMMIT[:-1] + "g", "jax.commit", "40 lowercase hex digits"),
        (COMMIT, COMMIT.upper(), "jax.commit", "40 lowercase hex digits"),
        (COMMIT, "main", "jax.commit", "40 lowercase hex digits"),
        (REPOSITORY, "ext::sh -c touch% /tmp/x", "jax.repository", "https://"),
        (REPOSITORY, "ssh://git@github.com/jax-ml/jax", "jax.repository", "https://"),
        (REPOSITORY, "git@github.com:jax-ml/jax", "jax.repository", "https://"),
        (REPOSITORY, "http://github.com/jax-ml/jax", "jax.repository", "https://"),
        (REPOSITORY, "https://user:secret@github.com/jax-ml/jax", "jax.repository", "without user"),
        (REPOSITORY, "file:///srv/jax", "jax.repository", "https://"),
        (REPOSITORY, "--upload-pack=touch", "jax.repository", "https://"),
        (FILE, "../outside.py", "jax.files", "no '..'"),
        (FILE, "jax/../../outside.py", "jax.files", "no '..'"),
        (FILE, "/etc/passwd", "jax.files", "no leading '/'"),
        (FILE, ".git/config", "jax.files", "inside the repository"),
        (BLOB, "7fe4d6048b3b322048975d470ae03661107a97cf", FILE, "git:<blob id>"),
        (BLOB, "wheel:7fe4d60", FILE, "git:<blob id>"),
        (BLOB, "", FILE, "git:<blob id>"),
        ("0.11.2", ">=0.11", "jax.version", "exact version"),
        ("59e7ed9b", "59e7", "jax.wheel_sha256", "64 lowercase hex digits"),
        ("true", '"yes"', "jax.wheel_names_commit", "Expected `bool`"),
        ("distribution", "distributor", "jax", "unknown field `distributor`"),
        ("[jax.files]", "[jax.other]", "jax", "unknown field `other`"),
        ("[jax", "[Jax", "Jax", "lowercase letters"),
    ],
)
def test_a_mistake_is_named_with_its_field(tmp_path: Path, old: str, new: str, field: str, words: str) -> None:
    """Wrong input exits 2 and says the file, the field and what would do."""
    with pytest.raises(BadInput) as caught:
        read(tmp_path, GOOD.replace(old, new))
    assert caught.value.exit_code == 2
    assert caught.value.details["file"] == "pins.toml"
    assert field in caught.value.details["field"]
    assert words in str(caught.value)


def test_several_mistakes_are_shown_together(tmp_path: Path) -> None:
    """A person mends a pin in one go."""
    with pytest.raises(Findings) as caught:
        read(tmp_path, GOOD.replace(COMMIT, "main").replace("https://", "ssh://"))
    assert [error.what for error in caught.value.errors] == ["jax.repository is not valid", "jax.commit is not valid"]


@pytest.mark.parametrize("text", ["[jax", GOOD + GOOD, "jax = 1\n"])
def test_a_file_that_holds_no_pins_is_refused(tmp_path: Path, text: str) -> None:
    """Broken TOML, a project that is there twice, and a project that is no table."""
    with pytest.raises(BadInput):
        read(tmp_path, text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The error speaks of the file, not of the machine's folders."""
    with pytest.raises(BadInput, match="no pins file"):
        lock.read(tmp_path / "pins.toml")


def test_only_a_draft_may_have_a_file_without_an_id(tmp_path: Path) -> None:
    """A new line with an empty id waits for `track pin write`, and cannot be read before that."""
    pin = read(tmp_path, GOOD.replace(BLOB, ""), draft=True)["jax"]
    assert pin.files == {FILE: None}
    with pytest.raises(BadInput, match="not pinned"):
        pin.blob(FILE)


@given(st.text(st.characters(codec="utf-8", exclude_characters='"\\'), max_size=30) | st.from_regex(r"[./a]{1,12}"))
def test_no_accepted_path_leaves_the_repository(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    """Whatever is accepted as a path is relative, has no `..`, and has one spelling."""
    folder = tmp_path_factory.getbasetemp()
    try:
        (path,) = read(folder, GOOD.replace(FILE, name))["jax"].files
    except BadInput:
        return
    pure = PurePosixPath(path)
    assert not pure.is_absolute()
    assert ".." not in pure.parts
    assert str(pure) == path


def test_the_first_pins_are_those_of_the_design(pins: Mapping[str, Pin]) -> None:
    """The site starts at jax 0.11.2 and tokamax 0.0.13."""
    commits = {"jax": COMMIT, "tokamax": "96e18848f78db56a19a1422ffb0e5ee3cc30d64f"}
    assert {project: pin.commit for project, pin in pins.items()} == commits
    assert {project: pin.release.version for project, pin in pins.items()} == {"jax": "0.11.2", "tokamax": "0.0.13"}


def test_every_id_says_where_it_was_read(pins: Mapping[str, Pin]) -> None:
    """The repository of jax could not be reached at 0.11.2; tokamax's could."""
    origins = {project: {pin.blob(path).origin for path in pin.files} for project, pin in pins.items()}
    assert origins == {"jax": {"wheel"}, "tokamax": {"git"}}


# The files that `the track` names; a page about one of them cannot be built without it.
TRACK = {
    "jax": [
        "AUTHORS",
        "LICENSE",
        *(f"jax/_src/pallas/{name}.py" for name in ("core", "hlo_interpreter", "pallas_call", "primitives")),
        *(f"jax/_src/pallas/mosaic/{name}.py" for name in ("core", "lowering", "pallas_call_registration")),
        *(f"jax/_src/pallas/mosaic/{name}.py" for name in ("pipeline", "tpu_info", "interpret/interpret_pallas_call")),
        *(f"jax/_src/pallas/mosaic_gpu/{name}.py" for name in ("lowering", "pipeline")),
        "jax/_src/pallas/mosaic_gpu/interpret/interpret_pallas_call.py",
        *(f"jax/_src/pallas/triton/{name}.py" for name in ("lowering", "primitives")),
        "jax/experimental/pallas/ops/tpu/flash_attention.py",
        *(
            f"jax/experimental/pallas/ops/tpu/splash_attention/splash_attention_{name}.py"
            for name in ("kernel", "mask", "mask_info")
        ),
    ],
    "tokamax": [
        "LICENSE",
        "tokamax/_src/benchmarking.py",
        *(f"tokamax/_src/autotuning/{name}.py" for name in ("api", "arg_spec", "autotuner", "cache")),
        *(f"tokamax/_src/ops/{name}.py" for name in ("op", "attention/base")),
        "tokamax/_src/ops/attention/pallas_mosaic_gpu_kernel_sm90.py",
    ],
}


@pytest.mark.parametrize("project", sorted(TRACK))
def test_every_file_of_the_track_is_pinned(pins: Mapping[str, Pin], project: str) -> None:
    """No page of the track waits for a file."""
    assert set(TRACK[project]) <= set(pins[project].files)
