"""A bump from end to end, on a small project: drafted, decided, accepted, undone, cut short."""

from __future__ import annotations

import errno
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bump.tiny import COMMIT, make_wheel, pin_of
from tests.pages.helpers import NOTHING_KNOWN
from track import files
from track.anchors.library import Library
from track.bump import decide, flow, show, workspace
from track.bump.show import _code, _escaped
from track.bump.workspace import Decision, Workspace
from track.drift.report import VerdictChange, read_report, report_bytes
from track.errors import BadEnvironment, BadInput, Finding, Findings
from track.pages import site
from track.pages.bumps import bumps
from track.pages.context import Context
from track.pages.document import Fence
from track.pages.locks import note_id, read_lock
from track.pages.weave import open_page
from track.pins import lock, progress, sync

NEXT = "2" * 40
OLD = """\
LIMIT = 3


class Scheduler:
    def first_step(self, count):
        total = self.steps * count + self.offset
        return total - self.limit

    def last_step(self, count):
        remaining = self.steps - count - self.offset * 2
        if remaining < self.limit:
            raise ValueError("no step is left for this block", remaining)
        return remaining


def gone(value):
    return value.shape[0] * value.shape[1] + len(value.shape)


def walk(refs, order):
    for ref in sorted(refs, key=order):
        ref.start(ref.index, ref.window, ref.semaphore)
    return len(refs)
"""
NEW = """\
LIMIT = 4


class Scheduler:
    def first_step(self, count):
        total = self.steps * count + self.offset
        return total - self.limit

    def last_step(self, count):
        remaining = self.steps - count - self.offset * 3
        if remaining < self.limit:
            raise ValueError("no step is left for this block", remaining)
        return remaining


def walk_all(refs, order):
    for ref in sorted(refs, key=order):
        ref.start(ref.index, ref.window, ref.semaphore)
    return len(refs)
"""
PAGE = """\
# A page

```listing
tiny/a.py  Scheduler
```

- `total = self.steps * count + self.offset`

  Stays as it is.

- `remaining = self.steps - count - self.offset * 2`

  Is edited.

- `raise ValueError("no step is left for this block", remaining)`

  Stands in an edited method.

```listing
tiny/a.py  gone
```

- `return value.shape[0] * value.shape[1] + len(value.shape)`

  Is lost.

```listing
tiny/a.py  walk
```

- `ref.start(ref.index, ref.window, ref.semaphore)`

  Its function has another name.
"""
KINDS = {
    "total = self.steps * count + self.offset": "unchanged",
    "remaining = self.steps - count - self.offset * 2": "edited",
    'raise ValueError("no step is left for this block", remaining)': "unchanged",
    "return value.shape[0] * value.shape[1] + len(value.shape)": "lost",
    "ref.start(ref.index, ref.window, ref.semaphore)": "renamed",
}
PINS = """\
# A comment that stays.
[tiny]
repository = "https://localhost/tiny"
commit = "{commit}"
distribution = "tiny"
version = "1.0"
wheel_sha256 = "{sha}"
wheel_names_commit = true

[tiny.files]
"tiny/a.py" = "{blob}"
"tiny/sub/b.py" = "{other}"
"""


def release(tiny, version: str, commit: str, text: str | None) -> None:
    """Offer a release whose `tiny/a.py` is this, or that has none."""
    held = {"tiny/sub/b.py": b"b = 1\n"} | ({"tiny/a.py": text.encode()} if text is not None else {})
    made = make_wheel(tiny.index.folder, version, held, commit)
    if version == "1.0":
        for old in tiny.wheels.glob("*.whl"):
            old.unlink()
        (tiny.wheels / made.name).write_bytes(made.read_bytes())
        pin = pin_of(made, commit, held)
        values = {"commit": commit, "sha": pin.release.sha256, "blob": pin.files["tiny/a.py"]}
        (tiny.root / "pins.toml").write_text(PINS.format(**values, other=pin.files["tiny/sub/b.py"]))


@pytest.fixture
def root(tiny) -> Path:
    """A checkout with one reviewed page, pinned at 1.0, where 2.0 is offered."""
    release(tiny, "1.0", COMMIT, OLD)
    release(tiny, "2.0", NEXT, NEW)
    (tiny.root / "docs").mkdir()
    (tiny.root / "docs" / "page.md").write_text(PAGE)
    (tiny.root / "requirements" / "site.in").write_text("tiny==1.0  # the pin\nnumpy\n")
    relock(tiny.root)
    return tiny.root


