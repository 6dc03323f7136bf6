"""Every released step of jax, replayed: notes on every statement of the largest files, carried to the next release.

What is right is never asked of the code that carries. Git follows lines on its own, and is believed where its three
algorithms agree; where it cannot tell, code stands on the place that `ast.dump` calls the same, or the fate was decided
by reading both releases.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import functools
from collections.abc import Iterator, Mapping

import pytest

from tests.history import cases, releases, tracking
from tests.history.cases import CASES
from tests.history.releases import STEPS, VERSIONS, Note, forest
from tests.history.tracking import Tracked
from track.anchors.carry import Carried
from track.anchors.match import Kind
from track.anchors.symbols import Module
from track.spans import Span

CARRIED = frozenset[Kind]({"unchanged", "moved"})
"""The kinds that nobody reviews."""

FOLLOWED = CARRIED | {"renamed"}
"""The kinds that name a place as the same code, and so are wrong if other code stands there."""

EDITED_ELSEWHERE = 1
"""At most so many notes of a step whose suggestion is not the place that git is sure of; a person sees each."""

GIT_ERRS = {("0.12.0.1", "jax/_src/pallas/mosaic_gpu/primitives.py", "_tcgen05_commit_arrive_lowering")}
"""Where git pairs the lines of a function with the same ones of the next function; `cases.toml` has the right ones."""

pytestmark = pytest.mark.timeout(600)  # whichever test of a step comes first replays it for all

step = pytest.mark.parametrize(("old", "new"), STEPS, ids=[" to ".join(s) for s in STEPS])


@dataclasses.dataclass(frozen=True)
class Told:
    """One note, what became of it, and what git says of its lines."""

    module: Module
    note: Note
    found: Carried
    lines: Tracked

    @functools.cached_property
    def sure(self) -> Span | None:
        return self.lines.span(self.note.span)

    @property
    def is_followed(self) -> bool:
        return self.found.kind in FOLLOWED

    @property
    def is_there(self) -> bool:
        return (self.found.path, self.found.span) == (self.module.path, self.sure)

    def __str__(self) -> str:
        note = f"{self.module.path}:{self.note.span} in {self.note.anchor.symbol}"
        return f"{note}: {self.found}, and git says {self.sure}"


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A git repository with a commit for each release."""
    folder = tmp_path_factory.mktemp("history")
    for version in VERSIONS:
        tracking.commit(folder, releases.texts(version), version)
    return folder


@functools.cache
def replayed(repository, old: str, new: str) -> tuple[Told, ...]:
    """Every note of a step."""
    modules = releases.largest(old)
    tracked = tracking.track(repository, old, new, {m.path: len(m.lines) for m in modules})
    carry = releases.carrier(old, new).carry
    return tuple(Told(m, note, carry(note.anchor), tracked[m.path]) for m in modules for note in releases.notes(m))


@step
def test_no_note_is_carried_to_other_code_than_git_says(repository, old, new):
    sure = [told for told in replayed(repository, old, new) if told.sure]
    assert len(sure) > 10_000
    assert [str(told) for told in sure if told.is_followed and not told.is_there] == []


@step
def test_git_is_no_surer_of_a_note_than_that_it_stays(repository, old, new):
    """Where git finds the lines, the note is nearly always carried: what is asked of a person is not the whole file."""
    sure = [told for told in replayed(repository, old, new) if told.sure]
    assert sum(1 for told in sure if told.is_followed) > 0.98 * len(sure)


@step
def test_few_suggestions_are_not_what_git_says(repository, old, new):
    sure = [told for told in replayed(repository, old, new) if told.sure and told.found.kind == "edited"]
    assert len([told for told in sure if not told.is_there]) <= EDITED_ELSEWHERE


@step
def test_no_note_is_carried_to_code_that_git_knows_as_other_code(repository, old, new):
    """A line that git is sure came from somewhere else is not where a note's code went."""
    unsure = [told for told in replayed(repository, old, new) if told.is_followed and not told.sure]
    here = [told for told in unsure if told.found.path == told.module.path]
    origins = [(told, told.lines.origin(told.found.span.first)) for told in here if told.found.span]
    wrong = [told for told, line in origins if line and line not in told.note.span.lines]
    assert [str(t) for t in wrong if (new, t.module.path, t.found.symbol) not in GIT_ERRS] == []


