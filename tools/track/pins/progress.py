"""What a step that may take long tells the person who waits."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

__all__ = ["Progress", "Quiet", "Terminal"]

_PATIENCE_SECONDS = 1.0


class Progress(Protocol):
    """Where a long step reports to."""

    def busy(self, what: str) -> AbstractContextManager[None]:
        """Show `what` while the block runs, if that takes over a second."""
        ...

    def say(self, line: str) -> None:
        """Show a line that stays."""
        ...


class Quiet:
    """Reports nothing."""

    def busy(self, what: str) -> AbstractContextManager[None]:
        """Show nothing."""
        del what
        return contextlib.nullcontext()

    def say(self, line: str) -> None:
        """Show nothing."""


class Terminal:
    """Reports on standard error: a spinner on a terminal, one plain line elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        """Report to `console`, or to standard error."""
        self._console = console or Console(stderr=True, highlight=False)

    @contextlib.contextmanager
    def busy(self, what: str) -> Generator[None]:
        """Show `what` once the block has run for a second."""
        status = self._console.status(what)
        show = status.start if self._console.is_terminal else lambda: self.say(f"{what} ...")
        timer = threading.Timer(_PATIENCE_SECONDS, show)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            status.stop()

    @contextlib.contextmanager
    def counting(self, what: str) -> Generator[Callable[[int, int, str], None]]:
        """Show a bar for a step that counts; the block gets a function to say how many are done, of how many."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[last]}"),
        )
        bar = Bar(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)

        def tell(done: int, total: int, last: str) -> None:
            if done == 1 and not self._console.is_terminal:
                self.say(f"{what}, {total} ...")
            bar.update(task, completed=done, total=total, last=last)

        task = bar.add_task(what, total=None, visible=True, last="")
        with bar:
            yield tell

    def say(self, line: str) -> None:
        """Print a line that stays."""
        self._console.print(line, markup=False, soft_wrap=True)
