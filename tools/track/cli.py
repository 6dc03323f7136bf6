"""`track`: the command line. Each command opens what it needs, calls one function below, and prints one sentence."""

from __future__ import annotations

import dataclasses
import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import msgspec

from track.errors import BadInput, TrackError

__all__ = ["main"]


@dataclasses.dataclass(frozen=True)
class Checkout:
    """The folder that the commands work on, and its pins file."""

    root: Path
    pins: Path


class Group(click.Group):
    """Prints a designed error as it was designed, and exits with its code."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an error of ours goes to standard error."""
        try:
            return super().invoke(ctx)
        except TrackError as error:
            click.echo(error, err=True)
            sys.exit(error.exit_code)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--pins", type=click.Path(path_type=Path), help="Another pins file than the checkout's pins.toml.")
@click.pass_context
def main(ctx: click.Context, pins: Path | None) -> None:
    """Build "Pallas, From the Inside": sources at pinned commits, notes, kernels, pages."""
    root = _root()
    ctx.obj = Checkout(root, pins or root / "pins.toml")


def _root() -> Path:
    """The nearest folder upward that holds pins.toml."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "pins.toml").is_file():
            return folder
    raise BadInput("this is no checkout of the track", {"folder": here}, "run the command where pins.toml is")


@main.command()
@click.option("--from", "source", type=click.Choice(["auto", "git", "wheel"]), default="auto", help="Where to look.")
@click.option("--mirror", help="A folder, file:// or localhost address in place of the repository; NAME=PLACE for one.")
@click.option("--history", is_flag=True, help="Bring the wheels of requirements/history.txt too.")
@click.pass_obj
def sync(checkout: Checkout, source: str, mirror: str | None, *, history: bool) -> None:
    """Bring the pinned sources, and check every file against its blob id."""
    from track.pins import history as releases
    from track.pins import lock, progress
    from track.pins import sync as syncing

    report = progress.Terminal()
    pins = lock.read(checkout.pins)
    trees = syncing.sync(checkout.root, pins, source, _mirrors(mirror), report)  # pyright: ignore[reportArgumentType]
    if history:
        releases.fetch(checkout.root, report)
    total = sum(len(tree.paths) for tree in trees.values())
    click.echo(f"{total} files of {len(trees)} projects are what pins.toml says")


def _mirrors(given: str | None) -> str | dict[str, str] | None:
    if given is None or "=" not in given:
        return given
    return dict(part.split("=", 1) for part in given.split(",") if "=" in part)  # jax=/here,tokamax=/there


@main.group()
def pin() -> None:
    """Show or write the pins."""


@pin.command()
@click.pass_obj
def show(checkout: Checkout) -> None:
    """Print each pin: release, commit, files and where their ids were read."""
    from track.pins import lock

    for name, one in lock.read(checkout.pins).items():
        click.echo(f"{name}  {one.release}  commit {one.commit}")
        click.echo(f"  repository  {one.repository}")
        for origin in ("git", "wheel"):
            count = sum(1 for blob in one.files.values() if blob and blob.origin == origin)
            if count:
                click.echo(f"  {count} files, ids read from {origin}")


@pin.command()
@click.argument("project")
@click.option("--from", "source", type=click.Choice(["git", "wheel"]), default="wheel", help="Where to read the ids.")
@click.option("--mirror", help="A folder, file:// or localhost address in place of the repository.")
@click.pass_obj
def write(checkout: Checkout, project: str, source: str, mirror: str | None) -> None:
    """Fill in the blob ids of a project's files."""
    from track.pins import ids, lock, progress, wheel
    from track.pins import write as writing

    drafts = lock.read(checkout.pins, draft=True)
    if project not in drafts:
        raise BadInput(f"no pinned project '{project}'", {"expected": ", ".join(drafts)})
    draft = drafts[project]
    if source == "git" or mirror:
        fresh = ids.from_git(draft, mirror)
    else:
        found = wheel.fetch(draft.release, checkout.root / "build" / "wheels", progress.Terminal())
        fresh = ids.from_wheel(draft, found)
    changed = writing.write(checkout.pins, fresh)
    click.echo(f"{len(fresh.files)} ids of {project} read from {source}: {'written' if changed else 'unchanged'}")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--pin", "other", help="Another release, such as jax=0.11.0; static facts only.")
