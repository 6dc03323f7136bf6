"""Pages about the public modules of Pallas: what each passes on, as mkdocstrings reads it in the pinned sources."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path

from track.anchors.library import Library
from track.anchors.meanings import Definition
from track.errors import BadInput
from track.pages.context import Context, options
from track.pages.document import Fence
from track.pages.names import Names
from track.pages.places import page_address, relative

__all__ = ["FOLDER", "api", "readable"]

FOLDER = "build/api"
"""Where mkdocstrings finds the pinned sources; `mkdocs.yml` names it, so no commit is part of it."""

_OPTIONS = """\
    options:
      heading_level: 2
      filters: ["!^_"]
      inherited_members: false
      show_if_no_docstring: true
      show_root_toc_entry: true
      docstring_options: {warnings: false, returns_multiple_items: false}
"""
"""Upstream's docstrings are shown as they are, so what griffe misses in them is nobody's to mend here."""


def api(fence: Fence, context: Context) -> str:
    """Every public name of a module that is defined in a pinned file, and where the site tells of it."""
    module, names = options(fence, context, {"module"})["module"], context.names
    exported = names.meanings.exported(module) if names else None
    if not names or not exported:
        details = {"page": context.place(fence), "found": module}
        raise BadInput("a module that passes on nothing of the pinned files", details, "name a pinned module")
    here = page_address(context.document.path) if context.document else ""
    ordered = sorted(exported.items(), key=lambda item: (item[0].casefold(), item[0]))
    return "\n\n".join(f"::: {module}.{name}\n{_OPTIONS}\n{_place(found, names, here)}" for name, found in ordered)


def readable(library: Library) -> Mapping[Path, str]:
    """The pinned Python files as a folder of packages that can be read without being installed."""
    sources = {Path(p): t.text(p) for t in library.trees.values() for p in t.paths if p.endswith(".py")}
    packages = {folder for path in sources for folder in path.parents if folder.name}
    return {**{folder / "__init__.py": "" for folder in packages}, **sources}


def _place(definition: Definition, names: Names, page: str) -> str:
    """A sentence that leads from the entry to where the site, or else the repository, has the definition."""
    address = names.address(definition)
    said = "Defined in" if "://" in address else "Read it in"
    lines = definition.symbol.span if definition.symbol else None
    where = f", line{'s' * (lines.length > 1)} {lines}" if lines else ""
    name = html.escape(definition.path)
    return f'<p class="api-place">{said} <a href="{relative(address, page)}"><code>{name}</code>{where}</a></p>'
