"""From what MkDocs made to what is published: pages mended and locked down, an index, a feed, and all of it as a file.

Only files of the site change here, in memory and then at once, so the woven pages stay the same under every generator.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from track.files import write_if_changed
from track.pages.address import address
from track.pages.config import load_config
from track.pages.feed import atom, read_changes
from track.pages.footer import with_footer
from track.pages.llms import llms_txt
from track.pages.offline import ARCHIVE, offline_files, zipped
from track.pages.policy import with_policy
from track.pages.repairs import repaired
from track.pages.sources import OUTLINE
from track.pins.lock import Pin

__all__ = ["publish"]

_OFFERS = {"changes.xml": "Changes (Atom feed)", "llms.txt": "llms.txt", ARCHIVE: "Read offline (zip)"}


def publish(root: Path, site: Path, pins: Sequence[Pin]) -> None:
    """Finish the site that MkDocs has built into `site`."""
    files = {path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()}
    files |= _added(root)
    offers = {name: text for name, text in _OFFERS.items() if name in files or name == ARCHIVE}
    repository = address(root).get("TRACK_REPO_URL", "")
    for name, data in files.items():
        if name.endswith(".html"):
            page = with_footer(_shown_whole(repaired(data.decode())), name, repository, pins, offers)
            files[name] = with_policy(page, name).encode()  # last, because it knows all that is on the page
    for name, data in files.items():
        write_if_changed(site / name, data)
    write_if_changed(site / ARCHIVE, zipped(offline_files(files)))


def _shown_whole(page: str) -> str:
    """The page; one of source is first shown when its words are there, and not with the theme's head alone."""
    link = f'<link rel="expect" href="#{OUTLINE}" blocking="render">'
    return page.replace("<title>", f"{link}<title>", 1) if f'id="{OUTLINE}"' in page else page


def _added(root: Path) -> dict[str, bytes]:
    """The files that the site gets besides its pages: an index, and a feed where there are changes to tell."""
    config = load_config(root / "mkdocs.yml")
    title, said = (str(config.get(key, "")) for key in ("site_name", "site_description"))
    place = os.environ.get("TRACK_SITE_URL", "").rstrip("/")
    place = f"{place}/" if place else ""
    woven = root / "build" / "pages"
    index = llms_txt(title, said, config.get("nav"), lambda path: (woven / path).read_text("utf-8"), place)
    changes = read_changes(root)
    feed = {"changes.xml": atom(changes, title, place)} if changes else {}
    return {"llms.txt": index.encode(), **feed}