@click.pass_obj
def facts(checkout: Checkout, other: str | None, *, as_json: bool) -> None:
    """Print every named fact, its value and where it was computed."""
    from track import checkout as work

    found = work.facts_of_release(checkout.root, other) if other else work.facts(checkout.root, checkout.pins)
    if as_json:
        click.echo(json.dumps({f.name: dataclasses.asdict(f) for f in found.values()}, indent=1, sort_keys=True))
        return
    width = max(len(name) for name in found)
    for name, fact in found.items():
        value = f"(none: {fact.why})" if fact.value is None else fact.value
        click.echo(f"{name:<{width}}  {value}  {fact.what}; {fact.where}")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def coverage(checkout: Checkout, *, as_json: bool) -> None:
    """Print how much of its file each annotated page accounts for; exit 1 if a line is unaccounted for."""
    from track import checkout as work

    rows = work.coverage(checkout.root, checkout.pins)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode())
    for row in rows if not as_json else ():
        click.echo(f"{row.page}  {row.path}")
        click.echo(f"  {row.lines:,} lines: {row.shown:,} shown, {row.noted:,} of them noted in {row.notes} notes")
        click.echo(f"  {row.folded:,} folded ({row.folded_share:.0%}), {row.unaccounted:,} unaccounted for")
        click.echo(f"  longest run of code without a note: {row.longest_run} lines, {row.longest_run_at}")
        if row.unaccounted:
            click.echo(f"  unaccounted: {', '.join(row.unaccounted_spans)}")
    sys.exit(1 if any(row.unaccounted for row in rows) else 0)


@main.group()
def evidence() -> None:
    """Run kernels, and see what is known of them."""


