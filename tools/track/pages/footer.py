"""What the foot of a page offers: a way to report a mistake, the feed of changes, and the site as a file."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from track.errors import Finding
from track.pins.lock import Pin

__all__ = ["report_url", "with_footer"]

_PLACE = '<div class="md-footer-meta__inner md-grid">'
_HEAD = "</head>"
_FEEDS = ("changes.xml",)
_FIELDS = {"gitlab.com": ("/-/issues/new", "issue[title]", "issue[description]")}
"""Where a host's form is and what it calls a title and a text; GitHub's and Codeberg's way is the usual one."""
_USUAL = ("/issues/new", "title", "body")


def with_footer(page: str, name: str, repository: str, pins: Sequence[Pin], offers: Mapping[str, str]) -> str:
    """The page with our part of the footer; `offers` are files of the site, counted from its root, with their names."""
    if page.count(_PLACE) != 1 or page.count(_HEAD) != 1:
        raise Finding("a page has no place for its footer", {"page": name, "expected": f"{_HEAD} and {_PLACE}"})
    up = _up(page)
    links = "".join(f'<li><a href="{up}{path}">{html.escape(text)}</a></li>' for path, text in offers.items())
    ours = f'<div class="foot"><p>{_report(name, repository, pins)}</p><ul>{links}</ul></div>'
    feeds = (
        f'<link rel="alternate" type="application/atom+xml" href="{up}{path}">' for path in offers if path in _FEEDS
    )
    return page.replace(_PLACE, _PLACE + ours).replace(_HEAD, "".join(feeds) + _HEAD)


def _report(name: str, repository: str, pins: Sequence[Pin]) -> str:
    if not repository:
        return (
            "Found a mistake? This copy was built without the address of its repository. Tell whoever gave it to you: "
            f"<code>{html.escape(name)}</code>, {html.escape(_pinned(pins))}."
        )
    url = html.escape(report_url(name, repository, pins))
    return f'Found a mistake? <a class="report" href="{url}">Report it</a>, with this page and its pins filled in.'


def report_url(name: str, repository: str, pins: Sequence[Pin]) -> str:
    """A form for an issue that already says which page and which pins; a script adds the note that was read last."""
    host = repository.removeprefix("https://").partition("/")[0]
    form, title, text = _FIELDS.get(host, _USUAL)
    body = f"Page: {name}\nPins: {_pinned(pins)}\n\nWhat is wrong, and what shows it:\n\n"
    return f"{repository}{form}?{urlencode({title: f'Mistake on {name}', text: body})}"


def _pinned(pins: Sequence[Pin]) -> str:
    return ", ".join(f"{pin.project} {pin.release.version} at {pin.commit}" for pin in pins)


def _up(page: str) -> str:
    """The way from the page to the root of the site, as the theme's own script has it."""
    found = re.search(r'"base": "([^"]*)"', page)
    base = found[1] if found else "."
    return f"{base.removesuffix('/')}/"
