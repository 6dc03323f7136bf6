"""The changes that a reader may want to hear of: `docs/changes.toml`, written by people, as an Atom feed.

[[change]]
date = 2026-11-29
title = "The pipeline page is complete"
page = "tpu/pipeline.md"
text = "Every line of the file is noted, shown or folded with a reason."
"""

from __future__ import annotations

import datetime as dt
import tomllib
import uuid
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec

from track.errors import BadInput

__all__ = ["Change", "atom", "read_changes"]

CHANGES = "docs/changes.toml"
_ATOM = "http://www.w3.org/2005/Atom"
_NAMES = uuid.UUID("b2c1d7e4-9d0b-5c39-8a53-6a0c4f4a1f11")
"""What the ids of entries are made in; another one would make every entry new to every reader."""


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that readers may want to know: a day, a title, a sentence or two, and the page it is about."""

    date: dt.date
    title: str
    text: str
    page: str = ""

    @property
    def id(self) -> str:
        """An address that is the same in every build."""
        return uuid.uuid5(_NAMES, f"{self.date} {self.title}").urn


class _Changes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    change: tuple[Change, ...]


def read_changes(root: Path) -> tuple[Change, ...]:
    """The changes, newest first; BadInput where the file is not as it should be, nothing where there is none."""
    path = root / CHANGES
    try:
        found = msgspec.convert(tomllib.loads(path.read_text("utf-8")), _Changes).change
    except FileNotFoundError:
        return ()
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadInput("the list of changes cannot be read", {"file": CHANGES, "found": error}) from error
    for change in found:
        if change.page and not (root / "docs" / change.page).is_file():
            details = {"file": CHANGES, "change": change.title, "found": f"no page docs/{change.page}"}
            raise BadInput("a change names a page that is not there", details)
    return tuple(sorted(found, key=lambda change: (change.date, change.title), reverse=True))


def atom(changes: Sequence[Change], title: str, site: str) -> bytes:
    """The feed as XML; `site` is the address that links are counted from, and may be unknown, which is ""."""
    ET.register_namespace("", _ATOM)
    feed = ET.Element(f"{{{_ATOM}}}feed")
    _add(feed, "id", uuid.uuid5(_NAMES, title).urn)
    _add(feed, "title", title)
    _add(feed, "updated", _moment(changes[0].date))
    _add(_add(feed, "author"), "name", f"The contributors of {title}")
    if site:
        _add(feed, "link", rel="self", href=f"{site}changes.xml")
    _add(feed, "link", href=f"{site}index.html")
    for change in changes:
        entry = _add(feed, "entry")
        _add(entry, "id", change.id)
        _add(entry, "title", change.title)
        _add(entry, "updated", _moment(change.date))
        _add(entry, "link", href=f"{site}{change.page.removesuffix('.md') or 'index'}.html")
        _add(entry, "summary", change.text)
    ET.indent(feed)
    return ET.tostring(feed, encoding="utf-8", xml_declaration=True) + b"\n"


def _add(parent: ET.Element, name: str, text: str | None = None, **attributes: str) -> ET.Element:
    child = ET.SubElement(parent, f"{{{_ATOM}}}{name}", attributes)
    child.text = text
    return child


def _moment(date: dt.date) -> str:
    return f"{date.isoformat()}T00:00:00Z"
