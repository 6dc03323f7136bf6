"""The whole site as one file, to be read with no server and no network.

A browser lets a page from the file system neither fetch the search index nor start a worker. So the index is there as a
script too, which the theme loads by itself, and `offline.js` stands in for the worker.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from importlib import resources

from track.errors import Finding

__all__ = ["ARCHIVE", "offline_files", "zipped"]

NAME = "pallas-from-the-inside"
ARCHIVE = f"{NAME}.zip"
INDEX, SCRIPT = "search/search_index.json", "assets/offline.js"
_BUNDLE = re.compile(r'<script src="(?P<up>[^"]*?)assets/javascripts/bundle\.')
_SELF = re.compile(rf'<li><a href="[^"]*{re.escape(ARCHIVE)}">[^<]*</a></li>')
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold, so that equal sites are equal files


def offline_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a site as they have to be where there is no server."""
    pages = {name: _page(data.decode(), name).encode() for name, data in files.items() if name.endswith(".html")}
    added = {SCRIPT: resources.files("track.pages").joinpath("offline.js").read_bytes()}
    if INDEX in files:
        added[INDEX.removesuffix("on")] = b"var __index = " + files[INDEX]
    return {**files, **pages, **added}


def _page(page: str, name: str) -> str:
    """The page with the worker's stand-in loaded before the theme's script, and with no link to the archive itself."""
    page = _SELF.sub("", page)
    found = _BUNDLE.search(page)
    if found is None:
        raise Finding("a page does not load the theme's script where it did", {"page": name})
    return f'{page[: found.start()]}<script src="{found["up"]}{SCRIPT}"></script>{page[found.start() :]}'


def zipped(files: Mapping[str, bytes]) -> bytes:
    """The files in one folder of an archive, in order, with no date."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{NAME}/{name}", _EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return memory.getvalue()
