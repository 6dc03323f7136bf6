"""Evidence: every kernel runs in a child process, and what it did is recorded, kept by content, and drawn.

collect     the evidence of a checkout, run where it is not known yet
Runner      processes that stay warm between two collectings
figures     timelines, rooflines and traces of what was recorded (imports matplotlib)
roofline    the computed schedule and the points of a roofline
"""

from track.evidence.collect import Evidence, collect, prune
from track.evidence.record import Chip, Event, Record, TruthTable
from track.evidence.runner import Runner

__all__ = ["Chip", "Event", "Evidence", "Record", "Runner", "TruthTable", "collect", "prune"]