@step
def test_a_note_that_is_carried_where_git_cannot_tell_stands_on_the_same_code(repository, old, new):
    unsure = [told for told in replayed(repository, old, new) if told.is_followed and not told.sure]
    assert len(unsure) > 20
    now = forest(new).modules
    wrong = [t for t in unsure if code(t.module, t.note.span) != code(now[t.found.path], t.found.span)]
    assert [str(told) for told in wrong] == []


def code(module: Module, span: Span | None) -> list[str] | None:
    """What stands on these lines, as `ast.dump` tells it."""
    return [said for line, said in dumped(module) if span.first <= line <= span.last] if span else None


@functools.cache
def dumped(module: Module) -> tuple[tuple[int, str], ...]:
    """The line and `ast.dump` of every statement, case and handler; of those with a body, all but the body."""
    return tuple(sorted((_line(node), ast.dump(_bare(node))) for node in _parts(module)))


def _parts(module: Module) -> Iterator[ast.stmt | ast.ExceptHandler | ast.match_case]:
    kinds = (ast.stmt, ast.ExceptHandler, ast.match_case)
    return (node for node in ast.walk(module.tree) if isinstance(node, kinds))


def _line(node: ast.stmt | ast.ExceptHandler | ast.match_case) -> int:
    placed = node.pattern if isinstance(node, ast.match_case) else node
    return min([placed.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def _bare(node: ast.AST) -> ast.AST:
    inner = ("body", "orelse", "finalbody", "handlers", "cases")
    kept = {name: value for name, value in ast.iter_fields(node) if name not in inner or not isinstance(value, list)}
    return type(node)(**kept)


@step
def test_at_least_91_percent_of_the_symbols_are_carried_over(repository, old, new, record_property):
    symbols = collections.Counter(m.kind for m in releases.matches(old, new).by_old.values())
    notes = collections.Counter(told.found.kind for told in replayed(repository, old, new))
    carried = 1 - (symbols["ambiguous"] + symbols["lost"]) / symbols.total()
    assert symbols.total() > 5000
    assert carried >= 0.91
    sure = sum(1 for told in replayed(repository, old, new) if told.sure)
    record_property("summary", f"{old} to {new}: {carried:.1%} of {symbols.total()} symbols carried over")
    record_property("summary", f"{old} to {new}: {_row(notes)}; git is sure of {sure}")


def _row(notes: Mapping[str, int]) -> str:
    """How many of the notes nobody has to look at, how many a person has, and how many are lost."""
    asked: tuple[Kind, ...] = ("edited", "ambiguous", "renamed")
    carried, review = (sum(notes[kind] for kind in kinds) for kinds in (CARRIED, asked))
    why = ", ".join(f"{notes[kind]} {kind}" for kind in asked)
    return f"{sum(notes.values())} notes: {carried} carried over, {review} to review ({why}), {notes['lost']} lost"


def test_every_step_has_ten_cases_that_were_read():
    assert set(CASES) == set(VERSIONS[1:])
    assert min(len(found) for found in CASES.values()) >= 10


@pytest.mark.parametrize(
    ("old", "new", "case"),
    [pytest.param(old, new, c, id=f"{new}: {c.why}") for old, new in STEPS for c in CASES[new]],
)
def test_what_was_read_is_where_a_person_found_it(old, new, case):
    found = releases.carrier(old, new).carry(cases.note(old, case))
    if case.gone:
        assert found.kind not in FOLLOWED
        return
    path, symbol, *quotes = case.place()
    span = cases.only(forest(new), path, symbol, *quotes)
    if case.asks:
        assert found.kind not in FOLLOWED
        assert found.span is None or (found.path == path and found.span.overlaps(span))
    else:
        assert found.kind in FOLLOWED
        assert (found.path, found.symbol, found.span) == (path, symbol, span)
