"""Carrying an anchor from one pin to the next, with both sources at hand.

Where the symbol kept its body, its statements are the same, one by one. In an edited symbol the statements of old and
new are aligned, and an anchor follows its own, if what stands with them is enough to tell them by. A quote decides
only between statements that the alignment leaves open, and then a person reads the note. Code that left its symbol
counts as moved where a whole run of statements went with it. Similarity is offered, never followed.
"""

from __future__ import annotations

import bisect
import dataclasses
import difflib
import itertools
from collections.abc import Iterable, Iterator, Sequence

from track.anchors import anchor as anchors
from track.anchors.anchor import Anchor
from track.anchors.fingerprints import Statement
from track.anchors.forest import Forest, Key, key
from track.anchors.match import Kind, Matches
from track.errors import Finding
from track.spans import Span

__all__ = ["Carried", "Carrier"]

ENOUGH = 12
"""Syntax nodes that must agree, side by side, before statements are taken for the same in an edited symbol."""

RUN = 40
"""Syntax nodes that must have gone together before statements in another symbol are taken for the same."""


@dataclasses.dataclass(frozen=True)
class Carried:
    """Where an anchor's code is at the new pin. `span` is None where it is ambiguous or lost."""

    kind: Kind
    path: str
    symbol: str
    span: Span | None
    candidates: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class _Place:
    """The statements of a symbol that an anchor speaks of: numbers `first` to `stop`, the last excluded."""

    home: Key
    first: int
    stop: int


@dataclasses.dataclass(frozen=True)
class _Support:
    """Syntax nodes in the run of equal statements that some stand in: before them, in themselves, and after them."""

    before: int
    own: int
    after: int

    @property
    def total(self) -> int:
        return self.before + self.own + self.after

    def beats(self, rival: _Support) -> bool:
        """Whether there is more on one side and no less on the other, so that nothing speaks for the rival alone."""
        return self != rival and self.before >= rival.before and self.after >= rival.after


