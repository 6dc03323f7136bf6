"""Two releases set against each other: small ones made by hand, and real ones whose changes were counted otherwise."""

from __future__ import annotations

import functools
import hashlib
import json
import zipfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from track.anchors import symbols
from track.drift import doors, editions, history
from track.drift.changes import Changes
from track.drift.editions import Edition
from track.drift.releases import compare
from track.drift.summary import summary
from track.errors import BadEnvironment, BadInput, Finding
from track.pins import lock
from track.pins import wheel as wheels
from track.pins.lock import Pin, Release

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://example.org/pkg"
LONG = "    total = 0\n    for item in items:\n        total += weigh(item, total)\n    return total or None\n"


def edition(files: dict[str, str], version: str = "1", commit: str | None = "a" * 40) -> Edition:
    return Edition("pkg", version, commit, files)


def changes(old: dict[str, str], new: dict[str, str]) -> Changes:
    return compare(edition(old), edition(new, "2", "b" * 40), REPOSITORY)


def told(found: Changes) -> list[tuple[str, str, str]]:
    """Kind, old name and new name of every definition that changed."""
    return [
        (c.kind, c.old.symbol if c.old else "", c.new.symbol if c.new else "") for f in found.files for c in f.symbols
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("x = 1\n", "x = 1\n", []),
        ("x = 1\n", "# why\n\nx = (1)\n", []),
        ("x = 1\n", "x = 2\n", [("changed", "x", "x")]),
        ("x = 1\n", "x = 1\ny = 2\n", [("added", "", "y")]),
        ("x = 1\ny = 2\n", "x = 1\n", [("removed", "y", "")]),
        ("def f(items):\n" + LONG, "def g(items):\n" + LONG, [("renamed", "f", "g")]),
        # What is inside a function is its own affair, and what a member explains is not said of the class again.
        (
            "def f():\n    def g():\n        return 1\n",
            "def f():\n    def h():\n        return 1\n",
            [("changed", "f", "f")],
        ),
        (
            "class A:\n    def f(self):\n        return 1\n",
            "class A:\n    def f(self):\n        return 2\n",
            [("changed", "A.f", "A.f")],
        ),
        ("class A:\n    x = 1\n", "class A:\n    x = 1\n    y = 2\n", [("added", "", "A.y")]),
        ("class A:\n    x = 1\n", "class A(B):\n    x = 2\n", [("changed", "A", "A"), ("changed", "A.x", "A.x")]),
        ("class A:\n    x = 1\n", "class A(B):\n    x = 1\n", [("changed", "A", "A")]),
        ("class A:\n    f()\n", "class A:\n    g()\n", [("changed", "A", "A")]),
        # A class that got another name takes its members along.
        (
            "class A:\n    x = 1\n    def f(items):\n"
            + LONG.replace("\n    ", "\n        ").replace("    t", "        t", 1),
            "class B:\n    x = 1\n    def f(items):\n"
            + LONG.replace("\n    ", "\n        ").replace("    t", "        t", 1),
            [("renamed", "A", "B")],
        ),
    ],
)
def test_what_became_of_the_definitions_of_a_file(old, new, expected):
    assert told(changes({"a.py": old}, {"a.py": new})) == expected


def test_a_definition_that_went_to_another_file_is_moved_with_both_places():
    found = changes(
        {"a.py": "x = 1\n\n\ndef f(items):\n" + LONG, "b.py": ""}, {"a.py": "x = 1\n", "b.py": "def f(items):\n" + LONG}
    )
    (change,) = [c for file in found.files for c in file.symbols]
    assert (change.kind, change.is_edited) == ("moved", False)
    assert (change.old.path, change.old.first, change.old.last) == ("a.py", 4, 8)
    assert (change.new.path, change.new.first, change.new.last) == ("b.py", 1, 5)


BODIES = {name: f"def {name}(items):\n" + LONG.replace("total", name * 3) for name in "fgh"}


def test_a_file_that_went_elsewhere_is_moved_and_its_definitions_are_not_told_one_by_one():
    found = changes({"a.py": BODIES["f"] + BODIES["g"]}, {"b.py": BODIES["f"] + BODIES["g"].replace("None", "0")})
    (file,) = found.files
    assert (file.path, file.kind, file.was, file.old_lines, file.new_lines) == ("b.py", "moved", "a.py", 10, 10)
    assert told(found) == [("changed", "g", "g")]


