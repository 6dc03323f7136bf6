"""What the TPU compiler dumps of a kernel: the module after each pass of Mosaic, and the programs made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from track.evidence.lanes.extracts import extract
from track.evidence.lanes.tpu_bundles import Program, read_bundles, read_use
from track.evidence.record import Form

__all__ = ["Dump", "bundle_form", "dumps_in", "jaxpr_form", "mosaic_forms"]

STAGE = re.compile(r"(?P<module>\d+)-\d+-mosaic-dump-.*?-(?P<stage>original|post-.+)\.txt")
LLO = re.compile(r"(?P<time>\d+)-(?P<kernel>[^<].*?)-\d+-(?P<stage>.+)\.txt")
AROUND = "TLP"  # the program around the kernels
READ_IN = "post-deserialization"  # the module as it came, at several places
COLUMNS, SIZE = 200, 10_000  # of an extract: there are a dozen in a record


class Dump(NamedTuple):
    """The dumps of one kernel below Mosaic, by stage."""

    kernel: str
    stages: dict[str, Path]

    def text(self, stage: str) -> str:
        """A dump, empty where the compiler did not come so far."""
        path = self.stages.get(stage)
        return path.read_text(errors="replace") if path else ""

    def program(self) -> Program | None:
        """The final program, if there is one."""
        bundles, use = self.text("final_bundles"), self.text("final_hlo-static-per-bundle-utilization")
        return Program(self.kernel, read_bundles(bundles), read_use(use)) if bundles and use else None


def dumps_in(folder: Path) -> list[Dump]:
    """The kernels of a compilation, in order, without what XLA puts around them."""
    found: dict[tuple[str, str], dict[str, Path]] = {}
    for path in sorted(folder.glob("*.txt")):
        match = LLO.fullmatch(path.name)
        if match and match["kernel"] != AROUND:
            found.setdefault((match["time"], match["kernel"]), {})[match["stage"]] = path
    dumps = [Dump(kernel, stages) for (_, kernel), stages in found.items()]
    return [dump for dump in dumps if "= custom-call(" in (dump.text("final_bundles") or "= custom-call(")]


def mosaic_forms(folder: Path) -> Iterator[Form]:
    """Every module after every pass, in order, with its text where that changed."""
    module, before = "", ""
    for path in sorted(folder.glob("*.txt")):
        match = STAGE.fullmatch(path.name)
        if match is None or match["stage"] == READ_IN:
            continue
        if match["module"] != module:
            module, before = match["module"], ""
        text = path.read_text(errors="replace")
        stage = match["stage"].removeprefix("post-")
        same = Form("mosaic", stage, lines=text.count("\n"), changed=False)
        yield same if text == before else extract("mosaic", stage, text, COLUMNS, SIZE)
        before = text


def jaxpr_form(text: str) -> Form:
    """The program as jax traced it."""
    return extract("jaxpr", "traced", text, COLUMNS, SIZE)


def bundle_form(program: Program) -> Form:
    """The bundles of the loop that has most of them, and what follows."""
    start = program.busiest()
    stage = f"bundles of {program.name} from {start:#x}"
    return extract("llo", stage, "\n".join(bundle.tidy for bundle in program.bundles[start:]), COLUMNS, SIZE)