def library(root: Path) -> Library:
    return Library(sync.sync(root, lock.read(root / "pins.toml"), "wheel"))


def relock(root: Path) -> None:
    site.relock(root, root / "docs" / "page.md", library(root))


def drafted(root: Path, wanted: str = "2.0"):
    asked = flow.Asked("tiny", wanted, evidence=False)
    report = flow.make_draft(root, root / "pins.toml", asked, progress.Quiet())
    assert report is not None
    return report


def tree(root: Path) -> dict[str, str]:
    """Every file outside of build/, by digest."""
    found = (p for p in root.rglob("*") if p.is_file() and p.relative_to(root).parts[0] != "build")
    return {p.relative_to(root).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in found}


def waiting(root: Path) -> list[str]:
    """The notes whose code is another one now."""
    drifts = read_report(root / flow.REPORT).drifts
    return [drift.id for drift in drifts if drift.thing == "note" and drift.kind in {"edited", "renamed"}]


def ids(root: Path) -> dict[str, str]:
    """The notes of the page, by quote."""
    report = read_report(root / flow.REPORT)
    return {drift.quote: drift.id for drift in report.drifts if drift.thing == "note"}


def test_a_draft_says_what_became_of_every_note_and_changes_nothing(root):
    before = tree(root)
    report = drafted(root)
    assert {d.quote: d.kind for d in report.drifts if d.thing == "note"} == KINDS
    assert {(d.quote, d.kind) for d in report.drifts if d.thing == "listing"} == {
        ("Scheduler", "unchanged"),
        ("gone", "lost"),
        ("walk", "renamed"),
    }
    assert tree(root) == before
    assert (root / "build/bump/report.md").is_file()
    assert "renamed" in (root / "build/bump/review.html").read_text()


def test_a_second_draft_is_the_first_one_again(root):
    drafted(root)
    first = (root / flow.REPORT).read_bytes()
    drafted(root)
    assert (root / flow.REPORT).read_bytes() == first


def test_accepting_moves_the_pin_and_undoing_restores_every_byte(root):
    before = tree(root)
    drafted(root)
    flow.accept(root)
    after = tree(root)
    assert lock.read(root / "pins.toml")["tiny"].commit == NEXT
    assert "# A comment that stays." in (root / "pins.toml").read_text()
    assert "tiny==2.0  # the pin" in (root / "requirements/site.in").read_text()
    assert "tiny/a.py  walk_all" in (root / "docs/page.md").read_text()
    assert {name for name in after if after[name] != before.get(name)} == {
        "pins.toml",
        "requirements/site.in",
        "docs/page.md",
        "docs/page.lock.json",
        "docs/reference/changes/tiny-1.0-to-2.0.json",
    }
    flow.undo(root)
    assert tree(root) == before


def test_carried_notes_remember_when_they_were_read_and_the_others_wait(root):
    drafted(root)
    flow.accept(root)
    rows = {row.anchor.first: row for row in read_lock(root / "docs/page.md").notes.values()}
    for quote, kind in KINDS.items():
        carried = kind == "unchanged"
        assert rows[quote].pending == (None if carried else kind)
        assert rows[quote].pin == (NEXT if carried else COMMIT)
        assert rows[quote].reviewed == (COMMIT if carried else "")


