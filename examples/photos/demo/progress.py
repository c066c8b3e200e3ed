"""Where each tenant stands, by the API and the application's tables, and how that is shown while the demo runs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from examples.photos.demo.stage import Stage
from examples.photos.demo.tenants import Tenant
from examples.photos.statements import run

PLAIN_EVERY = 2.0
WAITING = ("queued", "scheduled", "running", "blocked")


@dataclass(frozen=True, slots=True)
class Standing:
    """One tenant at one moment. Jobs are counted by what the API's summary says."""

    slug: str
    pictures: int
    described: int
    recognized: int
    models: int
    ingests: int
    jobs: dict[str, int]

    @property
    def open(self) -> int:
        """Jobs that are not over."""
        return sum(self.jobs[state] for state in WAITING)

    @property
    def lost(self) -> int:
        """Jobs that ended without success."""
        return self.jobs["failed"] + self.jobs["dead_letter"]

    def __str__(self) -> str:
        return (
            f"{self.slug}: {self.pictures} pictures, {self.described} described, {self.models} models,"
            f" {self.recognized} recognized; jobs {self.jobs['succeeded']} done, {self.open} open"
        )


def standing(stage: Stage, tenant: Tenant) -> Standing:
    """Now."""
    jobs = tenant.admin.get("/jobs/summary")["counts_by_status"]
    [found] = run(stage.conn, "progress", tenant_id=tenant.id).fetchall()
    pictures, described, recognized, models, ingests = found
    return Standing(tenant.slug, pictures, described, recognized, models, ingests, jobs)


class Display:
    """A live picture on a terminal, a line now and then elsewhere."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._begun = time.monotonic()
        self._due = 0.0
        self._last = ""
        live = console.is_terminal and not console.is_dumb_terminal
        self._live = Live(console=console, refresh_per_second=8, transient=True) if live else None

    def act(self, what: str) -> None:
        """A new part of the story begins."""
        self._console.print(Text.assemble(("▸ ", "cyan"), (what, "bold")), soft_wrap=True)
        self._due = 0.0

    def note(self, what: str) -> None:
        """Something to remember."""
        self._console.print(f"    {what}", highlight=False, soft_wrap=True)

    def show(self, standings: list[Standing]) -> None:
        """Where all stand."""
        if self._live is not None:
            self._live.update(Group(*(self._bars(one) for one in standings)))
        elif time.monotonic() >= self._due:
            self._due = time.monotonic() + PLAIN_EVERY
            line = "; ".join(map(str, standings))
            if line != self._last:
                self._console.print(
                    f"{time.monotonic() - self._begun:6.1f} s  {line}", highlight=False, soft_wrap=True
                )
                self._last = line

    def _bars(self, one: Standing) -> Table:
        table = Table.grid(padding=(0, 1))
        for label, count, style in (
            (f"{one.slug} synced", one.pictures, "cyan"),
            ("described", one.described, "magenta"),
            ("recognized", one.recognized, "green"),
        ):
            bar = ProgressBar(
                total=self._total, completed=count, width=40, complete_style=style, finished_style=style
            )
            table.add_row(Text(f"{label:>18}", "bold"), bar, f"{count}/{self._total}")
        table.add_row(
            "", Text(f"jobs: {one.jobs['running']} run, {one.open} open, {one.jobs['succeeded']} done"), ""
        )
        return table

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
