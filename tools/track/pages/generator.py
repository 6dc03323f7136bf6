"""MkDocs makes HTML of the woven pages; of a page that is as it was, it is not asked again.

What MkDocs made of a page is kept with a digest of what it depends on: its woven text, the settings, and what the
navigation tells of the other pages. In the place of such a page MkDocs gets a short one, with the same front matter and
heading, and with those anchors that changed pages lead to, so that it checks their links as strictly as ever. Then what
was kept takes its place. Where a kept page leads to an anchor that is gone, or MkDocs refuses, it makes every page anew
and has the last word.
"""

from __future__ import annotations

import functools
import html
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from track.errors import Finding
from track.files import digest, write_if_changed
from track.pages.address import address
from track.pages.kept import Kept
from track.pages.lifted import ids_of, lifted, put_back
from track.pages.places import page_address

__all__ = ["FOLDER", "Built", "generate", "packages", "site_environment"]

FOLDER = "build/kept/html"
STAND_INS = "build/stand-ins"
"""What MkDocs reads: short pages for those that are as they were, and the others without their big blocks of HTML."""
INDEX, INVENTORY = "search/search_index.json", "objects.inv"

_HEAD = re.compile(r"\A(?P<front>---\n.*?\n---\n)?.*?(?P<title>^# [^\n]*$)", re.DOTALL | re.MULTILINE)
_API = re.compile(r"^::: ", re.MULTILINE)
_CROSS = re.compile(r"\]\[")
_LINK = re.compile(r"""<a\s[^<>]*?href="([^":#?]*)#([^"]+)\"""")
_MEANT = re.compile(r"""#([^\s"'<>)\]]+)""")


class Built(msgspec.Struct, frozen=True):
    """What MkDocs made of a page: the page, its sections of the index, its anchors, and those that it leads to."""

    page: str
    sections: list[dict[str, Any]]
    ids: list[str]
    leads: dict[str, list[str]]
    """Anchors by page of the site."""
    inventory: bytes
    """What API pages have together: where each object is told of."""


def generate(root: Path, out: Path) -> None:
    """Build `build/pages` strictly into `out`; Finding with what MkDocs said if it refuses."""
    woven = root / "build" / "pages"
    texts = {path.relative_to(woven).as_posix(): path.read_text("utf-8") for path in sorted(woven.rglob("*.md"))}
    keys = _keys(root, texts)
    store = Kept(root / FOLDER, Built)
    kept = {page: made for page, key in keys.items() if (made := store.get(page, key))}
    if any(page not in kept for page in _listed(texts)):
        kept = {page: made for page, made in kept.items() if page not in _listed(texts)}  # these are made together
    if not kept or not _with_kept(root, out, texts, kept):
        kept = dict[str, Built]()
        _build(root, out, texts, kept)
    for page, made in _built(out, [page for page in texts if page not in kept], _listed(texts)):
        store.put(page, keys[page], made)
    store.only(texts)


def _listed(texts: Mapping[str, str]) -> list[str]:
    """The pages that mkdocstrings has a part in."""
    return [page for page, text in texts.items() if _API.search(text)]


def _keys(root: Path, texts: Mapping[str, str]) -> Mapping[str, str]:
    """A digest of all that each page's HTML is made from."""
    woven = root / "build" / "pages"
    files = sorted(path.relative_to(woven).as_posix() for path in woven.rglob("*") if path.is_file())
    heads = [repr(_head(text)) for text in texts.values()]
    settings = [(root / "mkdocs.yml").read_bytes(), repr(sorted(address(root).items())), *packages()]
    common = digest(*settings, Path(__file__).read_bytes(), *files, *heads)
    read = [path for folder in ("kernels", "tools", "build/api") for path in sorted((root / folder).rglob("*.py"))]
    sources = [part for path in read for part in (path.relative_to(root).as_posix(), path.read_bytes())]
    listed = _listed(texts)
    group = digest(*sources, *(texts[page] for page in listed)) if listed else ""
    return {
        page: digest(common, page, text, group if page in listed or _CROSS.search(text) else "")
        for page, text in texts.items()
    }


def _head(text: str) -> tuple[str, str]:
    """A page's front matter, and the line of its first heading."""
    found = _HEAD.match(text)
    return (found["front"] or "", found["title"]) if found else ("", "")


def _with_kept(root: Path, out: Path, texts: Mapping[str, str], kept: Mapping[str, Built]) -> bool:
    """Build with kept pages; False where MkDocs refuses, or one of them leads to an anchor that is gone."""
    try:
        _build(root, out, texts, kept)
    except Finding:
        return False
    made = {
        page_address(page): ids_of((out / page_address(page)).read_text("utf-8")) for page in texts if page not in kept
    }
    leads = (lead for one in kept.values() for lead in one.leads.items())
    if any(page in made and not made[page].issuperset(ids) for page, ids in leads):
        return False
    _restore(out, kept)
    return True


