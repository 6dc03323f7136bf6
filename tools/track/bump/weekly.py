"""The weekly look for newer releases: a draft bump of every project, told in one issue. Nothing is committed.

    python -m track.bump.weekly

It takes `track` and GitHub's `gh` from PATH, and works in the checkout in which it is started.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click

from track.errors import BadEnvironment, Finding, TrackError
from track.files import write_if_changed
from track.pins import lock

__all__ = ["main"]

TITLE = "A newer release can be pinned"
LABEL = "bump"
LIMIT = 65_536  # characters, which is what GitHub takes for an issue
CUT = "The end of this report is cut off, for want of space: `track bump PROJECT newest --draft` makes it whole.\n\n"
REPORT, BODY = Path("build/bump/report.md"), Path("build/bump/issue.md")


def main() -> None:
    """Draft every bump, then open the issue or bring it up to date; exit 1 if a draft failed, which the issue says."""
    try:
        said = weekly(Path.cwd())
    except TrackError as error:
        click.echo(error, err=True)
        sys.exit(error.exit_code)
    click.echo(said)


def weekly(root: Path) -> str:
    """Do it, and say in a sentence what was done."""
    drafts = {project: _drafted(root, project) for project in lock.read(root / "pins.toml")}
    told = [text for text, _ in drafts.values() if text]
    if not told:
        return "nothing newer than the pins"
    write_if_changed(root / BODY, shortened("\n\n".join(told)))
    said = _tell(root)
    failed = [project for project, (_, code) in drafts.items() if code]
    if failed:
        raise Finding("a draft failed", {"projects": ", ".join(failed), "issue": said}, "see what it printed, above")
    return said


def shortened(body: str) -> str:
    """The body as far as an issue can hold it; where the end is cut off, its first sentence says so."""
    if len(body) <= LIMIT:
        return body
    return CUT + body[: LIMIT - len(CUT)].rpartition("\n")[0]


def _drafted(root: Path, project: str) -> tuple[str, int]:
    """What the issue says of a project, nothing where its pin is the newest, and the exit code of the draft."""
    (root / REPORT).unlink(missing_ok=True)
    command = ["track", "bump", project, "newest", "--draft"]
    done = subprocess.run(command, cwd=root, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    click.echo(done.stdout)
    if done.returncode:
        last = "\n".join(f"    {line}" for line in done.stdout.splitlines()[-40:])
        return (
            f"## {project}: the draft failed\n\n`{' '.join(command)}` ended with {done.returncode}:\n\n{last}",
            done.returncode,
        )
    return (root / REPORT).read_text("utf-8") if (root / REPORT).is_file() else "", 0


def _tell(root: Path) -> str:
    """Put the body into the one open issue of our title and label, which is opened if there is none."""
    listed = _gh(root, "issue", "list", "--state=open", f"--label={LABEL}", "--limit=100", "--json=number,title")
    numbers = sorted(issue["number"] for issue in json.loads(listed) if issue["title"] == TITLE)
    if numbers:
        _gh(root, "issue", "edit", str(numbers[0]), f"--body-file={BODY}")
        return f"issue {numbers[0]} is up to date"
    _gh(root, "label", "create", LABEL, "--force", "--description=Moving a pin to another release")
    return (
        f"opened {_gh(root, 'issue', 'create', f'--title={TITLE}', f'--label={LABEL}', f'--body-file={BODY}').strip()}"
    )


def _gh(root: Path, *command: str) -> str:
    try:
        return subprocess.run(["gh", *command], cwd=root, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise BadEnvironment("there is no gh program on PATH", next_step="install GitHub's command line") from None
    except subprocess.CalledProcessError as error:
        details = {"command": f"gh {' '.join(command)}", "gh said": error.stderr.strip()}
        raise BadEnvironment("GitHub did not take the report", details, f"it is kept in {BODY}") from None


if __name__ == "__main__":
    main()
