"""What is published besides what MkDocs makes: policies, mended markup, an index, a feed, a footer, a zip."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as ET

import pytest
import yaml
from selectolax.lexbor import LexborHTMLParser as Html

from track.errors import BadInput, Finding
from track.pages.feed import Change, atom, read_changes
from track.pages.footer import report_url
from track.pages.llms import about, llms_txt
from track.pages.offline import offline_files, zipped
from track.pages.policy import policy_of, with_policy
from track.pages.repairs import REPAIRS, repaired
from track.pins import lock

ROOT = Path(__file__).parents[2]
PINS = tuple(lock.read(ROOT / "pins.toml").values())


def sha(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_every_page_has_a_policy_with_the_hashes_of_its_own_inline_code(built):
    pages = {name: data.decode() for name, data in built.files().items() if name.endswith(".html")}
    assert len(pages) == 3
    for page in pages.values():
        tree = Html(page)
        metas = tree.css("meta[http-equiv='Content-Security-Policy']")
        assert len(metas) == 1
        policy = str(metas[0].attributes["content"])
        inline = [s.text() for s in tree.css("script:not([src]):not([type])")]
        assert len(inline) >= 2
        assert set(re.findall(r"'sha256-[^']+'", policy)) == {sha(text) for text in inline}
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'")


def test_the_policy_counts_styles_and_unescapes_what_an_attribute_says():
    page = '<style>a{}</style><p style="font: &quot;x&quot;">&lt;p style="no"&gt;</p><script src="a"></script>'
    policy = policy_of(page)
    assert policy.split("; ")[2].split() == [
        "style-src", "'self'", "'unsafe-hashes'", *sorted([sha("a{}"), sha('font: "x"')]),
    ]  # fmt: skip
    assert policy.split("; ")[1] == "script-src 'self'"


def test_a_page_with_no_place_for_a_policy_is_a_finding():
    with pytest.raises(Finding, match="no place for its security policy"):
        with_policy("<html></html>", "a.html")


@pytest.fixture(scope="module")
def theme(tmp_path_factory):
    """A page of the theme alone, with a repository and a part in its navigation."""
    folder = tmp_path_factory.mktemp("theme")
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text("# A\n\n| a |\n|--:|\n| 1 |\n")
    (folder / "docs" / "b.md").write_text("# B\n")
    (folder / "mkdocs.yml").write_text(
        "site_name: A\nrepo_url: https://github.com/me/track\ntheme: { name: material, font: false, "
        "features: [navigation.sections] }\nmarkdown_extensions: [tables]\nnav: [index.md, { Part: [b.md] }]\n"
    )
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q"], cwd=folder, check=True, capture_output=True)
    return (folder / "site" / "index.html").read_text()


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.why)
def test_the_theme_still_has_what_each_repair_mends(theme, repair):
    assert repair.old in theme
    mended = repaired(theme)
    assert repair.new in mended
    assert repair.old in repair.new or repair.old not in mended


def test_the_alignment_of_a_column_is_a_class(theme):
    assert Html(theme).css_first("td").attributes == {"style": "text-align: right;"}
    assert Html(repaired(theme)).css_first("td").attributes == {"class": "to-right"}


def test_the_index_names_every_page_once_with_a_line_on_it(built):
    text = built.files()["llms.txt"].decode()
    assert text.startswith("# Tiny\n")
    assert re.findall(r"^- \[(.+?)\]\((.+?)\): (.+)$", text, re.MULTILINE) == [
        ("Home", "index.html", f"A site with one page at commit `{built_commit(built)}`."),
        ("A box", "pages/box.html", about((built.root / "build/pages/pages/box.md").read_text())),
    ]


def built_commit(site):
    return lock.read(site.root / "pins.toml")["tiny"].commit[:7]


def test_every_page_of_this_site_says_in_a_line_what_it_holds():
    pages = sorted((ROOT / "docs").rglob("*.md"))
    assert [page.relative_to(ROOT).as_posix() for page in pages if not about(page.read_text())] == []


def test_the_index_follows_the_navigation_however_deep():
    nav = ["a.md", {"Part": [{"B": "b/b.md"}, {"Inner": ["b/c.md"]}]}]
    texts = {
        "a.md": "# A\n\nOne.\nTwo.\n",
        "b/b.md": "---\ndescription: Of b.\n---\n# X\n",
        "b/c.md": "# C\n\nThree.\n",
    }
    assert llms_txt("T", "D", nav, texts.__getitem__, "https://here/").split("\n\n") == [
        "# T", "> D", "## Start", "- [A](https://here/a.html): One.", "## Part",
        "- [B](https://here/b/b.html): Of b.\n- [C](https://here/b/c.html): Three.\n",
    ]  # fmt: skip


ENTRY = '[[change]]\ndate = 2026-01-0{n}\ntitle = "T{n}"\ntext = "Said <{n}>."\n'
ATOM = "{http://www.w3.org/2005/Atom}"


def test_changes_become_a_feed_that_a_reader_understands(tmp_path, node):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n")
    changes = ENTRY.format(n=1) + 'page = "a.md"\n' + ENTRY.format(n=2)
    (tmp_path / "docs" / "changes.toml").write_text(changes)
    (tmp_path / "feed.xml").write_bytes(atom(read_changes(tmp_path), "Tiny", "https://here/"))
    (found,) = node("feed.cjs", tmp_path / "feed.xml", seconds=60)
    assert (found["title"]["value"], found["updated"]) == ("Tiny", "2026-01-02T00:00:00Z")
    entries = [
        (e["title"]["value"], e["updated"], e["summary"]["value"], e["links"][0]["href"]) for e in found["entries"]
    ]
    assert entries == [
        ("T2", "2026-01-02T00:00:00Z", "Said <2>.", "https://here/index.html"),
        ("T1", "2026-01-01T00:00:00Z", "Said <1>.", "https://here/a.html"),
    ]


def test_a_feed_has_what_rfc_4287_asks_of_it():
    feed = ET.fromstring(atom(read_changes(ROOT), "T", ""))  # noqa: S314 -- our own bytes
    for part in (feed, *feed.iter(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert len(part.findall(f"{ATOM}{name}")) == 1
        assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", part.findtext(f"{ATOM}id", ""))
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT00:00:00Z", part.findtext(f"{ATOM}updated", ""))
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    ids = [entry.findtext(f"{ATOM}id") for entry in feed.iter(f"{ATOM}entry")]
    assert len(ids) == len(set(ids)) > 0


def test_an_entry_keeps_its_id_when_its_text_changes():
    one, two = (Change(date=read_changes(ROOT)[0].date, title="T", text=text) for text in ("a", "b"))
    assert one.id == two.id


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[change]]\n", "missing required field"),
        ("change = 1", "Expected"),
        ("[[change]", "line 1"),
        (ENTRY.format(n=1) + 'page = "no.md"\n', "no page docs/no.md"),
        (ENTRY.format(n=1) + 'author = "me"\n', "author"),
    ],
)
def test_a_list_of_changes_that_is_not_as_it_should_be_is_bad_input(tmp_path, text, found):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "changes.toml").write_text(text)
    with pytest.raises(BadInput) as caught:
        read_changes(tmp_path)
    assert found in caught.value.details["found"]
    assert caught.value.details["file"] == "docs/changes.toml"


def test_where_nothing_changed_there_is_no_feed_and_no_link_to_one(built):
    assert "changes.xml" not in built.files()
    assert "changes.xml" not in built.page("index.html")


@pytest.mark.parametrize(
    ("repository", "form", "title", "body"),
    [
        ("https://github.com/me/track", "/me/track/issues/new", "title", "body"),
        ("https://codeberg.org/me/track", "/me/track/issues/new", "title", "body"),
        ("https://gitlab.com/me/track", "/me/track/-/issues/new", "issue[title]", "issue[description]"),
    ],
)
def test_a_report_says_which_page_and_which_pins(repository, form, title, body):
    url = urlsplit(report_url("tpu/pipeline.html", repository, PINS))
    fields = parse_qs(url.query)
    assert url.path == form
    assert fields.keys() == {title, body}
    assert fields[title] == ["Mistake on tpu/pipeline.html"]
    assert "Page: tpu/pipeline.html\n" in fields[body][0]
    for pin in PINS:
        assert f"{pin.project} {pin.release.version} at {pin.commit}" in fields[body][0]


def test_with_no_repository_the_foot_says_whom_to_tell_and_what(built):
    foot = Html(built.page()).css_first("footer .foot")
    assert "without the address of its repository" in foot.text()
    assert "pages/box.html" in foot.text()
    assert foot.css("a.report") == []


def test_with_a_repository_the_foot_links_to_its_form_and_the_theme_asks_no_host(site):
    site.track("build", GITHUB_REPOSITORY="me/track")
    tree = Html(site.page())
    assert str(tree.css_first("a.report").attributes["href"]).startswith("https://github.com/me/track/issues/new?")
    assert tree.css("[data-md-component=source]") == []
    assert tree.css(".md-header__source a[href='https://github.com/me/track']")


REPORT = """() => {
  const note = document.querySelectorAll('.lst-note')[1];
  note.focus();
  return [note.id, document.querySelector('a.report').href];
}"""


def test_a_report_names_the_note_that_was_read(site, serve, browser):
    (site.root / "docs/assets/site.js").write_bytes((ROOT / "docs/assets/site.js").read_bytes())
    site.edit("mkdocs.yml", "assets/figures.js]", "assets/figures.js, assets/site.js]")
    site.track("build", GITHUB_REPOSITORY="me/track")
    page = browser.new_page()
    page.goto(f"{serve(site.root / 'build' / 'site')}/pages/box.html")
    note, href = page.evaluate(REPORT)
    body = parse_qs(urlsplit(href).query)["body"][0]
    assert body.split("\n")[:2] == ["Page: pages/box.html", f"Note: box.html#{note}"]
    assert body.count("Note:") == 1
    page.close()


PAGE = '<script src="../assets/javascripts/bundle.1.js"></script><li><a href="../pallas-from-the-inside.zip">z</a></li>'


def test_offline_a_page_loads_the_stand_in_first_and_does_not_offer_the_zip():
    files = {"a/b.html": PAGE.encode(), "search/search_index.json": b"{}"}
    made = offline_files(files)
    assert made["a/b.html"].decode() == (
        '<script src="../assets/offline.js"></script><script src="../assets/javascripts/bundle.1.js"></script>'
    )
    assert made["search/search_index.js"] == b"var __index = {}"
    assert made["search/search_index.json"] == b"{}"


def test_equal_files_are_an_equal_zip_in_one_folder(tmp_path):
    one, two = zipped({"b": b"1", "a/c": b"2"}), zipped({"a/c": b"2", "b": b"1"})
    assert one == two
    (tmp_path / "z.zip").write_bytes(one)
    with zipfile.ZipFile(tmp_path / "z.zip") as archive:
        assert archive.namelist() == ["pallas-from-the-inside/a/c", "pallas-from-the-inside/b"]


def test_the_citation_has_what_its_format_asks_for_and_the_version_of_the_project():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert said.keys() >= {"cff-version", "message", "title", "authors"}
    assert said["cff-version"] == "1.2.0"
    assert said["type"] == "software"
    assert all(author.keys() == {"name"} for author in said["authors"])
    project = (ROOT / "pyproject.toml").read_text()
    assert f'\nversion = "{said["version"]}"\n' in project
    assert f'\nlicense = "{said["license"]}"\n' in project


@pytest.mark.alone
def test_a_page_of_a_megabyte_gets_its_policy_at_once():
    page = '<meta charset="utf-8">' + "<p class='a'>a &lt; b <i>c</i></p>\n" * 30_000 + "<script>1</script>"
    assert len(page) > 1_000_000
    start = time.perf_counter()
    with_policy(repaired(page), "a.html")
    assert time.perf_counter() - start < 0.5  # 0.03 s on an idle machine; 60 pages have to take seconds


def test_the_site_that_is_built_is_what_the_zip_holds(built):
    files = built.files()
    with zipfile.ZipFile(built.root / "build/site/pallas-from-the-inside.zip") as archive:
        held = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    assert held.keys() - files.keys() == {"assets/offline.js", "search/search_index.js"}
    assert files.keys() - held.keys() == {"pallas-from-the-inside.zip"}
    assert json.loads(held["search/search_index.js"].removeprefix(b"var __index = "))["docs"]