def _selection(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say which part of the evidence is meant."""
    command = click.option("--target", help="One target, such as v5e or sm90.")(command)
    command = click.option("--lane", help="One lane, such as tpu-aot.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


@evidence.command(name="list")
@click.option("--only", help="One topic or kernel.")
@_selection
@click.pass_obj
def list_(checkout: Checkout, only: str | None, lane: str | None, target: str | None, *, as_json: bool) -> None:
    """Print the verdict of every kernel, case, lane and target; those that are not known yet are run."""
    from track import checkout as work
    from track.evidence import show

    found = work.evidence_of(checkout.root, checkout.pins, only, lane=lane, target=target)
    records = list(found.records.values())
    if as_json:
        rows = [show.row(record, found.kernels) for record in records]
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode())
        return
    for record in records:
        click.echo(show.line(record))
    click.echo(f"{len(records)} records ({show.tally(records)}), {found.ran} verdicts run now")


@evidence.command()
@click.option("--only", help="One topic or kernel.")
@click.option("--commit", "machine", metavar="MACHINE", help="Keep the records beside the kernels, as made on MACHINE.")
@_selection
@click.pass_obj
def run(
    checkout: Checkout, only: str | None, lane: str | None, target: str | None, machine: str | None, *, as_json: bool
) -> None:
    """Run what is not known yet; exit 1 if a verdict is not the one that its kernel expects."""
    from track import checkout as work
    from track.evidence import show

    found = work.evidence_of(checkout.root, checkout.pins, only, lane=lane, target=target)
    odd = work.unexpected(found)
    if as_json:
        rows = [show.row(record, found.kernels) for record in odd]
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode())
    else:
        for record in odd:
            click.echo(show.line(record))
        kept = f", {work.commit_evidence(checkout.root, checkout.pins, found, machine)} files kept" if machine else ""
        all_records = found.records.values()
        click.echo(f"{found.ran} verdicts run, {len(odd)} not as expected ({show.tally(all_records)}){kept}")
    sys.exit(1 if odd else 0)


@evidence.command(name="show")
@click.argument("kernel")
@click.option("--form", "stage", help="Print the form that a stage left, such as original, or ptx.")
@_selection
@click.pass_obj
def show_evidence(
    checkout: Checkout, kernel: str, lane: str | None, target: str | None, stage: str | None, *, as_json: bool
) -> None:
    """Print everything that is known of KERNEL."""
    from track import checkout as work
    from track.evidence import show

    found = work.evidence_of(checkout.root, checkout.pins, kernel, lane=lane, target=target)
    records = list(found.records.values())
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(records), indent=1).decode())
    elif stage:
        click.echo("\n".join(show.forms(records, stage)))
    else:
        click.echo("\n\n".join(map(show.page, records)))


@evidence.command()
@click.pass_obj
def prune(checkout: Checkout) -> None:
    """Delete kept results that no kernel, lane, page or pin of today asks for."""
    from track import checkout as work

    click.echo(f"{work.prune_evidence(checkout.root, checkout.pins)} results deleted")


@main.group()
def lab() -> None:
    """Work on a lab: an exercise with a checker and hints. N is its number, such as 1.1."""


@lab.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def list_labs(checkout: Checkout, *, as_json: bool) -> None:
    """Print every lab, and how far it is done."""
    from track import labs

    found = labs.find(checkout.root)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
        return
    width = max((len(one.title) for one in found), default=0)
    for one in found:
        click.echo(f"{one.number}  {one.title:<{width}}  {one.work}: {one.state}")
        click.echo("     " + ", ".join(f"{part.name} {'done' if part.done else 'open'}" for part in one.parts))


def _in_lab(checkout: Checkout, number: str, *arguments: str) -> None:
    """Have a lab do what is asked, in a process of its own, and exit as it does."""
    from track import labs

    sys.exit(labs.told(checkout.root, labs.named(labs.find(checkout.root), number).folder, arguments))


@lab.command()
@click.argument("n")
@click.option("--file", type=click.Path(path_type=Path), help="Another file to check; nothing is noted of it.")
@click.pass_obj
def check(checkout: Checkout, n: str, file: Path | None) -> None:
    """Check your file of lab N; exit 1 until all of it is done."""
    _in_lab(checkout, n, "check", *(["--file", str(file)] if file else []))


@lab.command()
@click.argument("n")
@click.argument("part", required=False)
@click.pass_obj
def hint(checkout: Checkout, n: str, part: str | None) -> None:
    """Print the next hint for lab N: for a PART of it, or for the first that is not done."""
    _in_lab(checkout, n, "hint", *([part] if part else []))


@lab.command()
@click.argument("n")
@click.pass_obj
def reset(checkout: Checkout, n: str) -> None:
    """Begin lab N anew; what you have written is kept, and the place is printed."""
    _in_lab(checkout, n, "reset")


@lab.command()
@click.argument("n")
@click.option("--spoil", is_flag=True, help="Show the solution before you are done.")
@click.pass_obj
def diff(checkout: Checkout, n: str, *, spoil: bool) -> None:
    """Compare your file of lab N with the solution, once it is done."""
    _in_lab(checkout, n, "diff", *(["--spoil"] if spoil else []))


@lab.command()
@click.argument("n")
@click.argument("part", required=False)
@click.pass_obj
def jaxpr(checkout: Checkout, n: str, part: str | None) -> None:
    """Print what jax makes of your file of lab N: of a PART of it, or of each."""
    _in_lab(checkout, n, "jaxpr", *([part] if part else []))


@main.command()
@click.argument("project")
@click.argument("wanted", metavar="[VERSION|COMMIT|newest]", required=False)
@click.option("--draft", "step", flag_value="draft", default=True, help="Make a draft and its report (the default).")
@click.option("--accept", "step", flag_value="accept", help="Write the draft into the checkout.")
@click.option("--undo", "step", flag_value="undo", help="Put every file back as it was before.")
@click.option("--release", metavar="VERSION", help="The release that runs, where WANTED is a commit.")
@click.option("--mirror", help="A folder, file:// or localhost address in place of the repository.")
@click.option("--evidence/--no-evidence", default=True, help="Whether to run the kernels at the new pin too.")
@click.pass_obj
def bump(
    checkout: Checkout,
    project: str,
    wanted: str | None,
    *,
    step: str,
    release: str | None,
    mirror: str | None,
    evidence: bool,
) -> None:
    """Move the pin of PROJECT: carry every note over, and report what changed.

    A draft changes nothing outside of build/. Give the same command again to go on with one that was stopped.
    """
    from track import checkout as work
    from track.bump import flow, show
    from track.pins import progress

    with work.alone(checkout.root):
        if step == "undo":
            files = flow.undo(checkout.root)
            click.echo(f"{len(files)} files are as they were" if files else "the draft is gone; no file had changed")
        elif step == "accept":
            report, files = flow.accept(checkout.root)
            click.echo(f"{show.summary(report)}; {len(files)} files written")
            click.echo("next: make lock, then make site; track drift list shows what waits")
        else:
            asked = flow.Asked(project, _wanted(wanted), release, mirror, evidence)
            made = flow.make_draft(checkout.root, checkout.pins, asked, progress.Terminal())
            if made is None:
                click.echo(f"{project}: nothing newer than what is pinned")
                return
            click.echo(show.table(made, everything=False))
            click.echo("read build/bump/review.html or build/bump/report.md, decide with track drift, then")
            click.echo(f"track bump {project} --accept, or --undo")


def _wanted(given: str | None) -> str:
    if given is None:
        raise BadInput("a draft of which release", {"expected": "a version, a full commit, or newest"})
    return given


@main.group()
def drift() -> None:
    """See and decide what a bump leaves to a person."""


@drift.command(name="list")
@click.option("--all", "everything", is_flag=True, help="What was carried over too.")
@click.option("--format", "form", type=click.Choice(["table", "markdown", "github", "json"]), default="table")
@click.pass_obj
def list_drift(checkout: Checkout, form: str, *, everything: bool) -> None:
    """Print the list of the latest bump."""
    from track.bump import flow, show

    report = flow.latest(checkout.root, checkout.pins)
    click.echo(show.in_form(report, form, everything=everything).rstrip("\n"))  # pyright: ignore[reportArgumentType]


@drift.command(name="show")
@click.argument("note")
@click.pass_obj
def show_drift(checkout: Checkout, note: str) -> None:
    """Print NOTE with its old and its new code."""
    from track.bump import flow
    from track.pins import progress

    click.echo(flow.review_one(checkout.root, checkout.pins, note, progress.Terminal()))


@drift.command()
@click.argument("notes", nargs=-1, required=True)
@click.pass_obj
def accept(checkout: Checkout, notes: tuple[str, ...]) -> None:
    """Take NOTES as right for the code where they stand now."""
    _decide(checkout, "accept", notes)


@drift.command()
@click.argument("note")
@click.argument("first")
@click.argument("last", required=False, default="")
@click.option("--listing", default="", metavar="SYMBOL", help="Move the note under the listing of this symbol.")
@click.pass_obj
def retarget(checkout: Checkout, note: str, first: str, last: str, listing: str) -> None:
    """Make NOTE speak of the code FIRST, or of everything from FIRST to LAST."""
    _decide(checkout, "retarget", (note,), first, last, listing)


@drift.command()
@click.argument("notes", nargs=-1, required=True)
@click.pass_obj
def drop(checkout: Checkout, notes: tuple[str, ...]) -> None:
    """Take NOTES off their pages."""
    _decide(checkout, "drop", notes)


def _decide(checkout: Checkout, verb: str, notes: tuple[str, ...], *words: str) -> None:
    from track import checkout as work
    from track.bump import flow
    from track.bump.workspace import Decision

    with work.alone(checkout.root):
        library = flow.target(checkout.root, checkout.pins)
        for note in notes:
            click.echo(flow.settle(checkout.root, library, Decision(verb, note, *words)))  # pyright: ignore[reportArgumentType]


@main.command()
@click.argument("project")
@click.argument("old")
@click.argument("new")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def changes(checkout: Checkout, project: str, old: str, new: str, *, as_json: bool) -> None:
    """Print what changed inside Pallas from release OLD to release NEW of PROJECT."""
    from track.drift import history
    from track.drift.summary import summary
    from track.pins import lock, progress

    pins = lock.read(checkout.pins)
    found = history.changes_of(checkout.root, pins, project, old, new, progress=progress.Terminal())
    click.echo(msgspec.json.format(msgspec.json.encode(found), indent=1).decode() if as_json else summary(found))


@main.command()
@click.pass_obj
def releases(checkout: Checkout) -> None:
    """Run every jax of requirements/history.txt to see which backend a GPU gets, and keep the answers."""
    import datetime as dt

    from track.evidence import releases as asking
    from track.pins import progress

    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    changed = asking.write(checkout.root, today, progress.Terminal())
    click.echo(f"{asking.PATH} {'written' if changed else 'unchanged'}")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def figures(checkout: Checkout, *, as_json: bool) -> None:
    """Print every figure of the site with a digest of what it is drawn as."""
    from track import checkout as work

    found = work.figures(checkout.root, checkout.pins)
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    for row in found:
        click.echo(f"{row['digest']:.12}  {row['fence']}  {row['page']}:{row['line']}")


@main.command()
@click.argument("pages", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.pass_obj
def lock(checkout: Checkout, pages: tuple[Path, ...]) -> None:
    """Take the notes of PAGES as reviewed against the code as it is now."""
    from track import checkout as work

    count = work.relock(checkout.root, checkout.pins, pages)
    click.echo(f"{count} notes locked")


@main.command()
@click.pass_obj
def weave(checkout: Checkout) -> None:
    """Make the Markdown in build/pages, for a plain `mkdocs serve`."""
    from track import checkout as work

    with work.alone(checkout.root):
        changed = work.weave(work.open_(checkout.root, checkout.pins))
    click.echo(f"{changed} pages written")


@main.command()
@click.option("--zensical", is_flag=True, help="Build the same pages with Zensical too, into build/zensical/site.")
@click.option("--draft", is_flag=True, help="Build although notes wait for a person, and stamp them.")
@click.pass_obj
def build(checkout: Checkout, *, zensical: bool, draft: bool) -> None:
    """Build the site into build/site, if anything changed."""
    from track import checkout as work
    from track.pages import second

    start = time.monotonic()
    gc.disable()  # syntax trees are millions of objects that stay to the end, and it would walk them again and again
    with work.alone(checkout.root):
        said = work.build(checkout.root, checkout.pins, draft=draft)
        if zensical:
            second.build_second(checkout.root)
    click.echo(f"{said} ({time.monotonic() - start:.1f} s): build/site/index.html")


@main.command()
@click.option("--port", default=8000, show_default=True, help="Port on localhost.")
@click.pass_obj
def serve(checkout: Checkout, port: int) -> None:
    """Serve the site on localhost, and follow changes of docs/, kernels/ and pins.toml."""
    from track import checkout as work

    work.serve(checkout.root, checkout.pins, port)


if __name__ == "__main__":
    main()