def test_a_strict_page_fails_until_every_note_is_decided(root):
    drafted(root)
    flow.accept(root)
    page = root / "docs" / "page.md"
    with pytest.raises(Findings) as caught:
        bound(root, page, draft=False)
    assert [error.what for error in caught.value.errors] == [
        "a note no longer matches its code: edited",
        "no symbol 'gone' in tiny/a.py",
        "a note no longer matches its code: renamed",
    ]
    named = {error.next_step for error in caught.value.errors if "note" in error.what}
    assert named == {f"read it against the code: track drift show {name}" for name in waiting(root)}
    loose = bound(root, page, draft=True)
    stale = {note.item.first for one in loose.listings for note in one.notes if note.stale}
    assert stale == {quote for quote, kind in KINDS.items() if kind in {"edited", "renamed"}}
    assert [lost.fence.targets[0].symbol for lost in loose.lost] == ["gone"]
    name = ids(root)
    target = flow.target(root, root / "pins.toml")
    flow.settle(root, target, Decision("accept", name["ref.start(ref.index, ref.window, ref.semaphore)"]))
    edited = name["remaining = self.steps - count - self.offset * 2"]
    flow.settle(root, target, Decision("retarget", edited, "remaining = self.steps - count - self.offset * 3"))
    lost = name["return value.shape[0] * value.shape[1] + len(value.shape)"]
    flow.settle(root, target, Decision("drop", lost))
    assert decide.pending(Workspace(root)) == 0
    page.write_text(page.read_text().replace("```listing\ntiny/a.py  gone\n```\n", ""))
    assert {note.item.first for one in bound(root, page, draft=False).listings for note in one.notes} == {
        "total = self.steps * count + self.offset",
        "remaining = self.steps - count - self.offset * 3",
        'raise ValueError("no step is left for this block", remaining)',
        "ref.start(ref.index, ref.window, ref.semaphore)",
    }


def bound(root: Path, page: Path, *, draft: bool):
    return open_page(page, root / "docs", library(root), read_lock(page), draft=draft)


def test_decisions_of_a_draft_change_the_draft_alone_and_survive_another_one(root):
    before = tree(root)
    drafted(root)
    name = ids(root)["ref.start(ref.index, ref.window, ref.semaphore)"]
    flow.settle(root, flow.target(root, root / "pins.toml"), Decision("accept", name))
    waiting = decide.pending(Workspace(root))
    assert tree(root) == before
    drafted(root)
    assert decide.pending(Workspace(root)) == waiting
    assert name not in {drift.id for drift in flow.latest(root, root / "pins.toml").drifts}


def test_undoing_takes_back_what_was_decided_after_accepting(root):
    before = tree(root)
    drafted(root)
    flow.accept(root)
    name = ids(root)["ref.start(ref.index, ref.window, ref.semaphore)"]
    flow.settle(root, flow.target(root, root / "pins.toml"), Decision("drop", name))
    flow.undo(root)
    assert tree(root) == before


def test_a_note_that_does_not_fit_is_refused_and_nothing_changes(root):
    drafted(root)
    flow.accept(root)
    before = tree(root)
    target = flow.target(root, root / "pins.toml")
    name = ids(root)["remaining = self.steps - count - self.offset * 2"]
    with pytest.raises(BadInput, match="quote that is not in its code"):
        flow.settle(root, target, Decision("accept", name))
    with pytest.raises(BadInput, match="no listing of 'Nothing'"):
        flow.settle(root, target, Decision("retarget", name, "LIMIT = 4", listing="Nothing"))
    with pytest.raises(BadInput, match="no note is called 'ffffffff'"):
        flow.settle(root, target, Decision("drop", "ffffffff"))
    assert tree(root) == before


def test_a_note_can_move_to_another_listing(root):
    drafted(root)
    flow.accept(root)
    name = ids(root)["remaining = self.steps - count - self.offset * 2"]
    target = flow.target(root, root / "pins.toml")
    flow.settle(root, target, Decision("retarget", name, "return len(refs)", listing="walk_all"))
    text = (root / "docs/page.md").read_text()
    assert text.index("tiny/a.py  walk_all") < text.index("- `return len(refs)`\n\n  Is edited.")


def test_accepting_what_has_changed_since_is_a_finding(root):
    drafted(root)
    page = root / "docs/page.md"
    page.write_text(page.read_text() + "\nMore.\n")
    with pytest.raises(Finding, match="changed since the draft") as caught:
        flow.accept(root)
    assert caught.value.details["files"] == "docs/page.md"
    assert lock.read(root / "pins.toml")["tiny"].commit == COMMIT


def test_undoing_what_has_changed_since_is_a_finding_that_says_where_the_old_files_are(root):
    drafted(root)
    flow.accept(root)
    (root / "pins.toml").write_text((root / "pins.toml").read_text() + "# mine\n")
    with pytest.raises(Finding, match="changed since the bump was accepted") as caught:
        flow.undo(root)
    assert (root / caught.value.details["old files"] / "pins.toml").is_file()


class Killed(BaseException):
    """The process dies here."""


