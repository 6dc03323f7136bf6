"""What is mended in the theme's markup: what a validator or an accessibility checker finds, and calls to other hosts.

A test asks of each repair whether the theme still has what it mends.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["REPAIRS", "repaired"]


class Repair(NamedTuple):
    """Markup of the theme, what stands in its place, and why."""

    old: str
    new: str
    why: str


REPAIRS = (
    Repair(
        'type="checkbox" id="__drawer" autocomplete="off"',
        'type="checkbox" id="__drawer" aria-label="Navigation"',
        "HTML: a checkbox has no autocomplete; accessibility: a control has a name",
    ),
    Repair(
        'type="checkbox" id="__search" autocomplete="off"',
        'type="checkbox" id="__search" aria-label="Search"',
        "as for the drawer",
    ),
    Repair(' tabindex=""', "", "HTML: a tabindex is a number"),
    Repair(
        'data-md-component="search" role="dialog"',
        'data-md-component="search" role="dialog" aria-label="Search"',
        "accessibility: a dialog has a name",
    ),
    Repair(' data-md-component="source"', "", "the theme's script would ask the repository's host for stars and forks"),
)
_ALIGNED = re.compile(r'<(t[dh]) style="text-align: (left|center|right);"')


def repaired(page: str) -> str:
    """The page with every repair made, and the alignment of table columns as classes."""
    for repair in REPAIRS:
        page = page.replace(repair.old, repair.new)
    return _ALIGNED.sub(r'<\1 class="to-\2"', page)