class Carrier:
    """Carries anchors from `old` to `new`."""

    def __init__(self, old: Forest, new: Forest, matches: Matches) -> None:
        self.old = old
        self.new = new
        self.matches = matches
        self._aligned: dict[tuple[Key, Key], tuple[difflib.Match, ...]] = {}

    def carry(self, note: Anchor) -> Carried:
        """Find the anchor's code at the new pin; Finding if the old pin does not hold it."""
        place = self._old_place(note)
        home = self._new_home(place.home)
        if home is None:
            return self._moved(note, place) or self._lost(note, place)
        if place.home[1] and self._same(place, home):
            return self._placed(note, place, home, place.first)
        return self._aligned_place(note, place, home) or self._moved(note, place) or self._open(note, place, home)

    def was(self, note: Anchor) -> Span:
        """The lines that the anchor speaks of at the old pin; Finding if that does not hold it."""
        module = self.old.modules.get(note.path)
        was = anchors.resolve(note, module) if module else None
        if module is None or was is None or was.span is None or was.kind != "unchanged":
            raise Finding(
                "a note that does not fit the old pin either",
                {"code": f"{note.path}, in {note.symbol or 'the module'}", "quote": note.first},
                "mend the note at the old pin first, then bump",
            )
        return was.span

    def _old_place(self, note: Anchor) -> _Place:
        span = self.was(note)
        module = self.old.modules[note.path]
        home = key(module, anchors.innermost(module, span))
        numbers = [n for n, s in enumerate(self.old.statements(home)) if s.span.overlaps(span)]
        return _Place(home, min(numbers, default=0), max(numbers, default=-1) + 1)

    def _new_home(self, home: Key) -> Key | None:
        path, selector = home
        if selector:
            return self.matches.by_old[home].new
        return home if path in self.new.modules else None

    def _placed(self, note: Anchor, place: _Place, home: Key, first: int, kind: Kind | None = None) -> Carried:
        """The anchor on statement `first` of its new home and those after it, narrowed to what its quote names."""
        module = self.new.modules[home[0]]
        theirs = self.new.statements(home)[first : first + place.stop - place.first]
        inside = _hull(theirs) or self._lines(home)
        found = anchors.quoted(module, Span(module.lead_of(inside.first), inside.last), note.first, note.last)
        if not theirs and len(found) != 1:
            return self._open(note, place, home)
        span = found[0] if len(found) == 1 else inside
        now = key(module, anchors.innermost(module, span))
        return Carried(kind or self._kind(place.home, home) if now == home else "moved", *now, span)

    def _same(self, place: _Place, home: Key) -> bool:
        """Whether the symbol kept its body, and its docstring its place, so that statements are the same by number."""
        mine, theirs = self.old.statements(place.home), self.new.statements(home)
        here = slice(place.first, place.stop)
        same = self.old.bodies[place.home] == self.new.bodies[home] and len(mine) == len(theirs)
        return same and _prints(mine[here]) == _prints(theirs[here])

    def _lines(self, home: Key) -> Span:
        return self.new.symbols[home].owned if home[1] else Span(1, len(self.new.modules[home[0]].lines))

    def _kind(self, old: Key, new: Key) -> Kind:
        if old == new:
            return "unchanged"
        kind = self.matches.by_old[old].kind if old[1] else "moved"
        return kind if kind in {"moved", "renamed"} else "unchanged"

    def _aligned_place(self, note: Anchor, place: _Place, home: Key) -> Carried | None:
        """Where the alignment of an edited symbol puts the statements, if it puts all of them into one run."""
        for block in self._alignment(place.home, home) if place.stop > place.first else ():
            first = place.first - block.a + block.b
            inside = block.a <= place.first and place.stop <= block.a + block.size
            if inside and self._tells(place, home, first):
                return self._placed(note, place, home, first)
        return None

    def _tells(self, place: _Place, home: Key, first: int) -> bool:
        """Whether the statements stand with others of their old symbol, and no other two of their kind do so too."""
        mine, theirs = self.old.statements(place.home), self.new.statements(home)
        prints = _prints(mine[place.first : place.stop])
        before, after = _starts(mine, prints), _starts(theirs, prints)
        support = _support(mine, place.first, theirs, first, len(prints))
        rivals = [_support(mine, place.first, theirs, start, len(prints)) for start in after if start != first]
        rivals += [_support(mine, start, theirs, first, len(prints)) for start in before if start != place.first]
        if len(before) == 1 == len(after):
            return support.total >= ENOUGH or support.before + support.after > 1
        in_step = len(before) == len(after) and before.index(place.first) == after.index(first)
        return support.total >= ENOUGH and (in_step or all(support.beats(rival) for rival in rivals))

    def _alignment(self, old: Key, new: Key) -> tuple[difflib.Match, ...]:
        if (old, new) not in self._aligned:
            a, b = _prints(self.old.statements(old)), _prints(self.new.statements(new))
            blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
            self._aligned[old, new] = tuple(block for block in blocks if block.size)
        return self._aligned[old, new]

    def _moved(self, note: Anchor, place: _Place) -> Carried | None:
        """The one place that they went to with their neighbors: more of them than to or from anywhere else."""
        prints = _prints(self.old.statements(place.home)[place.first : place.stop])
        found = {spot: self._between(place, spot) for spot in _places(self.new, prints)}
        spot = max(found, key=lambda s: found[s].total, default=None)
        if spot is None:
            return None
        best = found.pop(spot)
        least = ENOUGH if not found and spot.home == self._new_home(place.home) else RUN
        here = _begin(self.old, place)
        elsewhere = (other for other in _places(self.old, prints) if _begin(self.old, other) != here)
        rivals = itertools.chain(found.values(), (self._between(other, spot) for other in elsewhere))
        if best.total < least or not all(best.beats(rival) for rival in rivals):
            return None
        return self._placed(note, place, spot.home, spot.first, "moved")

    def _between(self, mine: _Place, theirs: _Place) -> _Support:
        old, new = self.old.statements(mine.home), self.new.statements(theirs.home)
        return _support(old, mine.first, new, theirs.first, mine.stop - mine.first)

    def _open(self, note: Anchor, place: _Place, home: Key) -> Carried:
        """What a person has to decide: what stands there now, or which of several, or that nothing does."""
        module = self.new.modules[home[0]]
        found = anchors.quoted(module, self._lines(home), note.first, note.last)
        gap = self._gap(place, home)
        if len(found) == 1 and gap and gap.contains(found[0]) and self._differs(place, home, found[0]):
            return Carried("edited", *home, found[0])
        if found:
            return Carried("ambiguous", *home, None, _shown(module.lines, found))
        return Carried("edited", *home, gap) if gap and place.stop > place.first else self._lost(note, place)

    def _differs(self, place: _Place, home: Key, span: Span) -> bool:
        """Whether the statements at `span` are others than the old ones: light ones that are the same prove nothing."""
        now = [s for s in self.new.statements(home) if s.span.overlaps(span)]
        return _prints(now) != _prints(self.old.statements(place.home)[place.first : place.stop])

    def _gap(self, place: _Place, home: Key) -> Span | None:
        """The statements between those that, by the alignment, stood before and after; None if there are none."""
        theirs = self.new.statements(home)
        blocks = self._alignment(place.home, home)
        before = [b.b + min(b.size, place.first - b.a) for b in blocks if b.a < place.first]
        after = [b.b + max(0, place.stop - b.a) for b in blocks if b.a + b.size > place.stop]
        return _hull(theirs[max(before, default=0) : min(after, default=len(theirs))])

    def _lost(self, note: Anchor, place: _Place) -> Carried:
        match = self.matches.by_old.get(place.home)
        home = self._new_home(place.home)
        if home is None:
            near = match.candidates if match else ()
            kind: Kind = "ambiguous" if match and match.kind == "ambiguous" else "lost"
            return Carried(kind, *place.home, None, tuple(f"{path}, {selector}" for path, selector in near))
        module = self.new.modules[home[0]]
        within = self._lines(home)
        return Carried("lost", *home, None, tuple(anchors.nearest(module, note.first, within)))