@pytest.mark.parametrize("way_on", ["accept", "undo"])
def test_a_kill_at_any_moment_of_accepting_loses_nothing(root, monkeypatch, way_on):
    """Every write is a place to die; then the same command ends the work, or undoing takes all of it back."""
    before = tree(root)
    drafted(root)
    kept = Path(root / "build" / "bump" / "open")
    saved = {p.relative_to(kept): p.read_bytes() for p in kept.rglob("*") if p.is_file()}
    flow.accept(root)
    after = tree(root)
    flow.undo(root)
    for moment in range(30):
        for name, data in saved.items():
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            (kept / name).write_bytes(data)
        (root / flow.REPORT).write_bytes(saved[Path("new/docs/reference/changes/tiny-1.0-to-2.0.json")])
        if not killed_after(moment, lambda: Workspace(root).accept(), monkeypatch):
            assert moment > 5
            return
        if way_on == "accept":
            Workspace(root).accept()
            assert tree(root) == after
        Workspace(root).undo()
        assert tree(root) == before
    pytest.fail("accepting never ended")


def killed_after(moment: int, act, monkeypatch) -> bool:
    """Whether the process was killed when it had written `moment` files."""
    left = [moment]

    def write(path: Path, data: bytes | str) -> bool:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return files.write_if_changed(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(workspace, "write_if_changed", write)
        try:
            act()
        except Killed:
            return True
        return False


def test_a_full_disk_is_an_error_that_says_so_and_loses_nothing(root, monkeypatch):
    before = tree(root)

    def full(path: Path, _: bytes | str) -> bool:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(workspace, "write_if_changed", full)
        with pytest.raises(BadEnvironment, match="no space left"):
            drafted(root)
    assert tree(root) == before
    drafted(root)
    flow.accept(root)


def test_another_bump_waits_for_the_open_one(root, tiny):
    drafted(root)
    release(tiny, "3.0", "3" * 40, NEW)
    with pytest.raises(BadInput, match="another bump is open") as caught:
        drafted(root, "3.0")
    assert "--undo" in caught.value.next_step


def test_a_file_that_vanished_is_in_the_report_and_its_notes_are_lost(root, tiny):
    release(tiny, "3.0", "3" * 40, None)
    report = drafted(root, "3.0")
    assert report.missing == ("tiny/a.py",)
    assert {d.kind for d in report.drifts if d.thing == "note"} == {"lost"}
    assert "vanished: tiny/a.py" in show.table(report, everything=False)


def test_a_pinned_file_that_is_no_python_is_bad_input_and_nothing_changes(root, tiny):
    before = tree(root)
    release(tiny, "3.0", "3" * 40, "def broken(:\n")
    with pytest.raises(BadInput, match="is not valid Python"):
        drafted(root, "3.0")
    assert tree(root) == before


def test_a_file_beside_the_pinned_ones_that_is_no_python_does_not_matter(root, tiny):
    held = {"tiny/a.py": NEW.encode(), "tiny/sub/b.py": b"b = 1\n", "tiny/sub/bad.py": b"def broken(:\n"}
    make_wheel(tiny.index.folder, "3.0", held, "3" * 40)
    assert {d.quote: d.kind for d in drafted(root, "3.0").drifts if d.thing == "note"} == KINDS


def test_accepting_or_undoing_nothing_is_bad_input(root):
    for act in (flow.accept, flow.undo):
        with pytest.raises(BadInput, match="no bump to go on with"):
            act(root)
    with pytest.raises(BadInput, match="there is no bump"):
        flow.latest(root, root / "pins.toml")


def test_an_unknown_project_is_named_with_those_that_are_pinned(root):
    with pytest.raises(BadInput, match="no pinned project 'other'") as caught:
        flow.make_draft(root, root / "pins.toml", flow.Asked("other", "2.0"), progress.Quiet())
    assert caught.value.details["expected"] == "tiny"


def test_the_note_is_shown_with_its_diff_and_the_commands(root):
    drafted(root)
    edited = ids(root)["remaining = self.steps - count - self.offset * 2"]
    said = flow.review_one(root, root / "pins.toml", edited, progress.Quiet())
    assert "-        remaining = self.steps - count - self.offset * 2" in said
    assert "+        remaining = self.steps - count - self.offset * 3" in said
    assert f"track drift accept {edited}" in said
    assert "Is edited." in said


def test_on_another_machine_the_accepted_report_says_what_waits(root):
    drafted(root)
    flow.accept(root)
    edited = ids(root)["remaining = self.steps - count - self.offset * 2"]
    shutil.rmtree(root / "build" / "bump")
    assert edited in {d.id for d in flow.latest(root, root / "pins.toml").drifts if d.review}
    said = flow.review_one(root, root / "pins.toml", edited, progress.Quiet())
    assert "+        remaining = self.steps - count - self.offset * 3" in said


def test_every_form_of_the_list_holds_what_waits(root):
    report = drafted(root)
    waiting = [d for d in report.drifts if d.review and d.thing == "note"]
    assert len(waiting) == 3
    for form in ("table", "markdown", "github", "json"):
        said = show.in_form(report, form)
        assert all(d.id in said for d in waiting)
    annotations = show.in_form(report, "github").splitlines()
    assert all(line.startswith("::warning file=docs/page.md,line=") for line in annotations)
    assert msgspec.json.decode(show.in_form(report, "json"), type=type(report)) == report


@settings(max_examples=40)
@given(st.text(alphabet="ab`|\n%:,<>\r", max_size=30))
def test_no_quote_breaks_a_table_or_an_annotation(quote):
    """A table's row stays one line with its seven cells, an annotation stays one line."""
    shown = _code(quote or "x")
    assert "\n" not in shown
    assert shown.replace("\\|", "").count("|") == 0
    assert "\n" not in _escaped(quote)
    assert "\r" not in _escaped(quote)


def test_a_report_survives_its_file(root, tmp_path):
    report = drafted(root)
    path = tmp_path / "report.json"
    path.write_bytes(report_bytes(report))
    assert read_report(path) == report


def test_ids_name_notes_by_page_listing_and_quote(root):
    rows = list(read_lock(root / "docs/page.md").notes.values())
    assert len({note_id("docs/page.md", row) for row in rows}) == len(rows)
    assert note_id("docs/page.md", rows[0]) != note_id("docs/other.md", rows[0])


def test_the_commands_end_with_the_codes_that_they_promise(root):
    """As a person types them, in a process of its own."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "track.cli", *words]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=120)

    assert run("bump", "tiny", "--accept").returncode == 2
    assert run("bump", "tiny", "0.5").returncode == 2
    made = run("bump", "tiny", "2.0", "--no-evidence")
    assert made.returncode == 0, made.stderr
    assert "2 of 5 notes carried over" in made.stdout
    listed = run("drift", "list", "--format", "json")
    assert len(msgspec.json.decode(listed.stdout)["drifts"]) == 8
    shown = run("drift", "show", ids(root)["ref.start(ref.index, ref.window, ref.semaphore)"])
    assert "walk_all" in shown.stdout
    assert run("bump", "tiny", "--undo").returncode == 0
    assert not (root / "build/bump/open").exists()


def test_an_accepted_bump_has_a_page_of_its_own(root):
    """The list leads to it, and it says what was carried over, what changed, and what a kernel does now."""
    context = Context(root, library(root), {}, NOTHING_KNOWN, ())
    fence = Fence("bumps", (), {}, (), 1, 3)
    assert bumps(fence, context) == "No pin of this site has moved yet."
    drafted(root)
    flow.accept(root)
    path = root / "docs/reference/changes/tiny-1.0-to-2.0.json"
    turned = VerdictChange("adds", "f32", "hlo", "", "ok", ("ok", "refused"), ("", "a <b> c"), {"bundles": (3, None)})
    path.write_bytes(report_bytes(msgspec.structs.replace(read_report(path), verdicts=(turned,))))
    line = bumps(fence, context)
    assert line.startswith("- [tiny 1.0 to 2.0](changes/tiny-1.0-to-2.0.md): 2 of 5 notes carried over")
    page = context.files["reference/changes/tiny-1.0-to-2.0.md"].decode()
    assert "<code>adds f32 hlo</code>: ok to refused" in page
    assert "bundles 3 to None" in page
    assert "walk_all" in page
    assert f"https://localhost/tiny/blob/{NEXT}/tiny/a.py#L" in page
    assert "a <b> c" not in page
