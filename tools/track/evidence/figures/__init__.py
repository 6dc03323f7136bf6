"""Figures of what was recorded or computed. Equal inputs give equal bytes.

timeline, trace        the recorded order of copies and compute, and as a Perfetto trace
computed_timeline, computed_trace   the same order at the times of a stated model, on a chosen chip
roofline               computed points under the roofs of a chip
grid                   which block of which array each grid step works on
ledger, units          what a kernel keeps in VMEM, and how it uses the units of a core

Colors are CSS variables that the page defines for light and for dark: --fig-ink and --fig-soft for text, --fig-grid,
--fig-in, --fig-out, --fig-compute, --fig-wait and --fig-roof.
"""

from track.evidence.figures.computed import computed_timeline
from track.evidence.figures.grid import grid
from track.evidence.figures.ledger import ledger
from track.evidence.figures.roofline import roofline
from track.evidence.figures.svg import Figure
from track.evidence.figures.timeline import timeline
from track.evidence.figures.trace import computed_trace, trace
from track.evidence.figures.units import units

__all__ = [
    "Figure",
    "computed_timeline",
    "computed_trace",
    "grid",
    "ledger",
    "roofline",
    "timeline",
    "trace",
    "units",
]
