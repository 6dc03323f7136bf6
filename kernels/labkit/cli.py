"""A lab at the command line: check, hint, reset, diff. `python kernels/<lab>/lab.py` checks."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kernels.labkit.check import Found, Report, check, traced
from kernels.labkit.desk import Desk, Progress, text_of
from kernels.labkit.lab import Lab
from kernels.labkit.problem import LabError

__all__ = ["main"]

INTERRUPTED = 130


def main(lab: Lab, arguments: Sequence[str]) -> int:
    """Do what is asked; return the exit code: 0 all right, 1 not yet, 2 wrong input, 3 something is not installed."""
    options = parser(lab).parse_args(arguments)
    try:
        return options.do(Desk(lab), options)
    except LabError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return INTERRUPTED


def parser(lab: Lab) -> argparse.ArgumentParser:
    """The commands and their options."""
    names = [part.name for part in lab.parts]
    about = f"Lab {lab.number}, {lab.title}. Your file is labs/{lab.work}."
    top = argparse.ArgumentParser(prog=f"python {lab.shown(lab.folder)}/lab.py", description=about)
    top.set_defaults(do=do_check, file=None)
    commands = top.add_subparsers(title="commands")
    one = commands.add_parser("check", help="check your file (this is what happens without a command)")
    one.add_argument("--file", type=Path, help="another file to check; nothing is noted of it")
    one.set_defaults(do=do_check)
    hint = commands.add_parser("hint", help="the next hint")
    hint.add_argument("part", nargs="?", choices=names, help="by default the first part that is not done")
    hint.set_defaults(do=do_hint)
    commands.add_parser("reset", help="put your file aside, and begin anew").set_defaults(do=do_reset)
    diff = commands.add_parser("diff", help="your file against the solution")
    diff.add_argument("--spoil", action="store_true", help="show the solution before you are done")
    diff.set_defaults(do=do_diff)
    show = commands.add_parser("jaxpr", help="what jax makes of each part of your file")
    show.add_argument("part", nargs="?", choices=names, help="by default all of them")
    show.add_argument("--file", type=Path, help="another file")
    show.set_defaults(do=do_jaxpr)
    describe = commands.add_parser("describe", help="print what is known of the lab, as JSON")
    describe.add_argument("--bare", action="store_true", help="without your progress")
    describe.set_defaults(do=do_describe)
    return top


def do_check(desk: Desk, options: argparse.Namespace) -> int:
    """Check a file, say what came of it, and note that of the learner's own."""
    lab, file = desk.lab, file_of(desk, options)
    before = text_of(file)
    report = check(lab, file)
    print("\n".join(lines_of(lab, file, report)))
    if options.file is None:
        done = [found.part.name for found in report.parts if found.done]
        desk.note(replace(desk.progress(), done=done, text=before))
    return 0 if all(found.done for found in report.parts) else 1


def file_of(desk: Desk, options: argparse.Namespace) -> Path:
    """The file that is meant, by its full path; the learner's own is made of the skeleton where it is not there yet."""
    if options.file is None:
        if desk.lay_out():
            print(f"{desk.lab.shown(desk.work)} is new, a copy of the skeleton: edit it, and check again\n")
        return desk.work
    if not options.file.is_file():
        raise LabError("there is no such file", {"file": options.file})
    return options.file.resolve()


def lines_of(lab: Lab, file: Path, report: Report) -> Iterator[str]:
    """The report: all of what was begun, and of what was not the first part alone."""
    if report.printed:
        yield f"your file printed:\n  {report.printed.replace(chr(10), chr(10) + '  ')}\n"
    yield f"Lab {lab.number}, {lab.title}: {lab.shown(file)}"
    if report.unread:
        yield from ("", *str(report.unread).splitlines(), "", f"none of {len(report.parts)} parts was looked at")
        return
    first = next((found for found in report.parts if not found.done), None)
    for found in report.parts:
        yield f"\n{found.part.name}: {state(found)}"
        yield from (f"  {line}" for line in found.proved)
        if found.wrong and (found is first or (found.begun and found.looked_at)):
            yield from (f"  {line}" for line in str(found.wrong).splitlines())
    yield from (f"\n{sentence}" for sentence in report.skipped)
    done = sum(found.done for found in report.parts)
    yield f"\n{done} of {len(report.parts)} parts done" + (
        f"; a hint: {lab.command('hint', first.part.name)}" if first else f"; compare: {lab.command('diff')}"
    )