def _build(root: Path, out: Path, texts: Mapping[str, str], kept: Mapping[str, Built]) -> None:
    """Build with stand-ins for the kept pages, and with the others' blocks of HTML put back when MkDocs is done."""
    folder = root / STAND_INS
    for left in (folder, out):
        shutil.rmtree(left, ignore_errors=True)
    shutil.copytree(root / "build" / "pages", folder)
    changed = {page: text for page, text in texts.items() if page not in kept}
    meant = {unquote(name) for text in changed.values() for name in _MEANT.findall(text)}
    blocks: dict[str, list[str]] = {}
    for page, text in changed.items():
        small, blocks[page] = lifted(text, meant)
        (folder / page).write_text(small, "utf-8")
    for page, made in kept.items():
        (folder / page).write_text(_stand_in(texts[page], meant.intersection(made.ids)), "utf-8")
    try:
        _run(root, out)
    finally:
        shutil.rmtree(folder)
    for page in changed:
        place = out / page_address(page)
        place.write_text(put_back(place.read_text("utf-8"), blocks[page], page), "utf-8")


def _stand_in(text: str, ids: set[str]) -> str:
    front, title = _head(text)
    anchors = "".join(f'<i id="{html.escape(name)}"></i>' for name in sorted(ids))
    return f"{front}\n{title}\n\n<p>{anchors}</p>\n"


def _restore(out: Path, kept: Mapping[str, Built]) -> None:
    """Put the kept pages, and their sections of the index, where those of the stand-ins are."""
    for page, made in kept.items():
        (out / page_address(page)).write_text(made.page, "utf-8")
        if made.inventory:
            (out / INVENTORY).write_bytes(made.inventory)
    if (out / INDEX).is_file():
        index = json.loads((out / INDEX).read_bytes())
        by_page = _sections(out) | {page_address(page): made.sections for page, made in kept.items()}
        docs = [section for sections in by_page.values() for section in sections]
        write_if_changed(out / INDEX, json.dumps({**index, "docs": docs}, separators=(",", ":")))


def _built(out: Path, pages: Iterable[str], listed: Collection[str]) -> Iterator[tuple[str, Built]]:
    """What MkDocs has just made of some pages."""
    sections = _sections(out)
    inventory = (out / INVENTORY).read_bytes() if listed and (out / INVENTORY).is_file() else b""
    for page in pages:
        place = page_address(page)
        text = (out / place).read_text("utf-8")
        leads: dict[str, set[str]] = {}
        for path, name in _LINK.findall(text):
            to = posixpath.normpath(posixpath.join(posixpath.dirname(place), path)) if path else place
            if to != place:
                leads.setdefault(to, set()).add(unquote(html.unescape(name)))
        found = {to: sorted(names) for to, names in sorted(leads.items())}
        yield (
            page,
            Built(text, sections.get(place, []), sorted(ids_of(text)), found, inventory if page in listed else b""),
        )


def _sections(out: Path) -> dict[str, list[dict[str, Any]]]:
    """The sections of the search index by page, in the order of the pages; none if there is no index."""
    found: dict[str, list[dict[str, Any]]] = {}
    for section in json.loads((out / INDEX).read_bytes())["docs"] if (out / INDEX).is_file() else ():
        found.setdefault(section["location"].partition("#")[0], []).append(section)
    return found


def _run(root: Path, out: Path) -> None:
    """Run MkDocs over the stand-ins; its settings are `mkdocs.yml` but for that."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", "-", "--site-dir", str(out)]
    run = subprocess.run(
        command,
        cwd=root,
        env=site_environment(root),
        input=f"INHERIT: mkdocs.yml\ndocs_dir: {STAND_INS}\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        said = [line for line in run.stdout.splitlines() if line.startswith(("WARNING", "ERROR", "Aborted", "Config"))]
        shown = "\n".join(said or run.stdout.splitlines()[-12:])
        raise Finding("MkDocs refuses the woven pages", {"found": shown}, "mend the page in docs/, then: make site")


def site_environment(root: Path) -> dict[str, str]:
    """The environment in which a site is built: the repository's address, and no notices."""
    return {**os.environ, **address(root), "NO_MKDOCS_2_WARNING": "1"}


@functools.cache
def packages() -> tuple[str, ...]:
    """Every installed package with its version, as the folders of their metadata are called, sorted."""
    places = [Path(entry) for entry in sys.path if Path(entry).is_dir()]
    return tuple(sorted({found.name for place in places for found in place.glob("*.dist-info")}))
