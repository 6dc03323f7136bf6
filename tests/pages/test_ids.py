"""An id of a page is given once, and a heading's is a heading's."""

from __future__ import annotations

import re

import markdown
import pytest

from tests.pages.helpers import ROOT
from track.pages.ids import Ids, of_headings

PAGE = """\
# The `Box.fill` method, *line by line*

## copy_in

```python
# not a heading
```

### Own {#Own.id}

~~~~
```
## nor this
~~~~

## What's in it? #

#not one either
"""


def test_the_ids_of_headings_are_those_that_markdown_gives_them():
    made = markdown.markdown(PAGE, extensions=["toc", "attr_list", "pymdownx.superfences"])
    assert list(of_headings(PAGE.split("\n"))) == re.findall(r'<h\d id="([^"]*)"', made)


@pytest.mark.parametrize("page", ["tpu/pipeline.md", "kernels/attention.md", "contributing/writing.md"])
def test_the_ids_of_a_real_page_are_known(page):
    text = re.sub(r"(?s)\A---\n.*?\n---\n", "", (ROOT / "docs" / page).read_text())
    made = markdown.markdown(text, extensions=["toc", "attr_list", "pymdownx.superfences"])
    assert set(of_headings(text.split("\n"))) == set(re.findall(r'<h\d id="([^"]*)"', made))


def test_an_id_is_free_once():
    ids = Ids(["copy_in"])
    assert [ids.take(name) for name in ("copy_in", "Box", "Box")] == [False, True, False]


def test_numbers_go_on_over_what_is_taken():
    ids = Ids(["note-box-2"])
    assert [ids.numbered("note-box") for _ in range(2)] == ["note-box-1", "note-box-3"]