def test_a_file_whose_definitions_went_to_several_is_split():
    found = changes({"a.py": BODIES["f"] + BODIES["g"]}, {"b.py": BODIES["f"], "c.py": BODIES["g"]})
    assert [(f.path, f.kind, dict(f.became)) for f in found.files if f.kind != "added"] == [
        ("a.py", "split", {"b.py": 1, "c.py": 1})
    ]
    assert [kind for kind, _, _ in told(found)] == ["moved", "moved"]


def test_files_that_came_and_went_are_told_with_what_they_define():
    found = changes({"a.py": "x = 1\n"}, {"b.py": "y = 2\nz = 3\n"})
    assert [(f.path, f.kind) for f in found.files] == [("a.py", "removed"), ("b.py", "added")]
    assert told(found) == [("removed", "x", ""), ("added", "", "y"), ("added", "", "z")]


def test_one_that_is_removed_has_those_beside_it_that_are_alike_and_became_none_of_them():
    (gone, came) = (
        changes({"a.py": "def finalize(): return 1\n"}, {"a.py": "def finalize_step(a): return 2\n"}).files[0].symbols
    )
    assert (gone.kind, gone.like, came.kind) == ("removed", ("finalize_step",), "added")


def test_permalinks_lead_to_the_lines_at_each_commit():
    found = changes({"a.py": "x = 1\n"}, {"a.py": "x = (2,\n     3)\n"})
    (change,) = found.files[0].symbols
    assert change.old is not None
    assert change.new is not None
    assert found.permalink(found.old, change.old) == f"{REPOSITORY}/blob/{'a' * 40}/a.py#L1"
    assert found.permalink(found.new, change.new) == f"{REPOSITORY}/blob/{'b' * 40}/a.py#L1-L2"
    nameless = compare(edition({}, commit=None), edition({}), REPOSITORY)
    assert nameless.permalink(nameless.old, change.old) is None


def test_a_release_has_the_commit_that_is_pinned_or_that_its_wheel_names():
    pin = lock.read(ROOT / "pins.toml")["tokamax"]
    releases = editions.known(ROOT, pin)
    found = {version: editions.open_edition(ROOT, pin, releases[version]).commit for version in ("0.0.13", "0.0.14")}
    assert found == {"0.0.13": pin.commit, "0.0.14": "87188961149792a4f79f7c913d7bbbf529a2338a"}


def test_changes_are_the_same_after_a_trip_through_json():
    found = changes({"a.py": "x = 1\n" + BODIES["f"]}, {"a.py": "x = 2\n", "b.py": BODIES["f"]})
    assert msgspec.json.decode(msgspec.json.encode(found), type=Changes) == found


NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(NAMES, NAMES)
def test_names_that_came_and_went_are_a_difference_of_sets(old, new):
    """Each definition is told apart from the others, so nothing but its name can be matched."""
    texts = ["".join(f"{name} = {ord(name)}\n" for name in names) for names in (old, new)]
    found = told(changes({"a.py": texts[0]}, {"a.py": texts[1]}))
    assert {a for kind, a, _ in found if kind == "removed"} == set(old) - set(new)
    assert {b for kind, _, b in found if kind == "added"} == set(new) - set(old)
    assert {kind for kind, _, _ in found} <= {"added", "removed"}


def test_the_summary_tells_what_the_values_hold():
    found = changes({"a.py": "x = 1\ny = 2\n"}, {"a.py": "x = 3\nz = 2\n"})
    text = summary(found).splitlines()
    assert text[0] == "pkg 1 (aaaaaaa) -> 2 (bbbbbbb)"
    assert "    ~ x  a.py:1" in text
    assert text[-1] == "1 files differ; definitions: 1 added, 1 removed, 0 renamed, 0 moved, 1 changed"
    assert "names no commit" in summary(compare(edition({}, commit=None), edition({}), REPOSITORY))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from a import b as b\nfrom a import c\nimport d as d\nimport e\n", {"b": False, "d": False}),
        ("from a import b as _b\n_c = 1\nd = 2\ne: int = 3\n", {"d": False, "e": False}),
        ("def f(): pass\nclass G: pass\n", {"f": False, "G": False}),
        ("import typing\nx = 1\ndel x\n", {}),
        ("_deprecations = {'old': ('use new', new), 'gone': ('was removed', None)}\n", {"old": True}),
        ("if typing.TYPE_CHECKING:\n    from a import old as old\nelse:\n    x = 1\n", {"x": False}),
    ],
)
def test_the_public_names_of_a_module_are_those_that_a_user_gets(text, expected):
    assert doors.public_names(symbols.parse("door.py", text)) == expected


