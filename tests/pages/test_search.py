"""What a search finds besides prose, and how it gets into Material's index. What comes first is in tests/site."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.pages.helpers import NOTHING_KNOWN, library
from tests.pages.test_compiled import record
from track.errors import Finding
from track.evidence import Evidence
from track.evidence.record import Listed, Verdict
from track.pages.document import read
from track.pages.layout import Bound, bind
from track.pages.locks import Lock
from track.pages.names import Names
from track.pages.search import ANNOTATED, ERROR, PUBLIC, Entry, complete, entries, merged, note

CORE = '''\
class Spec:
    """A <spec>. And more."""

    def step(self):
        return 1


def grid(block):
    return Spec
'''
DOOR = "from pkg.core import Spec as Spec\n"
FILES = {"pkg/core.py": CORE, "jax/experimental/pallas/__init__.py": DOOR}
WHOLE = "# core.py\n\n```source\npkg/core.py\n```\n\n- `Spec.step` Goes on.\n- `grid` Gives *out*.\n"
WRONG = "# Wrong\n\n```verdicts\ntopics: plain, other\n```\n"


def pages(folder) -> tuple[Names, list[Bound]]:
    sources = library(folder, FILES)
    texts = {"docs/core.md": WHOLE, "docs/wrong.md": WRONG}
    kinds = frozenset({"verdicts"})
    found = [bind(read(path, text, kinds), sources.module, Lock()) for path, text in texts.items()]
    return Names.of_pages(sources, found), found


def known() -> Evidence:
    records = [
        record("sums", "small", "hlo", "any", Verdict("ok")),
        record("sums", "small", "tpu-aot", "v4", Verdict("refused", error="No: a <b>\nsecond line")),
        record("sums", "small", "tpu-aot", "v5e", Verdict("refused", error="No: a <b>\nsecond line")),
        record("sums", "small", "tpu-aot", "v6e", Verdict("refused", error="Another")),
        record("far", "small", "tpu-aot", "v4", Verdict("refused", error="Not here"), topic="elsewhere"),
    ]
    listed = Listed("sums", {"small": ""}, (), {}, mistake="Adds too much.")
    by_key = {(r.kernel, r.case, r.lane, r.target): r for r in records}
    return Evidence(by_key, {}, {}, {}, {}, {"sums": listed}, 0)


def test_every_symbol_of_a_shown_file_is_found_with_its_signature_and_role(tmp_path):
    names, found = pages(tmp_path)
    assert list(entries(found, names, NOTHING_KNOWN)) == [
        Entry("core.html#Spec", "Spec", "class Spec A &lt;spec&gt;.", PUBLIC),
        Entry("core.html#Spec.step", "Spec.step", "def step(self) Goes on."),
        Entry("core.html#grid", "grid", "def grid(block) Gives *out*."),
    ]


def test_a_symbol_that_is_annotated_weighs_more(tmp_path):
    text = "```listing\npkg/core.py  grid\n```\n\n- `return Spec`\n\n  Says.\n"
    names, found = pages(tmp_path)
    noted = bind(read("docs/a.md", text, frozenset()), names.library.module, Lock())
    found = [*found, noted]
    entry = next(e for e in entries(found, Names.of_pages(names.library, found), NOTHING_KNOWN) if e.title == "grid")
    assert (entry.location, entry.boost) == ("a.html#grid", ANNOTATED)


def test_an_error_is_found_once_for_each_text_on_the_page_that_shows_its_topic(tmp_path):
    names, found = pages(tmp_path)
    errors = [entry for entry in entries(found, names, known()) if entry.location.startswith("wrong.html")]
    assert errors == [
        Entry(
            "wrong.html#verdict-sums-tpu-aot-v4",
            "No: a &lt;b&gt;",
            "No: a &lt;b&gt;\nsecond line sums Adds too much.",
            ERROR,
        ),
        Entry("wrong.html#verdict-sums-tpu-aot-v6e", "Another", "Another sums Adds too much.", ERROR),
    ]


def test_a_note_is_found_by_its_words_under_its_symbol():
    body = "<p>It <em>waits</em>, <code>a &lt; b</code>.</p>"
    assert note("docs/a/b.md", 12, "Spec.step", body) == Entry("a/b.html#L12", "Spec.step", "It waits , a &lt; b .")


INDEX: dict[str, Any] = {
    "config": {"lang": ["en"]},
    "docs": [
        {"location": "a.html", "title": "A", "text": ""},
        {"location": "a.html#x", "title": "X", "text": "old"},
        {"location": "b.html", "title": "B", "text": "b"},
    ],
}


def test_entries_follow_the_sections_and_take_the_place_of_their_namesakes():
    done = merged(
        INDEX, [Entry("a.html#x", "X", "new"), Entry("b.html#L1", "y", "one"), Entry("b.html#L1", "y", "two", 2)]
    )
    assert done["config"] == INDEX["config"]
    assert done["docs"] == [
        INDEX["docs"][0],
        {"location": "a.html#x", "title": "X", "text": "new"},
        INDEX["docs"][2],
        {"location": "b.html#L1", "title": "y", "text": "one two", "boost": 2},
    ]


def test_an_entry_for_a_page_that_is_not_there_is_an_error():
    with pytest.raises(Finding, match="not indexed"):
        merged(INDEX, [Entry("c.html#x", "X", "new")])


def test_a_site_is_completed_in_place_and_one_without_search_is_left_alone(tmp_path):
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "search.json").write_text('[{"location":"b.html#L1","title":"y","text":"one","boost":2.0}]')
    site = tmp_path / "site"
    site.mkdir()
    complete(tmp_path, site)
    assert list(site.iterdir()) == []
    (site / "search").mkdir()
    (site / "search" / "search_index.json").write_text(json.dumps(INDEX))
    complete(tmp_path, site)
    docs = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    assert [doc["location"] for doc in docs] == ["a.html", "a.html#x", "b.html", "b.html#L1"]