def _prints(statements: Sequence[Statement]) -> tuple[str, ...]:
    return tuple(s.fingerprint for s in statements)


def _places(forest: Forest, prints: tuple[str, ...]) -> Iterator[_Place]:
    """Every place of a forest at which just these statements follow each other, in the symbol that holds them all."""
    for path, start in forest.occurrences(prints):
        module, inside = forest.modules[path], forest.statements((path, ""))
        span = Span(inside[start].span.first, max(s.span.last for s in inside[start : start + len(prints)]))
        home = anchors.innermost(module, span)
        first = start - (bisect.bisect_left(inside, home.span.first, key=lambda s: s.span.first) if home else 0)
        yield _Place(key(module, home), first, first + len(prints))


def _begin(forest: Forest, place: _Place) -> tuple[str, Span]:
    return place.home[0], forest.statements(place.home)[place.first].span


def _starts(inside: Sequence[Statement], prints: Sequence[str]) -> list[int]:
    size = len(prints)
    all_prints = _prints(inside)
    return [n for n in range(len(all_prints) - size + 1) if all_prints[n : n + size] == tuple(prints)]


def _support(mine: Sequence[Statement], here: int, theirs: Sequence[Statement], there: int, size: int) -> _Support:
    """What stands alike around the `size` equal statements that begin here and there; the end of both is a neighbor."""
    before = _common(reversed(mine[:here]), reversed(theirs[:there]))
    after = _common(mine[here + size :], theirs[there + size :])
    last = here + size == len(mine) and there + size == len(theirs)
    return _Support(before, sum(s.weight for s in theirs[there : there + size]), after + last)


def _common(left: Iterable[Statement], right: Iterable[Statement]) -> int:
    """Syntax nodes in the statements that two sequences begin with alike."""
    pairs = zip(left, right, strict=False)
    return sum(a.weight for a, _ in itertools.takewhile(lambda pair: pair[0].fingerprint == pair[1].fingerprint, pairs))


def _hull(statements: Sequence[Statement]) -> Span | None:
    if not statements:
        return None
    return Span(statements[0].span.first, max(s.span.last for s in statements))


def _shown(lines: Sequence[str], spans: Sequence[Span]) -> tuple[str, ...]:
    return tuple(f"line {span}: {lines[span.first - 1].strip()}" for span in spans)