def test_a_module_that_imports_everything_hides_its_names_which_is_a_finding():
    with pytest.raises(Finding, match="imports everything") as caught:
        doors.public_names(symbols.parse("door.py", "x = 1\nfrom a import *\n"))
    assert caught.value.details["code"] == "door.py:2"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("jax/_src/pallas/new/file.py", True),
        ("jax/experimental/mosaic/gpu/core.py", True),
        ("jax/_src/deprecations.py", True),  # pinned
        ("jax/_src/core.py", False),
        ("jax/experimental/pallas/ops/tpu/a_test.py", False),
        ("jax/_src/pallas/readme.md", False),
        ("jax/version.py", False),
    ],
)
def test_pallas_is_compared_and_the_rest_of_jax_is_not(path, expected):
    assert editions.in_scope(lock.read(ROOT / "pins.toml")["jax"], path) is expected


def test_of_another_project_the_folders_are_compared_that_hold_a_pinned_file():
    pin = lock.read(ROOT / "pins.toml")["tokamax"]
    assert editions.in_scope(pin, "tokamax/_src/ops/attention/new.py")
    assert not editions.in_scope(pin, "tokamax/_src/ops/normalization/api.py")
    assert not editions.in_scope(pin, "tokamax/conftest.py")


def made(folder: Path, version: str, files: dict[str, str]) -> Release:
    """A wheel in the folder where the tool looks for wheels."""
    path = folder / "build" / "wheels" / f"pkg-{version}-py3-none-any.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return Release("pkg", version, hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.fixture
def checkout(tmp_path) -> tuple[Path, dict[str, Pin]]:
    """Three releases of a small project, and its pin."""
    texts = {"1": "x = 1\n", "2": "x = 2\n", "3": "x = 2\ny = 3\n"}
    releases = [
        made(tmp_path, version, {"pkg/a.py": text, "pkg/version.py": f"_git_hash = '{version * 40}'\n"})
        for version, text in texts.items()
    ]
    rows = [f"{r.distribution}=={r.version} --hash=sha256:{r.sha256}\n" for r in releases]
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "history.txt").write_text("# releases\n" + "".join(rows))
    pin = Pin("pkg", REPOSITORY, "2" * 40, releases[1], wheel_names_commit=True, files={"pkg/a.py": None})
    return tmp_path, {"pkg": pin}


def test_two_releases_are_compared_by_their_wheels(checkout):
    found = history.changes_of(checkout[0], checkout[1], "pkg", "1", "3")
    assert told(found) == [("changed", "x", "x"), ("added", "", "y")]
    assert (found.old.commit, found.new.commit) == ("1" * 40, "3" * 40)


def test_steps_go_from_each_release_to_the_next_the_newest_first(checkout):
    root, pins = checkout
    found = history.steps(root, pins["pkg"])
    assert [(step.old.version, step.new.version) for step in found] == [("2", "3"), ("1", "2")]


def test_what_was_compared_is_kept_and_needs_no_wheel_again(checkout, monkeypatch):
    root, pins = checkout
    first = history.steps(root, pins["pkg"])
    monkeypatch.setattr(history, "compare", None)
    monkeypatch.setattr(wheels, "fetch", None)
    assert history.steps(root, pins["pkg"]) == first


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:20], lambda _: b"{}", lambda data: data.replace(b'"key":"', b'"key":"0')],
    ids=["cut", "empty", "other key"],
)
def test_what_was_kept_is_made_again_where_it_is_damaged_or_of_something_else(checkout, damage):
    root, pins = checkout
    first = history.changes_of(root, pins, "pkg", "1", "2")
    (kept,) = (root / "build" / "changes").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert history.changes_of(root, pins, "pkg", "1", "2") == first
    assert kept.read_bytes() == whole


@pytest.mark.parametrize(
    ("asked", "what", "expected"),
    [
        (("other", "1", "2"), "no pinned project 'other'", "pkg"),
        (("pkg", "9", "2"), "no release '9' of pkg", "1, 2, 3"),
        (("pkg", "1", ""), "no release '' of pkg", "1, 2, 3"),
        (("pkg", "1", "1"), "compared with itself", None),
    ],
)
def test_releases_that_cannot_be_compared_are_bad_input(checkout, asked, what, expected):
    with pytest.raises(BadInput, match=what) as caught:
        history.changes_of(checkout[0], checkout[1], *asked)
    assert caught.value.details.get("expected") == expected


