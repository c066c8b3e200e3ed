"""What is shown while the demo runs: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

PLAIN_EVERY = 2.0


class Display:
    """The parts of the story as lines that stay, and where the book stands below them."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begun = time.monotonic()
        self._due = 0.0
        self._last = ""
        live = console.is_terminal and not console.is_dumb_terminal
        self._live = Live(console=console, refresh_per_second=8, transient=True) if live else None

    def act(self, what: str) -> None:
        """A new part of the story begins."""
        self._console.print(Text.assemble(("▸ ", "yellow"), (what, "bold")), soft_wrap=True)
        self._due = 0.0

    def note(self, what: str) -> None:
        """Something to remember."""
        self._console.print(f"    {what}", highlight=False, soft_wrap=True, markup=False)

    def show(self, now: dict[str, Any]) -> None:
        """Where the book stands: the row of progress.sql."""
        line = f"{now['embedded']} of {now['entries']} embedded, {now['open']} jobs open, {now['dead']} dead letters"
        if self._live is not None:
            table = Table.grid(padding=(0, 1))
            total = max(1, now["entries"])
            bar = ProgressBar(total=total, completed=now["embedded"], width=40, complete_style="yellow")
            table.add_row("   ", bar, line)
            self._live.update(table)
        elif time.monotonic() >= self._due and line != self._last:
            self._due, self._last = time.monotonic() + PLAIN_EVERY, line
            self._console.print(
                f"{time.monotonic() - self._begun:6.1f} s  {line}", highlight=False, soft_wrap=True
            )

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
