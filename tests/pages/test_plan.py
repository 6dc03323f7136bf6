"""The plan of the track, and the navigation that has to agree with what is written."""

from __future__ import annotations

import pytest

from tests.pages.helpers import ROOT
from track.errors import BadInput
from track.pages.config import load_config
from track.pages.plan import Planned, misplaced, read_plan

PLAN = """
[[phase]]
title = "Start"
promise = "You can."
pages = [{ path = "start/a.md", kind = "KIND", title = "A" }]
"""


def plan_of(folder, text):
    (folder / "track.toml").write_text(text)
    return read_plan(folder)


@pytest.mark.parametrize("kind", ["article", "annotated", "source", "lab", "layer", "generated"])
def test_a_plan_is_read_in_its_order(tmp_path, kind):
    (phase,) = plan_of(tmp_path, PLAN.replace("KIND", kind))
    assert (phase.title, phase.promise) == ("Start", "You can.")
    assert phase.pages == (Planned("start/a.md", kind, "A"),)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PLAN, "KIND"),
        (PLAN.replace("promise", "premise"), "premise"),
        (PLAN.replace("KIND", "lab").replace("title =", "name ="), "name"),
        ("[[phase]\n", "line 1"),
        ("", "phase"),
    ],
)
def test_a_plan_that_is_not_as_it_should_be_is_bad_input(tmp_path, text, found):
    with pytest.raises(BadInput, match="plan of the track cannot be read") as caught:
        plan_of(tmp_path, text)
    assert caught.value.details["file"] == "docs/track.toml"
    assert found in caught.value.details["found"]


def test_no_plan_is_an_empty_one(tmp_path):
    assert read_plan(tmp_path) == ()


def test_the_plan_of_this_track_names_no_page_twice():
    paths = [page.path for phase in read_plan(ROOT / "docs") for page in phase.pages]
    assert len(paths) > 20
    assert len(paths) == len(set(paths))


NAV = [{"Home": "index.md"}, {"Part": [{"A": "tpu/a.md"}, "tpu/b.md"]}]


def test_pages_and_navigation_that_agree_are_fine():
    assert list(misplaced(NAV, {"index.md", "tpu/a.md", "tpu/b.md"})) == []


def test_a_page_that_the_navigation_lacks_is_an_error():
    (error,) = misplaced(NAV, {"index.md", "tpu/a.md", "tpu/b.md", "tpu/c.md"})
    assert isinstance(error, BadInput)
    assert error.what == "a page that the navigation does not name"
    assert error.details == {"file": "mkdocs.yml", "page": "docs/tpu/c.md"}


def test_a_page_that_only_the_navigation_knows_is_an_error():
    (error,) = misplaced(NAV, {"index.md", "tpu/b.md"})
    assert isinstance(error, BadInput)
    assert error.what == "the navigation names a page that is not there"
    assert error.details["page"] == "docs/tpu/a.md"


def test_both_are_said_at_once():
    assert len(list(misplaced(NAV, {"other.md"}))) == 4


def test_no_navigation_names_no_page():
    (error,) = misplaced(None, {"index.md"})
    assert error.details["page"] == "docs/index.md"


def test_the_navigation_of_this_site_agrees_with_its_pages():
    docs = ROOT / "docs"
    written = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert list(misplaced(load_config(ROOT / "mkdocs.yml")["nav"], written)) == []


def test_a_configuration_that_is_no_yaml_is_bad_input(tmp_path):
    (tmp_path / "mkdocs.yml").write_text("nav: [")
    with pytest.raises(BadInput, match="cannot be read"):
        load_config(tmp_path / "mkdocs.yml")


def test_the_configuration_is_read_with_its_environment_left_out(tmp_path):
    (tmp_path / "mkdocs.yml").write_text('site_url: !ENV [URL, ""]\nrepo_url: !ENV URL\nnav: [index.md]\n')
    assert load_config(tmp_path / "mkdocs.yml")["nav"] == ["index.md"]
