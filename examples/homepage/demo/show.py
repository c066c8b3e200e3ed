"""What is shown while the demo runs: a live picture on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from examples.homepage.demo.look import Incident, Standing, Tally
from examples.homepage.demo.stage import Stage
from examples.homepage.job_types import REGISTRY
from examples.homepage.queues import FAMILIES

PLAIN_EVERY = 3.0
LATEST = 4
STYLES = {
    "salmon": "salmon1",
    "blue": "dodger_blue1",
    "lavender": "plum2",
    "green": "green3",
    "yellow": "yellow3",
}
"""The colours of the families, as terminals have them."""


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
            self._live.update(Group(types(now, self._stage), Text(line(now)), *self._foot(seconds)))
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


def families(now: Standing) -> Table:
    """The five families."""
    table = Table(box=None, padding=(0, 2, 0, 0), title="Queues", title_justify="left", title_style="bold")
    for column in ("queue", "owner", "waits", "runs", "done", "healed", "given up"):
        table.add_column(column, justify="left" if column in ("queue", "owner") else "right")
    for family in FAMILIES:
        queue, tally = family.queue, now.by_queue.get(family.queue.name, Tally())
        style = STYLES[str(queue.color)]
        table.add_row(Text(queue.name, f"bold {style}"), str(queue.owner), *_figures(tally))
    return table


def types(now: Standing, stage: Stage) -> Table:
    """The fourteen types."""
    table = Table(box=None, padding=(0, 2, 0, 0), title="Job types", title_justify="left", title_style="bold")
    for column in ("type", "cadence", "waits", "runs", "done", "healed", "given up"):
        table.add_column(column, justify="left" if column in ("type", "cadence") else "right")
    for kind, registered in REGISTRY.items():
        style = STYLES[str(registered.family.queue.color)]
        if kind.value in stage.missing or kind.value not in stage.served:
            why = stage.missing.get(kind.value, "not shown: no handler")
            table.add_row(Text(kind.value, "dim"), Text(why, "dim"))
        else:
            tally = now.by_type.get(kind.value, Tally())
            cadence = Text(registered.cadence.partition(" (")[0], no_wrap=True, overflow="ellipsis")
            table.add_row(Text(kind.value, style), cadence, *_figures(tally))
    return table


def _figures(tally: Tally) -> list[Text]:
    waits, runs, done = (tally.jobs[status] for status in ("queued", "running", "succeeded"))
    return [
        Text(str(waits), "" if waits else "dim"),
        Text(str(runs), "cyan" if runs else "dim"),
        Text(str(done), "green" if done else "dim"),
        Text(str(tally.healed), "yellow" if tally.healed else "dim"),
        Text(str(tally.lost), "bold red" if tally.lost else "dim"),
    ]
