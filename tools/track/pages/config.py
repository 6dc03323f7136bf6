"""Reading mkdocs.yml as data, with the values that MkDocs takes from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import yaml

from track.errors import BadInput

__all__ = ["load_config"]


def load_config(path: Path, environment: Mapping[str, str] | None = None) -> dict[str, object]:
    """The configuration; `!ENV NAME` and `!ENV [NAME, default]` are looked up in `environment`."""
    given = environment or {}

    class Loader(yaml.SafeLoader):
        """Knows MkDocs' own tag."""

    def variable(loader: yaml.SafeLoader, node: yaml.Node) -> object:
        if isinstance(node, yaml.SequenceNode):
            *names, default = cast("list[str]", loader.construct_sequence(node))
        else:
            names, default = [str(node.value)], None
        return next((given[name] for name in names if name in given), default)

    Loader.add_constructor("!ENV", variable)
    try:
        return yaml.load(path.read_text("utf-8"), Loader=Loader)  # noqa: S506 -- a SafeLoader that knows one tag more
    except (OSError, yaml.YAMLError) as error:
        raise BadInput("mkdocs.yml cannot be read", {"file": path.name, "found": error}) from error
