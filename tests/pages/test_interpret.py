"""The page about interpret mode: its lists of wrong kernels, and what it says of a right one beside them."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable

import msgspec

from kernels.contract import Kernel
from kernels.mistakes.cases import KERNELS
from kernels.side_by_side.cases import KERNELS as ON_A_CHIP
from tests.pages.helpers import ROOT
from track.evidence.committed import Committed
from track.evidence.record import Verdict

PAGE = (ROOT / "docs" / "run-first" / "interpret.md").read_text("utf-8")


def named(first: str, last: str) -> set[str]:
    """The kernels in the text between two phrases, each of which the page has once."""
    assert PAGE.count(first) == PAGE.count(last) == 1
    return set(re.findall(r"`([a-z]\w*)`", PAGE.partition(first)[2].partition(last)[0]))


def those(noticed: Callable[[set[str]], bool]) -> set[str]:
    """The mistakes that are noticed in such lanes."""
    lanes = {kernel.name: {at.partition(":")[0] for at in kernel.expected} for kernel in KERNELS}
    return {name for name, at in lanes.items() if noticed(at)}


def test_the_kernels_that_only_the_simulated_tpu_notices() -> None:
    told = named("so for these the last word is the simulated one's.", "have the right numbers with `interpret=True`")
    assert told == those(lambda lanes: lanes == {"tpu-interpret"})


def test_the_kernels_that_show_what_the_simulated_tpu_does_not_have() -> None:
    told = named("has a row for each:", "It has no rounding of a matrix unit")
    assert told == those(lambda lanes: bool(lanes) and lanes <= {"tpu-aot", "gpu-aot"})


def test_the_kernels_that_a_chip_alone_finds_wrong() -> None:
    def judged(kernel: Kernel) -> bool:
        return bool({"hlo", "gpu-interpret"}.intersection(kernel.lanes)) and kernel.expected == {"h200": "wrong"}

    wrong = [kernel for kernel in ON_A_CHIP if kernel.mistake]
    assert all(judged(kernel) for kernel in wrong)
    assert {kernel.name for kernel in wrong} <= set(re.findall(r"^symbol: (\w+)$", PAGE, re.MULTILINE))


def code_of(file: str, name: str) -> list[str]:
    """The lines of a kernel of the topic, without its name, docstring and comments."""
    tree = ast.parse((ROOT / "kernels" / "side_by_side" / file).read_text("utf-8"))
    (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    function.name = "product"
    del function.body[0]
    return ast.unparse(function).splitlines()


def on_the_h200(name: str) -> Verdict:
    """What the committed record of one of the two products says."""
    path = ROOT / "kernels" / "side_by_side" / "records" / f"{name}-h200-H200.json"
    (verdict,) = msgspec.json.decode(path.read_bytes(), type=Committed).verdicts.values()
    return verdict


def test_the_right_product_has_one_line_more_than_the_wrong_one() -> None:
    wrong = code_of("wrong/product_not_awaited.py", "product_not_awaited")
    right = code_of("kernel.py", "product_awaited")
    changed = [line.split() for line in difflib.ndiff(wrong, right) if not line.startswith(" ")]
    assert changed == [["+", "plgpu.wgmma_wait(0)"]]


def test_the_two_products_differ_in_what_the_h200_says_alone() -> None:
    right, wrong = (kernel for kernel in ON_A_CHIP if kernel.name.startswith("product"))
    assert (right.name, right.expected, wrong.expected) == ("product_awaited", {}, {"h200": "wrong"})
    assert (right.lanes, right.cases, right.not_applicable) == (wrong.lanes, wrong.cases, wrong.not_applicable)


def test_the_right_product_is_the_slower_one_on_the_h200() -> None:
    right, wrong = on_the_h200("product_awaited"), on_the_h200("product_not_awaited")
    assert (right.status, wrong.status) == ("ok", "wrong")
    assert right.measures.timing is not None
    assert wrong.measures.timing is not None
    assert right.measures.timing.fastest > wrong.measures.timing.slowest
