"""Reading mkdocs.yml as data."""

from __future__ import annotations

from pathlib import Path

import yaml

from track.errors import BadInput

__all__ = ["load_config"]


class _Loader(yaml.SafeLoader):
    """Reads MkDocs' own tags as what they hold."""


_Loader.add_multi_constructor("!", lambda loader, _, node: _held(loader, node))


def _held(loader: _Loader, node: yaml.Node) -> object:
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node)
    return None


def load_config(path: Path) -> dict[str, object]:
    """`mkdocs.yml` as data, environment values left out."""
    try:
        return yaml.load(path.read_text("utf-8"), Loader=_Loader)  # noqa: S506 -- a SafeLoader that knows one tag more
    except (OSError, yaml.YAMLError) as error:
        raise BadInput("mkdocs.yml cannot be read", {"file": path.name, "found": error}) from error
