"""What is shown while the demo runs: a live picture on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from examples.enrichment.demo.measure import Latest, PickUp, Progress

PLAIN_EVERY = 2.0
QUIET_EVERY = 10.0
"""Seconds between two plain lines, while something happens and while all wait for their time."""


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is shown at one moment. `total` is how many items there will be, `seconds` since the first."""

    total: int
    seconds: float
    progress: Progress
    pick_up: PickUp
    latest: list[Latest] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Finished jobs a second, so far."""
        return self.progress.ended / self.seconds if self.seconds > 0 else 0.0


class Display(Protocol):
    """Shows pictures; closed when the last was shown."""

    def show(self, picture: Picture) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def display_for(console: Console) -> Display:
    """The live one for a terminal that can move its cursor."""
    return (
        LiveDisplay(console)
        if console.is_terminal and not console.is_dumb_terminal
        else PlainDisplay(console)
    )


class LiveDisplay:
    """Redraws one picture in place."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, refresh_per_second=8, transient=False)

    def show(self, picture: Picture) -> None:
        """Replace what is shown."""
        self._live.update(Group(_bars(picture), _figures(picture), _titles(picture)))

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()


class PlainDisplay:
    """One line every two seconds (ten, while nothing happens), and one at the end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._due = 0.0
        self._ended = 0
        self._noted = 0
        self._last: Picture | None = None

    def show(self, picture: Picture) -> None:
        """A line, if one is due, and what is new to note."""
        self._last = picture
        for note in picture.notes[self._noted :]:
            self._console.print(f"         {note}", highlight=False, soft_wrap=True)
        self._noted = len(picture.notes)
        moved = picture.progress.ended != self._ended
        if time.monotonic() >= self._due + (0.0 if moved else QUIET_EVERY - PLAIN_EVERY):
            self._due = time.monotonic() + PLAIN_EVERY
            self._ended = picture.progress.ended
            self._print(picture)
            self._last = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._last is not None:
            self._print(self._last)

    def _print(self, picture: Picture) -> None:
        now = picture.progress
        # At most 80 characters: what is left out stands in the summary.
        line = (
            f"{picture.seconds:6.1f} s  captured {now.captured}/{picture.total}  enriched {now.enriched}"
            f"  discarded {now.discarded}  retrying {now.retrying}  failed {now.failed}"
        )
        self._console.print(line, highlight=False, soft_wrap=True)


def _bars(picture: Picture) -> Table:
    now, total = picture.progress, picture.total
    table = Table.grid(padding=(0, 1))
    for label, count, style in (
        ("captured", now.captured, "cyan"),
        ("enriched", now.enriched + now.discarded, "green"),
    ):
        bar = ProgressBar(total=total, completed=count, width=44, complete_style=style, finished_style=style)
        table.add_row(Text(label, "bold"), bar, f"{count}/{total}")
    return table


def _figures(picture: Picture) -> Table:
    now = picture.progress
    table = Table.grid(padding=(0, 3))
    table.add_row(
        Text(f"running {now.running}"),
        Text(_retrying(now), "yellow" if now.retrying else ""),
        Text(f"failed {now.failed}", "bold red" if now.failed else ""),
        Text(f"discarded {now.discarded}"),
    )
    table.add_row(
        Text(f"{picture.rate:.0f} jobs/s"),
        Text(f"pick-up {_pick_up(picture.pick_up)}"),
        Text(f"{picture.seconds:.1f} s"),
    )
    return table


def _titles(picture: Picture) -> Group:
    lines = [Text(note, "yellow") for note in picture.notes]
    for item in picture.latest:
        line = Text.assemble(
            (f"{item.language:>3} ", "magenta"), (item.title, ""), no_wrap=True, overflow="ellipsis"
        )
        lines.append(line)
    return Group(*lines)


def _retrying(now: Progress) -> str:
    waits = f" (next in {max(0.0, now.next_retry):.1f} s)" if now.retrying else ""
    return f"retrying {now.retrying}{waits}"


def _pick_up(times: PickUp) -> str:
    return f"p50 {duration(times.p50)}, p99 {duration(times.p99)}" if times.started else "–"


def duration(seconds: float) -> str:
    """A length of time for people."""
    if seconds < 1:
        return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
