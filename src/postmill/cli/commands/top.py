"""`postmill top`: what goes on, live."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import psycopg
import typer
from rich.console import RenderableType
from rich.live import Live
from rich.text import Text

from postmill.bind import drive
from postmill.cli.database import open_connection
from postmill.cli.keyboard import keyboard
from postmill.cli.options import one_of
from postmill.cli.run import Run
from postmill.cli.text import one_line, plain
from postmill.cli.top_page import top_page
from postmill.cli.values import duration
from postmill.domain.errors import DatabaseMissing
from postmill.operate.top import Sort, Top, in_order, top

KEYS = "q quit   p pause   s next order   space look now"


def top_(
    run: Run,
    once: Annotated[bool, typer.Option("--once", metavar="", help="Look once, print it, and end.")] = False,
    every: Annotated[str, typer.Option("--every", metavar="TIME", help="Time between two looks.")] = "2s",
    sort: Annotated[Sort, typer.Option("--sort", help=f"Order of the queues: {one_of(Sort)}.")] = Sort.QUEUE,
    limit: Annotated[
        int,
        typer.Option("--limit", "-n", min=1, max=1000, help="Running jobs, failures and incidents shown."),
    ] = 10,
) -> None:
    """Watch queues, workers, running jobs, recent failures and incidents, until q is pressed.

    Rates and p95 (from due to finished) are of the last five minutes. Counts end at 10,000. With --json, and where
    stdout is no terminal, it looks once.
    """
    pause = duration(every, "--every") or 2.0
    if once or run.out.as_json or not run.out.console.is_terminal:
        with run.connect() as conn:
            seen = drive(conn, top(most=limit, sort=sort, schema=run.schema))
        run.out.show(seen, lambda: top_page(seen, sort))
        return
    Watch(run, pause, sort, limit).go_on()


class Watch:
    """The live page. `pause`: seconds between two looks."""

    def __init__(self, run: Run, pause: float, sort: Sort, limit: int) -> None:
        self._run = run
        self._pause = pause
        self._sort = sort
        self._limit = limit
        self._paused = False
        self._trouble = ""
        self._conn: psycopg.Connection[Any] | None = None

    def go_on(self) -> None:
        """Until q or Ctrl-C. Raises what the first look raises; a database that goes away later is waited for."""
        with self._run.connect() as conn:
            self._seen = self._looked(conn)
        try:
            with (
                Live(console=self._run.out.console, screen=True, auto_refresh=False) as live,
                keyboard() as key,
            ):
                self._show(live, key)
        except KeyboardInterrupt:
            pass
        finally:
            self._close()

    def _show(self, live: Live, key: Callable[[float], str]) -> None:
        while True:
            live.update(self._page(), refresh=True)
            pressed = key(self._pause)
            if pressed == "q":
                return
            if pressed == "p":
                self._paused = not self._paused
            elif pressed == "s":
                orders = list(Sort)
                self._sort = orders[(orders.index(self._sort) + 1) % len(orders)]
            elif pressed == " " or (pressed == "" and not self._paused):
                self._look()

    def _page(self) -> RenderableType:
        height = self._run.out.console.height
        ordered = replace(self._seen, queues=in_order(self._seen.queues, self._sort))
        note = Text(KEYS + ("   (paused)" if self._paused else ""), style="dim")
        if self._trouble:
            note = Text(f"as of then; now: {plain(self._trouble)}", style="bold red")
        return top_page(ordered, self._sort, height, note)

    def _look(self) -> None:
        try:
            if self._conn is None:
                self._conn = open_connection(self._run.dsn)
            self._seen = self._looked(self._conn)
            self._trouble = ""
        except (psycopg.OperationalError, DatabaseMissing) as fault:
            self._trouble = one_line(fault, 200)
            self._close()

    def _looked(self, conn: psycopg.Connection[Any]) -> Top:
        return drive(conn, top(most=self._limit, schema=self._run.schema))

    def _close(self) -> None:
        if self._conn is not None:
            self._conn.close()
            self._conn = None
