"""What is shown while the demo runs: a live picture on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from examples.homepage.demo.look import Incident, Standing
from examples.homepage.demo.stage import Stage
from examples.homepage.demo.tables import types
from examples.homepage.queues import FAMILIES

PLAIN_EVERY = 3.0
LATEST = 4


class Display:
    """Shows one moment after another. Notes are lines that stay."""

    def __init__(self, console: Console, stage: Stage) -> None:
        self._console, self._stage = console, stage
        live = console.is_terminal and not console.is_dumb_terminal
        self._live = Live(console=console, refresh_per_second=4, transient=True) if live else None
        self._due = 0.0
        self._noted = 0
        self._states: dict[str, bool] = {}

    def show(self, seconds: float, now: Standing, notes: list[str]) -> None:
        """One moment."""
        for incident in now.incidents:
            self._told(seconds, incident)
        for note in notes[self._noted :]:
            self._say(seconds, note, "yellow")
        self._noted = len(notes)
        if self._live is not None:
            # Not a line more than the smallest terminals have.
            moment = Text(line(now), no_wrap=True, overflow="ellipsis")
            self._live.update(Group(types(now, self._stage), moment, *self._foot(seconds)))
        elif time.monotonic() >= self._due:
            self._due = time.monotonic() + PLAIN_EVERY
            self._console.print(f"{seconds:6.1f} s  {line(now)}", highlight=False, soft_wrap=True)

    def _told(self, seconds: float, incident: Incident) -> None:
        """An incident that has opened or closed since the last look."""
        closed = incident.resolved_at is not None
        key = f"{incident.kind} {incident.opened_at}"
        if self._states.get(key) is not closed:
            told = f" (told: {', '.join(incident.told)})" if incident.told else ""
            word, style = ("● closed", "green") if closed else ("● opened", "red")
            self._say(seconds, f"{word}: {incident.title}{told}", style)
            self._states[key] = closed

    def _say(self, seconds: float, what: str, style: str) -> None:
        self._console.print(Text.assemble(f"{seconds:6.1f} s  ", (what, style)), soft_wrap=True)

    def _foot(self, seconds: float) -> tuple[Text, Text]:
        link = Text.assemble(("console, log in once: ", "bold"), (self._stage.console, "cyan"))
        return link, Text(f"{seconds:.0f} s; Ctrl-C ends", "dim")

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()


def line(now: Standing) -> str:
    """One moment in a line: how many jobs of each family are done, and how many are not over."""
    parts = []
    for family in FAMILIES:
        tally = now.by_queue.get(family.queue.name)
        if tally is not None:
            parts.append(f"{family.queue.name} {tally.jobs['succeeded']}+{tally.open}")
    healed = sum(tally.healed for tally in now.by_type.values())
    return "done+open: " + ", ".join([*parts, f"{healed} healed"])
