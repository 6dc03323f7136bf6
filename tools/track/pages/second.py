"""The same woven pages under Zensical, Material for MkDocs' successor.

It has no option for where to build to and would overwrite the site that is shipped, so it gets a configuration of its
own, and a folder of its own with the pages in it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import cast

import yaml

from track.errors import Finding
from track.pages.config import load_config
from track.pages.generator import site_environment

__all__ = ["build_second"]


def build_second(root: Path) -> Path:
    """Build `build/pages` with Zensical; return the folder of the site. Finding if it refuses."""
    folder = root / "build" / "zensical"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / "build" / "pages", folder / "pages")
    config = load_config(root / "mkdocs.yml", site_environment(root))
    config |= {"docs_dir": "pages", "site_dir": "site", "plugins": _moved(config.get("plugins"), root)}
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False))
    command = [Path(sys.executable).with_name("zensical"), "build", "--strict", "--config-file", folder / "mkdocs.yml"]
    run = subprocess.run(command, cwd=root, env=site_environment(root), capture_output=True, text=True, check=False)
    if run.returncode != 0:
        said = "\n".join((run.stdout + run.stderr).splitlines()[-12:])
        raise Finding("Zensical refuses the woven pages", {"found": said}, "mend the page in docs/, then run again")
    return folder / "site"


def _moved(value: object, root: Path) -> object:
    """The plugins' settings with every `paths` counted from the checkout, since the configuration lies elsewhere."""
    match value:
        case list():
            return [_moved(item, root) for item in cast("list[object]", value)]
        case dict():
            pairs = cast("dict[str, object]", value).items()
            return {
                k: [str(root / str(p)) for p in cast("list[str]", v)] if k == "paths" else _moved(v, root)
                for k, v in pairs
            }
        case _:
            return value
