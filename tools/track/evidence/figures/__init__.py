"""Figures of what was recorded: `timeline` and its `trace`, and `roofline`. Equal inputs give equal bytes.

Colors are CSS variables that the page defines for light and for dark: --fig-ink and --fig-soft for text, --fig-grid,
--fig-in, --fig-out, --fig-compute, --fig-wait and --fig-roof.
"""

from track.evidence.figures.roofline import roofline
from track.evidence.figures.svg import Figure
from track.evidence.figures.timeline import timeline
from track.evidence.figures.trace import trace

__all__ = ["Figure", "roofline", "timeline", "trace"]
