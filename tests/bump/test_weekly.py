"""One issue tells of newer releases: opened once, then brought up to date; nothing else is done on GitHub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from track.bump import weekly

ROOT = Path(__file__).parents[2]
PROJECTS = ("jax", "tokamax")

# Stand-ins on PATH that note how they are called. `track` does what a file by the name of the project says.
GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$NOTES/gh"
for word in "$@"; do case $word in --body-file=*) cp "${word#--body-file=}" "$NOTES/body";; esac; done
[ ! -e "$NOTES/gh-fails" ] || { echo "HTTP 403" >&2; exit 1; }
case "$1 $2" in
    "issue list") cat "$NOTES/issues";;
    "issue create") echo "https://github.com/o/r/issues/7";;
esac
"""
TRACK = """#!/bin/sh
printf '%s\\n' "$*" >> "$NOTES/track"
. "$NOTES/$2"
"""


@dataclass(frozen=True)
class Week:
    """A checkout, the notes of the stand-ins, and the PATH that leads to them."""

    root: Path
    notes: Path
    path: str

    def does(self, project: str, script: str) -> None:
        (self.notes / project).write_text(script)

    def run(self) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": self.path, "NOTES": str(self.notes), "PYTHONPATH": str(ROOT / "tools")}
        command = [sys.executable, "-m", "track.bump.weekly"]
        return subprocess.run(command, cwd=self.root, env=environment, check=False, capture_output=True, text=True)

    def asked(self, program: str) -> list[str]:
        noted = self.notes / program
        return noted.read_text().splitlines() if noted.exists() else []

    @property
    def body(self) -> str:
        return (self.notes / "body").read_text()


@pytest.fixture
def week(tmp_path: Path) -> Week:
    root, notes, programs = tmp_path / "root", tmp_path / "notes", tmp_path / "bin"
    for folder in (root, notes, programs):
        folder.mkdir()
    (root / "pins.toml").write_bytes((ROOT / "pins.toml").read_bytes())
    (notes / "issues").write_text("[]")
    for name, text in (("gh", GH), ("track", TRACK)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    made = Week(root, notes, f"{programs}:{os.environ['PATH']}")
    for project in PROJECTS:
        made.does(project, "echo 'nothing newer'")
    return made


def report(text: str) -> str:
    return f"mkdir -p build/bump; printf '%s\\n' '{text}' > build/bump/report.md"


def test_nothing_newer_asks_github_for_nothing(week: Week) -> None:
    done = week.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "nothing newer than the pins"
    assert week.asked("track") == [f"bump {project} newest --draft" for project in PROJECTS]
    assert week.asked("gh") == []


def test_the_first_report_opens_an_issue(week: Week) -> None:
    """With the label, which is made first, and with what is said of each project that has something newer."""
    week.does("jax", report("# jax moves"))
    done = week.run()
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "opened https://github.com/o/r/issues/7"
    assert week.body == "# jax moves\n"
    listing, label, create = week.asked("gh")
    assert listing == "issue list --state=open --label=bump --limit=100 --json=number,title"
    assert label.startswith("label create bump --force")
    assert create == "issue create --title=A newer release can be pinned --label=bump --body-file=build/bump/issue.md"


def test_a_report_of_the_project_before_is_not_told_twice(week: Week) -> None:
    """The second project has nothing newer, and leaves the file of the first alone."""
    week.does("jax", report("# jax moves"))
    week.run()
    assert week.body.count("jax moves") == 1


def test_a_later_report_changes_the_open_issue(week: Week) -> None:
    """The one with our title and label, the oldest if there are several; others with the label are let be."""
    issues = [(9, weekly.TITLE), (3, "Another matter"), (5, weekly.TITLE)]
    (week.notes / "issues").write_text(json.dumps([{"number": n, "title": title} for n, title in issues]))
    for project in PROJECTS:
        week.does(project, report(f"# {project} moves"))
    assert week.run().returncode == 0
    assert week.asked("gh")[1:] == ["issue edit 5 --body-file=build/bump/issue.md"]
    assert week.body == "# jax moves\n\n\n# tokamax moves\n"


def test_a_draft_that_fails_is_told_in_the_issue_and_fails_the_run(week: Week) -> None:
    """Beside the report of the other project, and with what it printed."""
    week.does("jax", "echo 'error: no network' >&2; exit 3")
    week.does("tokamax", report("# tokamax moves"))
    done = week.run()
    assert done.returncode == 1
    assert "error: a draft failed" in done.stderr
    assert week.body == (
        "## jax: the draft failed\n\n`track bump jax newest --draft` ended with 3:\n\n"
        "    error: no network\n\n# tokamax moves\n"
    )


def test_github_that_refuses_is_an_error_and_the_report_is_kept(week: Week) -> None:
    week.does("jax", report("# jax moves"))
    (week.notes / "gh-fails").touch()
    done = week.run()
    assert done.returncode == 3
    assert "HTTP 403" in done.stderr
    assert (week.root / "build" / "bump" / "issue.md").read_text() == "# jax moves\n"


@pytest.mark.parametrize("length", [65_535, 65_536, 65_537, 200_000])
def test_a_report_is_cut_to_what_an_issue_holds_and_says_so_first(length: int) -> None:
    """65,536 characters, of whatever size; the cut is at the end of a line."""
    lines = ["ä" * 99] * (length // 100) + ["b" * (length % 100)]
    body = "\n".join(lines)
    assert len(body) == length
    cut = weekly.shortened(body)
    assert len(cut) <= 65_536
    if length <= 65_536:
        assert cut == body
        return
    first, _, rest = cut.partition("\n\n")
    assert first.endswith("makes it whole.")
    assert body.startswith(rest)
    assert {*rest.splitlines()} == {"ä" * 99}


def test_the_workflow_may_only_read_code_and_write_issues() -> None:
    """What it runs is the module above."""
    import yaml  # noqa: PLC0415

    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "bump.yml").read_text())
    (job,) = flow["jobs"].values()
    assert flow["permissions"] == {}
    assert job["permissions"] == {"contents": "read", "issues": "write"}
    assert job["steps"][-1]["run"].endswith("python -m track.bump.weekly")
    assert [*flow[True]] == ["schedule", "workflow_dispatch"]
