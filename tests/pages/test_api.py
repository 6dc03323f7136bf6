"""Pages about public modules: an entry for mkdocstrings for every name, and the way to its code."""

from __future__ import annotations

import dataclasses

import pytest

from tests.pages.helpers import context, document, library
from track.errors import BadInput
from track.pages.api import api, readable
from track.pages.context import Context
from track.pages.names import Names

FILES = {
    "pkg/__init__.py": "",
    "pkg/inner/core.py": "class Spec:\n    pass\n\n\ndef grid():\n    return 1\n",
    "pkg/door.py": "from pkg.inner.core import Spec as Spec, grid as _grid\nimport os\n\nANY = Spec\n",
    "pkg/notes.txt": "No Python.\n",
}


@pytest.fixture
def site(tmp_path) -> Context:
    sources = library(tmp_path / "sources", FILES)
    return dataclasses.replace(context(tmp_path), library=sources, names=Names.of_pages(sources, []))


def made(site: Context, module: str) -> str:
    page = document(f"```api\nmodule: {module}\n```\n", frozenset({"api"}))
    return api(page.fences[0], site.on(page))


def test_every_public_name_has_an_entry_and_leads_to_its_definition(site):
    said = made(site, "pkg.door")
    assert [line for line in said.splitlines() if line.startswith(":::")] == ["::: pkg.door.ANY", "::: pkg.door.Spec"]
    permalink = site.library.tree("pkg/door.py").permalink("pkg/door.py")
    assert f'Defined in <a href="{permalink}#L4"><code>pkg/door.py</code>, line 4</a>' in said
    assert "<code>pkg/inner/core.py</code>, lines 1–2</a>" in said


def test_a_module_that_is_not_pinned_is_an_error(site):
    with pytest.raises(BadInput, match="passes on nothing"):
        made(site, "pkg.nowhere")
    with pytest.raises(BadInput, match="passes on nothing"):
        made(dataclasses.replace(site, names=None), "pkg.door")


def test_the_pinned_files_are_laid_out_as_packages(site):
    files = {path.as_posix(): text for path, text in readable(site.library).items()}
    sources = {path: text for path, text in FILES.items() if path.endswith(".py")}
    assert files == {**sources, "pkg/inner/__init__.py": ""}
