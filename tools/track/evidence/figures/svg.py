"""Drawing on a canvas measured in CSS pixels, and turning what matplotlib writes into a small SVG for a page."""

from __future__ import annotations

import io
import itertools
import re
from typing import Any, Literal, get_args
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import FancyBboxPatch, Polygon
from msgspec import Struct

__all__ = ["Canvas", "Color", "Figure"]

Color = Literal["ink", "soft", "grid", "in", "out", "compute", "wait", "roof"]

NAMESPACE = "http://www.w3.org/2000/svg"
SENTINELS: dict[str, str] = {name: f"#0{number}0b0c" for number, name in enumerate(get_args(Color), start=1)}
VARIABLES = {sentinel: f"var(--fig-{name})" for name, sentinel in SENTINELS.items()}
KEPT_STYLES = {
    "fill",
    "fill-opacity",
    "font-size",
    "font-weight",
    "opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
}
DEFAULTS = {("stroke-linejoin", "miter"), ("text-anchor", "start"), ("font-weight", "400"), ("stroke-width", "1")}
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "track",
    "font.family": "DejaVu Sans",
    "path.simplify": False,
}


ALONE = {
    "ink": "#1c2230",
    "soft": "#5a6072",
    "grid": "#ddd7ca",
    "in": "#2f6fb2",
    "out": "#b5541c",
    "compute": "#3d7a3f",
    "wait": "#8a6d1f",
    "roof": "#7a2a8f",
}
"""What a color is in a picture that no page defines it for."""


class Figure(Struct, frozen=True):
    """A picture for a page: the SVG, what it is called, what it shows in full, and a short text in its stead."""

    svg: str
    title: str
    description: str
    alt: str

    @property
    def alone(self) -> str:
        """The SVG as a file of its own: fixed colors, on white, so that it can be read on any background."""
        paper = '<rect width="100%" height="100%" fill="#fdfcf9"/>'
        head, end, body = self.svg.partition("</desc>")
        fixed = re.sub(r"var\(--fig-(\w+)\)", lambda found: ALONE[found[1]], body)
        return f"{head}{end}{paper}{fixed}".replace("<svg ", '<svg font-family="Arial, sans-serif" ', 1) + "\n"


class Canvas:
    """A page-wide drawing; x to the right and y down, in CSS pixels at a width of 700."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.drawing = Drawing(figsize=(width / 72, height / 72), dpi=72, frameon=False)
        self.axes = self.drawing.add_axes((0, 0, 1, 1))
        self.axes.set_xlim(0, width)
        self.axes.set_ylim(height, 0)
        self.axes.set_axis_off()
        self.layers = itertools.count(1)  # what is drawn later lies on top

    def box(
        self,
        corner: tuple[float, float],
        size: tuple[float, float],
        color: Color,
        *,
        tint: float = 1.0,
        edge: float = 0.0,
        radius: float = 0.0,
        dashed: bool = False,
    ) -> None:
        """A box, filled with a tint of the color and, with `edge`, outlined in all of it."""
        self.axes.add_patch(
            FancyBboxPatch(
                corner,
                *size,
                boxstyle=f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0",
                facecolor=(SENTINELS[color], tint),
                edgecolor=SENTINELS[color] if edge else "none",
                linewidth=edge,
                linestyle=(0, (3, 3)) if dashed else "solid",
                clip_on=False,
                zorder=next(self.layers),
            )
        )

    def line(
        self, points: list[tuple[float, float]], color: Color, width: float = 1.0, *, dashed: bool = False
    ) -> None:
        """A line through the points."""
        across, down = zip(*points, strict=True)
        style = (0, (3, 3)) if dashed else "solid"
        cap = "butt" if dashed else "round"
        self.axes.plot(
            across,
            down,
            color=SENTINELS[color],
            linewidth=width,
            linestyle=style,
            solid_capstyle=cap,
            scalex=False,
            scaley=False,
            clip_on=False,
            zorder=next(self.layers),
        )

    def shape(self, points: list[tuple[float, float]], color: Color) -> None:
        """A filled polygon."""
        self.axes.add_patch(
            Polygon(points, facecolor=SENTINELS[color], edgecolor="none", clip_on=False, zorder=next(self.layers))
        )

    def text(
        self,
        place: tuple[float, float],
        words: str,
        color: Color = "ink",
        *,
        size: float = 12.0,
        align: Literal["left", "center", "right"] = "left",
        bold: bool = False,
        angle: float = 0.0,
    ) -> None:
        """Words whose middle line is at y."""
        self.axes.text(
            place[0],
            place[1] + size * 0.36,
            words,
            color=SENTINELS[color],
            fontsize=size,
            ha=align,
            va="baseline",
            rotation=angle,
            rotation_mode="anchor",
            fontweight="bold" if bold else "normal",
            parse_math=False,
            zorder=next(self.layers),
        )

    def finish(self, prefix: str, title: str, description: str, alt: str) -> Figure:
        """The picture as SVG, with its title and description inside, every id beginning with `prefix`."""
        with mpl.rc_context(SETTINGS):
            raw = io.StringIO()
            self.drawing.savefig(raw, format="svg", metadata={"Date": None, "Creator": None})
        root = ET.fromstring(raw.getvalue())  # noqa: S314 - as above
        drawn = flattened(root)
        page = ET.Element(
            "svg",
            {
                "xmlns": NAMESPACE,
                "viewBox": f"0 0 {self.width:g} {self.height:g}",
                "role": "img",
                "aria-labelledby": f"{prefix}-title {prefix}-desc",
                "class": "figure",
            },
        )
        ET.SubElement(page, "title", {"id": f"{prefix}-title"}).text = title
        ET.SubElement(page, "desc", {"id": f"{prefix}-desc"}).text = description
        page.extend(drawn)
        ET.indent(page, "")
        return Figure(ET.tostring(page, encoding="unicode"), title, description, alt)


def flattened(root: ET.Element) -> list[ET.Element]:
    """Every path and text of the drawing, in order, without the groups around them."""
    found: list[ET.Element] = []
    for element in root.iter():
        kind = element.tag.removeprefix(f"{{{NAMESPACE}}}")
        if kind in ("use", "clipPath", "image"):
            raise ValueError(f"the figure uses <{kind}>, which needs an id: draw it with the canvas instead")
        if kind in ("path", "text"):
            plain = ET.Element(kind, placed(element) | style_of(element))
            plain.text = element.text
            found.append(plain)
    return found


def placed(element: ET.Element) -> dict[str, str]:
    """Where the element is: its path, or its place and what turns it."""
    given = {name: rounded(element.attrib[name]) for name in ("d", "x", "y", "transform") if name in element.attrib}
    if given.get("transform", "").startswith(("rotate(0 ", "rotate(-0 ")):
        del given["transform"]
    return {name: " ".join(value.split()) for name, value in given.items()}


def style_of(element: ET.Element) -> dict[str, str]:
    """The presentation attributes that say what the `style` attribute said; the font's family is left to the page."""
    found: dict[str, str] = {}
    for name, value in re.findall(r"([\w-]+):\s*([^;]+)", element.get("style", "")):
        if name in KEPT_STYLES and (name, value) not in DEFAULTS:
            found[name] = variable(value) if name in ("fill", "stroke") else value
    return found


def variable(color: str) -> str:
    """The CSS variable that a color of the drawing stands for."""
    if color == "none":
        return color
    return VARIABLES[color]


def rounded(numbers: str) -> str:
    """Coordinates to a tenth of a pixel."""
    return re.sub(r"-?\d+\.\d+", lambda number: f"{round(float(number[0]), 1) + 0.0:g}", numbers)
