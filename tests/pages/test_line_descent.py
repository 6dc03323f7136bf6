"""One line of a kernel, followed through forms that are made up here."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from track.errors import BadInput
from track.evidence.record import Form, Measures, Record, Verdict
from track.pages.document import Fence
from track.pages.line_descent import LINE_DESCENT

KERNEL = 'def body(x, o):\n    """Doc."""\n    o[...] = maximum(x[...], 0) < 1\n'
GIVEN = {
    "kernel": "k",
    "file": "k/kernel.py",
    "symbol": "body",
    "left": "tpu-aot v5e",
    "right": "gpu-aot sm90",
    "mark-source": "maximum",
    "mark-mosaic": "max_a | max_b",
    "mark-ptx": "max.f32 %r3",
}


def record(lane, target, forms, **verdict):
    measures = Measures(forms=tuple(Form(kind, stage, text) for kind, stage, text in forms))
    told = Verdict(verdict.get("status", "ok"), reason=verdict.get("reason", ""), measures=measures)
    versions = {"jaxlib": "1", "libtpu": "2"} if lane == "tpu-aot" else {"jaxlib": "1"}
    return Record("k", "k", "one", lane, target, "", versions, confined=True, output="", verdict=told)


TPU = record(
    "tpu-aot", "v5e", [("mosaic", "first", "a\n  x = max_a <y>\nb\nc"), ("mosaic", "then", "p\nmax_a\nmax_b  q")]
)
GPU = record("gpu-aot", "sm90", [("ptx", "", "\tmax.f32 \t%r3;\nret;")])


@dataclasses.dataclass
class Evidence:
    records: dict
    kernels: dict


@dataclasses.dataclass
class Kernel:
    cases: tuple[str, ...] = ("one",)


@pytest.fixture
def drawn(tmp_path):
    """The figure's HTML, for some records and options."""
    (tmp_path / "kernels/k").mkdir(parents=True)
    (tmp_path / "kernels/k/kernel.py").write_text(KERNEL)

    def draw(*records, **given):
        from track.pages.context import Context  # noqa: PLC0415 -- beside its only use

        evidence = Evidence({(r.kernel, r.case, r.lane, r.target): r for r in records}, {"k": Kernel()})
        context = Context(tmp_path, cast("Any", None), {}, cast("Any", evidence), ())
        options = {**GIVEN, **{name.replace("_", "-"): text for name, text in given.items()}}
        return Html(LINE_DESCENT(Fence("line-descent", (), options, (), 1, 2), context))

    return draw


def steps(side):
    return [(li.css_first("p").text(), li.css_first("pre").text(), li.css_first("b").text()) for li in side.css("li")]


def test_each_quote_lights_its_line_in_the_first_form_that_has_it_with_its_neighbors(drawn):
    left, right = drawn(TPU, GPU).css(".side")
    assert steps(left) == [("Mosaic first", "a\nx = max_a <y>\nb", "max_a"), ("Mosaic then", "max_a\nmax_b q", "max_b")]
    assert [mark.text() for mark in left.css("mark")] == ["x = max_a <y>", "max_b q"]
    assert steps(right) == [("PTX", "max.f32 %r3;\nret;", "max.f32 %r3")]
    assert left.css_first(".chip").text() == "TPU v5e, compiled by libtpu 2"
    assert right.css_first(".chip").text() == "GPU sm90, compiled by jaxlib 1"


def test_the_line_comes_from_the_kernel_s_own_file(drawn):
    top = drawn(TPU, GPU).css_first(".top")
    assert top.css_first("pre").text() == "o[...] = maximum(x[...], 0) < 1"
    assert top.css_first("small").text() == "kernels/k/kernel.py"


def test_a_lane_with_no_forms_says_so_in_the_words_of_its_record(drawn):
    missing = record("tpu-aot", "v5e", [], status="unavailable", reason="no libtpu here")
    left, right = drawn(missing, GPU).css(".side")
    assert "no libtpu here" in left.text()
    assert steps(right)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"mark_mosaic": "max_c"}, "not there"),
        ({"mark_source": "minimum"}, "not there"),
        ({"mark_ptz": "max"}, "no form is called"),
        ({"left": "tpu-aot sm90"}, "no lane and target"),
        ({"file": "k/no.py"}, "no such kernel file"),
        ({"symbol": "nobody"}, "nobody"),
        ({"kernel": "j"}, "no kernel"),
    ],
)
def test_what_is_not_there_is_bad_input(drawn, given, told):
    with pytest.raises(BadInput, match=told):
        drawn(TPU, GPU, **given)
