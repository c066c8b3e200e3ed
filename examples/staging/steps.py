"""The preparations of a demo, one line each with how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text


class Steps:
    """The preparations, one line each with how long it took."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextmanager
    def step(self, what: str) -> Iterator[Callable[[str], None]]:
        """Shows `what` while it goes on; call what is given with a remark for the finished line."""
        begun = time.monotonic()
        remark: list[str] = []
        with self._console.status(f"starting {what} …"):
            yield remark.append
        seconds = f"{time.monotonic() - begun:.1f} s"
        self._console.print(
            Text.assemble(("✓ ", "green"), what, (f"  {'; '.join([*remark, seconds])}", "dim"))
        )
