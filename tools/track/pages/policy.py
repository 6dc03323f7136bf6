"""The content security policy of a page: nothing but this site's files, and the inline code that was there when built.

The hashes are those of exactly the scripts, styles and style attributes of that page, so what somebody injects does not
run. `'self'` holds for pages that are opened from the file system as well.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Iterator

from track.errors import Finding

__all__ = ["policy_of", "with_policy"]

_CHARSET = '<meta charset="utf-8">'
_SCRIPT = re.compile(r"<script(?P<has>[^>]*)>(?P<text>.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)
_ATTRIBUTE = re.compile(r'<[a-zA-Z][^<>]*?\sstyle="([^"]*)"')
_DATA = re.compile(r'\bsrc=|type="?application/json')
"""A script that is a file is covered by `'self'`, and data is never run."""


def with_policy(page: str, name: str) -> str:
    """The page with its policy, which stands before everything that it speaks of."""
    if page.count(_CHARSET) != 1:
        raise Finding("a page has no place for its security policy", {"page": name, "expected": _CHARSET})
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy_of(page)}">'
    return page.replace(_CHARSET, _CHARSET + meta)


def policy_of(page: str) -> str:
    """The policy of a page's inline code."""
    styles = [*_STYLE.findall(page), *(html.unescape(text) for text in _ATTRIBUTE.findall(page))]
    attributes = ("'unsafe-hashes'",) if _ATTRIBUTE.search(page) else ()  # the name for: hashes of attributes count too
    parts = {
        "default-src": ("'none'",),
        "script-src": ("'self'", *_hashes(_scripts(page))),
        "style-src": ("'self'", *attributes, *_hashes(styles)),
        "img-src": ("'self'", "data:"),  # the theme's icons are data
        "connect-src": ("'self'",),  # the search index
        "worker-src": ("'self'",),
        "base-uri": ("'none'",),
        "form-action": ("'none'",),
    }
    return "; ".join(" ".join((name, *values)) for name, values in parts.items())


def _scripts(page: str) -> Iterator[str]:
    return (found["text"] for found in _SCRIPT.finditer(page) if not _DATA.search(found["has"]))


def _hashes(texts: Iterable[str]) -> list[str]:
    digests = {hashlib.sha256(text.encode()).digest() for text in texts}
    return sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
