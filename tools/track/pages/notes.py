"""Notes as HTML, with the Markdown extensions of the site.

A listing is one block of HTML, because Markdown between tags is not read alike by every Markdown. So its notes are
rendered while weaving, and what MkDocs does for the links of a page is done for theirs here.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import markdown

from track.errors import BadInput
from track.pages.config import load_config

__all__ = ["renderer"]

_PAGE_LINK = re.compile(r'(?P<before> href=")(?P<path>[^":#?]+)\.md(?P<anchor>#[^"]*)?"')
_PER_PAGE = frozenset({"toc", "footnotes"})
"""Extensions that collect over a whole page, which a note is not."""


def renderer(root: Path, page: str) -> Callable[[str, str], str]:
    """A function from a note's Markdown, and the place that an error names, to HTML for a page such as `docs/x.md`."""
    docs = root / "docs"
    here = posixpath.dirname(page.removeprefix("docs/"))

    def render(text: str, place: str) -> str:
        def link(found: re.Match[str]) -> str:
            target = posixpath.normpath(posixpath.join(here, found["path"] + ".md"))
            if not (docs / target).is_file():
                raise BadInput("a link to a page that is not there", {"page": place, "link": f"{found['path']}.md"})
            return f'{found["before"]}{found["path"]}.html{found["anchor"] or ""}"'

        return _PAGE_LINK.sub(link, _parser(root / "mkdocs.yml").reset().convert(text))

    return render


@functools.cache
def _parser(config: Path) -> markdown.Markdown:
    """The site's Markdown, less what works by the page."""
    names: list[str] = []
    options: dict[str, Mapping[str, object]] = {}
    given = load_config(config).get("markdown_extensions", [])
    for entry in given if isinstance(given, list) else []:  # pyright: ignore[reportUnknownVariableType] -- YAML is untyped
        name, settings = next(iter(entry.items())) if isinstance(entry, dict) else (entry, None)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- as above
        if name not in _PER_PAGE:
            names.append(str(name))  # pyright: ignore[reportUnknownArgumentType] -- as above
            options[str(name)] = settings or {}  # pyright: ignore[reportUnknownArgumentType] -- as above
    return markdown.Markdown(extensions=names, extension_configs=options)