def state(found: Found) -> str:
    """A part in a word or two."""
    if not found.looked_at:
        return "not looked at"
    return "done" if found.done else "not yet right" if found.begun else "not begun"


def do_hint(desk: Desk, options: argparse.Namespace) -> int:
    """Give one hint more of a part than last time."""
    lab, progress = desk.lab, desk.progress()
    open_ = [part.name for part in lab.parts if part.name not in progress.done]
    part = options.part or (open_ or [lab.parts[-1].name])[0]
    hints = lab.hints[part]
    given = min(progress.hints.get(part, 0) + 1, len(hints))
    print(f"{part}, hint {given} of {len(hints)}:\n\n{hints[given - 1]}")
    if given == len(hints):
        where = lab.shown(lab.solution) if lab.solution.is_file() else "on the lab's page"
        print(f"\nThat was the last one; the solution is {where}")
    desk.note(replace(progress, hints={**progress.hints, part: given}))
    return 0


def do_jaxpr(desk: Desk, options: argparse.Namespace) -> int:
    """Print the traced program of a part, or of each."""
    lab, file = desk.lab, file_of(desk, options)
    wanted = [part for part in lab.parts if options.part in {None, part.name}]
    report = traced(lab, file, wanted)
    if report.unread:
        print(report.unread)
        return 1
    for found in report.parts:
        print("\n".join([f"{found.part.name}:", *found.proved, *([str(found.wrong)] if found.wrong else []), ""]))
    return 0 if all(found.done for found in report.parts) else 1


def do_reset(desk: Desk, options: argparse.Namespace) -> int:
    """Begin anew, and say where the learner's file is kept."""
    del options
    progress = desk.progress()  # before anything is moved: it may be unreadable
    kept = desk.put_aside()
    desk.note(replace(progress, done=[], text=text_of(desk.work), hints={}))
    shown = desk.lab.shown
    aside = f"; what you had written is in {shown(kept)}" if kept else "; nothing had been written in it"
    print(f"{shown(desk.work)} is the skeleton again{aside}")
    return 0


def do_diff(desk: Desk, options: argparse.Namespace) -> int:
    """Show how the learner's file and the solution differ, once the lab is done."""
    lab = desk.lab
    progress = desk.progress()
    open_ = [part.name for part in lab.parts if part.name not in progress.done]
    if not lab.solution.is_file():
        raise LabError("the solution is not here", {"expected": lab.shown(lab.solution), "next": "see the lab's page"})
    if (open_ or progress.text != text_of(desk.work)) and not options.spoil:
        found = f"not done: {', '.join(open_)}" if open_ else "your file has changed since it was checked"
        step = f"{lab.command('check')}, or: {lab.command('diff', '--spoil')}"
        raise LabError("the difference shows the solution", {"found": found, "next": step}, exit_code=1)
    desk.lay_out()
    mine, other = (path.read_text("utf-8").splitlines(keepends=True) for path in (desk.work, lab.solution))
    lines = list(difflib.unified_diff(mine, other, lab.shown(desk.work), lab.shown(lab.solution)))
    print("".join(lines) if lines else "your file and the solution are the same")
    return 0


def do_describe(desk: Desk, options: argparse.Namespace) -> int:
    """Print the lab and its progress."""
    lab, progress = desk.lab, Progress() if options.bare else desk.progress()
    parts = [
        {"name": part.name, "done": part.name in progress.done, "hints": lab.hints[part.name]} for part in lab.parts
    ]
    known = {
        "number": lab.number,
        "title": lab.title,
        "folder": lab.folder.name,
        "page": lab.page,
        "work": lab.shown(desk.work),
        "parts": parts,
    }
    changed = desk.work.exists() and progress.text not in {"", text_of(desk.work)}
    print(json.dumps({**known, "started": desk.work.exists() and not options.bare, "changed": changed}))
    return 0