def test_a_wheel_that_is_not_there_and_cannot_be_fetched_is_a_bad_environment(checkout, monkeypatch):
    root, pins = checkout
    (root / "build" / "wheels" / "pkg-1-py3-none-any.whl").unlink()
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(BadEnvironment, match="could not be downloaded"):
        history.changes_of(root, pins, "pkg", "1", "2")


def test_a_file_that_is_no_python_is_bad_input_with_its_place():
    with pytest.raises(BadInput, match="not valid Python"):
        changes({"a.py": "x = 1\n"}, {"a.py": "with x:\ny = 1\n"})


@functools.cache
def real(old: str, new: str) -> Changes:
    """A comparison of two releases of jax whose wheels the set-up has fetched."""
    pins = lock.read(ROOT / "pins.toml")
    for version in (old, new):
        if wheels.find(editions.known(ROOT, pins["jax"])[version], ROOT / "build" / "wheels") is None:
            pytest.fail(f"build/wheels has no jax {version}: `make test` fetches it, as does `track sync --history`")
    return history.changes_of(ROOT, pins, "jax", old, new)


def test_the_public_names_of_a_real_step_are_those_that_its_packages_have():
    """Counted by importing both packages and listing what their modules hold."""
    found = {Path(door.path).stem: door for door in real("0.11.1", "0.11.2").doors}
    assert found["tpu"].added == ("ACC", "annotate", "emit_pipeline_with_async_prefetch", "reciprocal")
    assert found["tpu"].removed == ("HOST",)
    assert found["__init__"].removed == ("debug_checks_enabled", "dot")
    assert found["__init__"].deprecated == ("reciprocal",)
    assert "triton" not in found


@pytest.mark.parametrize(
    ("old", "new", "table", "added"),
    [
        (
            "0.11.0",
            "0.11.1",
            "TPU TC",
            {"mosaic.conv", "conv_general_dilated", "eval_jaxpr", "mosaic.matmul_lhs_fifo", "mosaic.matmul_pop_fifo"},
        ),
        ("0.11.1", "0.11.2", "TPU TC", {"approx_top_k", "log2", "one_minus_square", "reduce_precision", "top_k"}),
        ("0.11.2", "0.12.0.1", "TPU TC", {"mosaic.has_memory_space", "mulhi"}),
        ("0.11.1", "0.11.2", "Triton", {"log2", "one_minus_square"}),
    ],
)
def test_the_primitives_that_a_real_step_adds_are_those_that_the_tables_gained(old, new, table, added):
    """Counted in the tables of both packages after importing them."""
    (found,) = [t for t in real(old, new).tables if t.table == table]
    assert set(found.added) == added
    assert found.removed == ()


def test_what_a_real_step_did_to_the_pipeline_is_told():
    """`Scheduler.finalize` became `finalize_step` at 0.12, with other code."""
    (file,) = [f for f in real("0.11.2", "0.12.0.1").files if f.path == "jax/_src/pallas/mosaic/pipeline.py"]
    assert (file.kind, file.old_lines, file.new_lines) == ("changed", 2804, 2928)
    gone = {c.old.symbol: c.like for c in file.symbols if c.kind == "removed"}
    assert "Scheduler.finalize" in gone
    assert "Scheduler.finalize_step" in {c.new.symbol for c in file.symbols if c.kind == "added"}


def test_a_file_of_a_real_step_that_did_not_change_is_not_told():
    paths = {file.path for file in real("0.11.2", "0.12.0.1").files}
    assert "jax/experimental/pallas/ops/tpu/flash_attention.py" not in paths
    assert len(paths) > 50


def test_nothing_of_the_sources_is_in_the_json():
    """Only names, places, counts, and the conditions under which a rule is registered."""
    found = json.loads(msgspec.json.encode(real("0.11.2", "0.12.0.1")))
    texts = [c[side]["symbol"] for f in found["files"] for c in f["symbols"] for side in ("old", "new") if c[side]]
    assert len(texts) > 1000
    assert not [text for text in texts if set(text) & set("=:\n\"'")]
