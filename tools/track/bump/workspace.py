"""The files that a bump changes, beside the checkout until they are accepted, and the way back.

    build/bump/open/
      state.json    which bump this is, how far it is, and what the checkout's files were and become
      new/...       the files as they become, by their path in the checkout
      old/...       the files as they were, once the bump is accepted

While a bump is a draft, nothing outside of `build/` changes. Accepting keeps the old files, says in the state that it
is about to begin, and writes the new ones; a kill in between leaves either side whole, and the same command goes on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import shutil
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from track.errors import BadEnvironment, BadInput, Finding
from track.files import digest, write_if_changed

__all__ = ["Decision", "State", "Workspace", "enough_space"]

Phase = Literal["draft", "accepting", "accepted", "undoing"]
ABSENT = "absent"


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person decided about a note, so that another draft of the same bump can repeat it."""

    verb: Literal["accept", "retarget", "drop"]
    note: str
    first: str = ""
    last: str = ""
    listing: str = ""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """How far a bump is. `before` and `after` are digests by path, `absent` for a file that is not there."""

    project: str
    old: str
    new: str
    version: str
    phase: Phase
    before: Mapping[str, str]
    after: Mapping[str, str]
    decisions: tuple[Decision, ...] = ()


@contextlib.contextmanager
def enough_space(what: str) -> Generator[None]:
    """Turn a full disk into an error that says what was being written."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise BadEnvironment(
            f"no space left on the disk for {what}",
            {"file": error.filename or "unknown"},
            "free some space and give the same command again: nothing is lost",
        ) from None


@dataclasses.dataclass(frozen=True)
class Workspace:
    """The checkout as the open bump, if there is one, will leave it."""

    root: Path

    @property
    def folder(self) -> Path:
        """Where the open bump lies."""
        return self.root / "build" / "bump" / "open"

    @property
    def state(self) -> State | None:
        """The open bump, if there is one."""
        path = self.folder / "state.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=State)
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError as error:
            raise BadInput(
                "the state of the bump cannot be read",
                {"file": "build/bump/open/state.json", "found": error},
                "delete build/bump/open, take back docs/ and pins.toml from git, and bump again",
            ) from None

    @property
    def is_draft(self) -> bool:
        """Whether changes go beside the checkout."""
        state = self.state
        return state is not None and state.phase == "draft"

    def read(self, name: str) -> bytes | None:
        """A file as it will be; None if there is none."""
        draft = self.folder / "new" / name
        path = draft if self.is_draft and draft.is_file() else self.root / name
        return path.read_bytes() if path.is_file() else None

    def write(self, name: str, data: bytes | str) -> None:
        """Change a file: beside the checkout while the bump is a draft, else in it."""
        data = data.encode() if isinstance(data, str) else data
        state = self.state
        with enough_space(name):
            if state is not None:
                before = {name: _digest(self.root / name), **state.before}
                if state.phase != "draft" and name not in state.before:
                    self._keep(name)
                after = {**state.after, name: digest(data)}
                self._save(msgspec.structs.replace(state, before=before, after=after))
            write_if_changed((self.folder / "new" if self.is_draft else self.root) / name, data)

    def decided(self, decision: Decision) -> None:
        """Remember a decision for as long as the bump is open."""
        state = self.state
        if state is not None:
            self._save(msgspec.structs.replace(state, decisions=(*state.decisions, decision)))

    def begin(self, project: str, old: str, new: str, version: str) -> tuple[Decision, ...]:
        """Open a bump, and return what was decided in an earlier draft of it; BadInput while another one is open."""
        state = self.state
        if state is not None and state.phase != "accepted" and (state.project, state.new) != (project, new):
            raise BadInput(
                "another bump is open",
                {"open": f"{state.project} {state.version}", "asked": f"{project} {version}"},
                f"track bump {state.project} --accept, or track bump {state.project} --undo",
            )
        if state is not None and state.phase in {"accepting", "undoing"}:
            raise Finding(
                f"{state.phase} this bump was cut short",
                {"open": f"{state.project} {state.version}"},
                f"track bump {state.project} --{'accept' if state.phase == 'accepting' else 'undo'}",
            )
        shutil.rmtree(self.folder, ignore_errors=True)
        empty = State(project=project, old=old, new=new, version=version, phase="draft", before={}, after={})
        with enough_space("the draft"):
            self._save(empty)
        return state.decisions if state is not None and state.phase == "draft" else ()

    def stage(self, files: Mapping[str, bytes | str]) -> None:
        """Put files beside the checkout, all at once, and remember what the checkout's own are now."""
        state = self.opened("draft")
        before, after = dict(state.before), dict(state.after)
        with enough_space("the draft"):
            for name, content in files.items():
                data = content.encode() if isinstance(content, str) else content
                before[name], after[name] = _digest(self.root / name), digest(data)
                write_if_changed(self.folder / "new" / name, data)
            self._save(msgspec.structs.replace(state, before=before, after=after))

    def accept(self) -> tuple[str, ...]:
        """Write the new files into the checkout; return their names. Finding if its own changed since the draft."""
        state = self.opened("draft", "accepting")
        changed = [n for n, was in state.before.items() if _digest(self.root / n) not in {was, state.after[n]}]
        if changed:
            raise Finding(
                "files have changed since the draft was made",
                {"files": "\n".join(changed)},
                f"track bump {state.project} {state.version} --draft, which keeps what was decided",
            )
        with enough_space("the old files"):
            if state.phase == "draft":
                for name in state.after:
                    self._keep(name)
                self._save(msgspec.structs.replace(state, phase="accepting"))
            for name in state.after:
                write_if_changed(self.root / name, (self.folder / "new" / name).read_bytes())
            self._save(msgspec.structs.replace(state, phase="accepted"))
        return tuple(state.after)

    def undo(self) -> tuple[str, ...]:
        """Put every file back as it was; return their names. Finding if one has changed since it was accepted."""
        state = self.opened("draft", "accepting", "accepted", "undoing")
        if state.phase == "draft":
            shutil.rmtree(self.folder)
            return ()
        known = {n: {state.after[n], state.before.get(n, ABSENT)} for n in state.after}
        changed = [n for n, digests in known.items() if _digest(self.root / n) not in digests]
        if changed:
            raise Finding(
                "files have changed since the bump was accepted",
                {"files": "\n".join(changed), "old files": "build/bump/open/old"},
                "take the changes back or keep them elsewhere, then give the same command again",
            )
        with enough_space("the old files"):
            self._save(msgspec.structs.replace(state, phase="undoing"))
            for name in state.after:
                self._put_back(name)
        shutil.rmtree(self.folder)
        return tuple(state.after)

    def opened(self, *phases: Phase) -> State:
        """The open bump, which must be in one of these phases."""
        state = self.state
        if state is None or state.phase not in phases:
            found = "no bump is open" if state is None else f"{state.project} {state.version}, {state.phase}"
            raise BadInput("there is no bump to go on with", {"found": found}, "track bump PROJECT VERSION --draft")
        return state

    def _keep(self, name: str) -> None:
        path = self.root / name
        if path.is_file():
            write_if_changed(self.folder / "old" / name, path.read_bytes())

    def _put_back(self, name: str) -> None:
        kept = self.folder / "old" / name
        if kept.is_file():
            write_if_changed(self.root / name, kept.read_bytes())
        else:
            (self.root / name).unlink(missing_ok=True)

    def _save(self, state: State) -> None:
        write_if_changed(self.folder / "state.json", msgspec.json.format(msgspec.json.encode(state), indent=1) + b"\n")


def _digest(path: Path) -> str:
    return digest(path.read_bytes()) if path.is_file() else ABSENT
