"""Building a whole site: what is on it, when it is built again, and what can go wrong without harm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from track.pages.address import address

SOURCE = (Path(__file__).parents[1] / "tinysite" / "source" / "tiny" / "box.py").read_text().splitlines()


def test_every_line_that_is_shown_or_folded_is_on_the_page_with_its_number(built):
    page = Html(built.page())
    shown = [int(anchor.attributes["id"].removeprefix("L")) for anchor in page.css(".lst pre u[id]")]
    lines = [line for block in page.css(".lst pre") for line in block.text().split("\n")]
    assert dict(zip(shown, lines, strict=True)) == {n: SOURCE[n - 1] for n in shown}
    hidden = [n for n in range(1, len(SOURCE) + 1) if n not in shown]
    assert all(n <= 3 or not SOURCE[n - 1] for n in hidden), "only the license and blank lines"


def test_the_source_is_text_and_never_markup(built):
    assert "<script>alert(1)" not in built.page()
    assert "<script>document.title" not in built.page()
    assert "&lt;script&gt;document.title" in built.page()


def test_a_listing_says_what_it_shows_and_leads_to_it(built, upstream):
    head = Html(built.page()).css_first(".lst-head")
    first, last = SOURCE.index("class Box:") + 1, SOURCE.index("        return self.things.pop()") + 1
    link = f"https://github.com/tiny/tiny/blob/{upstream[1]}/tiny/box.py#L{first}-L{last}"
    assert head.css_first("a").attributes["href"] == link
    assert "Box" in head.text()
    assert f"unmodified, file at commit {upstream[1][:7]}" in head.text()


def test_the_license_notice_and_the_license_are_there(built):
    page = Html(built.page())
    assert page.css_first(".lst-license pre").text().splitlines() == SOURCE[:3]
    assert page.css_first(".upstream pre").text() == "The tiny license.\n"


def test_a_note_follows_its_lines_and_holds_markdown(built):
    rows = [row for row in Html(built.page()).css(".lst-row") if row.css(".lst-note")]
    assert [row.css_first(".lst-on").text().strip().split("\n")[0] for row in rows] == [
        "if len(self.things) >= LIMIT:",
        "self.things.append(thing)",
    ]
    assert rows[0].css_first(".lst-note a:not(.lst-ref)").attributes["href"] == "../index.html"
    assert rows[1].css_first(".lst-note table td").text() == "append"


def test_folds_open_without_a_script_and_say_why(built):
    folds = Html(built.page()).css("details.lst-fold")
    labels = [fold.css_first("summary code").text() for fold in folds]
    assert labels == [
        "def __init__(self): … self.things = []",
        "Box.put",
        '"""A box that holds things."""  … from __future__ import annotations'.replace("  ", " "),
        "LIMIT",
        "empty",
    ]
    roles = [role.text().strip() for role in Html(built.page()).css(".lst-role")]
    assert "Takes everything out, last in first out." in roles


def test_a_formula_is_mathml(built):
    assert Html(built.page()).css_first("math mi").text() == "n"


def test_a_kernel_that_raises_is_a_verdict_on_the_page_and_no_failure_of_the_build(built):
    page = Html(built.page())
    cells = [[cell.text() for cell in row.css("td")] for row in page.css("table tbody tr")]
    verdicts = {row[2]: row[4] for row in cells if row[0] == "raises"}
    asked = {lane: verdict for lane, verdict in verdicts.items() if verdict != "not-applicable"}
    assert asked == {"hlo": "crashed", "tpu-interpret": "crashed"}
    assert page.css_first(".admonition.failure").text().startswith("No timeline")


def test_the_front_page_lists_what_is_written_and_what_is_planned(built):
    track = Html(built.page("index.html")).css_first("ol.track")
    assert [(a.text(), a.attributes["href"]) for a in track.css("a")] == [("A box", "pages/box.html")]
    assert track.css_first(".planned").text() == "More boxes"
    assert "1 of 2 written" in track.text()


def test_an_unchanged_build_does_nothing_at_once(built):
    before = {p: p.stat().st_mtime_ns for p in (built.root / "build").rglob("*") if p.is_file() and p.name != "lock"}
    assert "nothing changed" in built.track("build")
    after = {p: p.stat().st_mtime_ns for p in (built.root / "build").rglob("*") if p.is_file() and p.name != "lock"}
    assert before == after


def test_two_builds_of_the_same_input_are_the_same_bytes(built, make_site, tmp_path):
    elsewhere = tmp_path / "a much longer way to the same checkout"
    elsewhere.mkdir()
    again = make_site(elsewhere)
    again.track("build")
    assert again.files() == built.files()


def test_with_no_address_there_is_no_edit_link_and_with_one_it_leads_to_docs(site):
    site.track("build")
    assert "edit/main" not in site.page()
    assert "github.com/me/" not in site.page()
    site.track("build", GITHUB_REPOSITORY="me/track")
    assert "https://github.com/me/track/edit/main/docs/pages/box.md" in site.page()


@pytest.mark.parametrize(
    ("remote", "known"),
    [
        ("https://github.com/me/track.git", True),
        ("git@github.com:me/track.git", True),
        ("ssh://git@github.com/me/track", True),
        ("https://token@github.com/me/track", True),
        ("/srv/git/track.git", False),
        ("https://git.internal/me/track", False),
    ],
)
def test_the_address_comes_from_a_public_remote(tmp_path, monkeypatch, remote, known):
    for name in ("GITHUB_REPOSITORY", "TRACK_SITE_URL"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", remote], check=True)
    expected = {"TRACK_REPO_URL": "https://github.com/me/track", "TRACK_EDIT_URI": "edit/main/docs/"}
    assert address(tmp_path) == (expected if known else {})


BROKEN = [
    ("docs/pages/box.md", "`self.things.append(thing)`", "`self.things.push(thing)`", "docs/pages/box.md:21", 1),
    ("docs/pages/box.md", "`self.things.append(thing)`", "`self.things`", "matches more than once", 2),
    ("docs/pages/box.md", "tiny/box.py  Box", "tiny/box.py  Bax", "no symbol 'Bax'", 2),
    ("docs/pages/box.md", "tiny/box.py  Box", "tiny/bag.py  Box", "no pinned file 'tiny/bag.py'", 2),
    ("docs/pages/box.md", "fold: docstrings", "fold: docstring", "docs/pages/box.md:11", 2),
    ("docs/pages/box.md", "kernels: raises", "kernels: rises", "no kernel 'rises'", 2),
    ("docs/pages/box.md", "](../index.md)", "](../nowhere.md)", "../nowhere.md", 2),
    ("docs/index.md", "tiny.commit-short", "tiny.commit-long", "docs/index.md:3", 2),
    ("docs/index.md", "](pages/box.md)", "](pages/bax.md)", "pages/bax.md", 1),
    ("docs/index.md", "](pages/box.md)", "](pages/box.md#nowhere)", "nowhere", 1),
    ("mkdocs.yml", ", { A box: pages/box.md }", "", "a page that the navigation does not name", 2),
    ("docs/track.toml", 'kind = "lab"', 'kind = "laboratory"', "docs/track.toml", 2),
]


def test_each_mistake_stops_the_build_with_its_place_and_leaves_the_last_site(site):
    site.track("build")
    good = site.files()
    for name, old, new, told, code in BROKEN:
        site.edit(name, old, new)
        said = site.track("build", code=code)
        assert told in said, (new, said)
        assert "Traceback" not in said
        assert site.files() == good
        site.edit(name, new, old) if new else site.edit(
            name, "nav: [{ Home: index.md }", "nav: [{ Home: index.md }" + old
        )
    assert "nothing changed" in site.track("build")


def test_all_mistakes_of_all_pages_are_shown_together(site):
    site.edit("docs/index.md", "tiny.commit-short", "nothing.such")
    site.edit("docs/pages/box.md", "`self.things.append(thing)`", "`gone`")
    said = site.track("build", code=2)
    assert "docs/index.md:3" in said
    assert "docs/pages/box.md:21" in said
    assert "2 errors" in said


def test_a_wrong_byte_in_a_source_names_both_ids(site):
    box = next((site.root / "build" / "sources").rglob("box.py"))
    pinned = site.root.joinpath("pins.toml").read_text().split('"tiny/box.py" = "git:')[1][:40]
    box.write_text(box.read_text().replace("LIMIT = 3", "LIMIT = 4"))
    found = subprocess.run(["git", "hash-object", str(box)], capture_output=True, text=True, check=True).stdout.strip()
    said = site.track("build", code=1)
    assert pinned in said
    assert found in said


def test_a_lock_is_written_with_the_page_and_holds_the_notes(site):
    site.track("build")
    rows = json.loads((site.root / "docs/pages/box.lock.json").read_text())
    assert [row["anchor"]["first"] for row in rows] == ["if len(self.things) >= LIMIT:", "self.things.append(thing)"]
    assert {row["anchor"]["symbol"] for row in rows} == {"Box.put"}


def test_a_note_whose_code_was_edited_stops_the_build_until_it_is_locked_again(site):
    site.track("build")
    lock = site.root / "docs/pages/box.lock.json"
    rows = json.loads(lock.read_text())
    rows[1]["anchor"]["statements"] = ["0" * 16]  # as if the statement had been another one at review
    lock.write_text(json.dumps(rows))
    said = site.track("build", code=1)
    assert "no longer matches its code: edited" in said
    assert "track lock docs/pages/box.md" in said
    assert "2 notes locked" in site.track("lock", "docs/pages/box.md")
    site.track("build")


def test_coverage_counts_what_a_page_accounts_for(built):
    row = json.loads(built.track("coverage", "--json"))[0]
    assert (row["page"], row["path"], row["lines"]) == ("docs/pages/box.md", "tiny/box.py", len(SOURCE))
    assert (row["unaccounted"], row["notes"]) == (0, 2)
    assert row["shown"] + row["folded"] == row["lines"]


def test_a_line_that_nothing_accounts_for_is_found(site):
    site.edit("docs/pages/box.md", "- `LIMIT`\n\n  How much fits.\n\n", "")
    said = site.track("coverage", code=1)
    assert f"unaccounted: {SOURCE.index('LIMIT = 3') + 1}" in said


def test_of_two_builds_at_once_the_second_says_so(site):
    with subprocess.Popen(
        site.command("build"), cwd=site.root, env=site.environment(), stdout=subprocess.DEVNULL
    ) as first:
        lock = site.root / "build" / "lock"
        wait_for(lambda: lock.is_file() and lock.read_text().strip() == str(first.pid))
        said = site.track("build", code=3)
        assert str(first.pid) in said
        assert first.wait(timeout=100) == 0
    assert "nothing changed" in site.track("build")


@pytest.mark.parametrize(
    "moment", ["build/pages/index.md", "build/site.partial", "build/site.partial/search", "build/site"]
)
def test_after_a_kill_the_next_build_is_right(site, built, moment):
    with subprocess.Popen(
        site.command("build"), cwd=site.root, env=site.environment(), start_new_session=True
    ) as victim:
        wait_for(lambda: (site.root / moment).exists() or victim.poll() is not None)
        os.killpg(victim.pid, signal.SIGKILL)
    site.track("build")
    assert site.files() == built.files()
    left = [p.name for p in (site.root / "build").rglob("*") if "partial" in p.name or p.name == "site.old"]
    assert left == []


def wait_for(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)
