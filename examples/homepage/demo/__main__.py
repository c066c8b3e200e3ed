"""Starts everything, watches it live, and tells what came out.

Ends with 0 only if each job has ended, waits or runs, and all sums agree; with 1 if not, 2 if it could not go on, 130 where
Ctrl-C comes before everything has begun.
"""

from __future__ import annotations

import io
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psycopg
from rich.console import Console
from rich.text import Text

from examples.homepage.demo.life import Life
from examples.homepage.demo.look import standing
from examples.homepage.demo.options import UNWATCHED, Options, parse
from examples.homepage.demo.show import Display
from examples.homepage.demo.stage import Stage, stage
from examples.homepage.demo.summary import print_summary
from examples.staging.children import ChildFailed
from examples.staging.control import ApiRefused
from examples.staging.steps import Steps
from postmill import PostmillError

LOOKS_PER_SECOND = {True: 2, False: 1}
"""On a terminal, and elsewhere."""
FAULTS = (PostmillError, ChildFailed, ApiRefused, psycopg.Error, httpx.HTTPError, OSError)


def main() -> int:
    """The whole demo; returns the exit code."""
    options = parse()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        return _play(options, console)
    except KeyboardInterrupt:
        Console().print(f"\nStopped. What there is is in {options.data}; the next run goes on from there.")
        return 130
    except FAULTS as error:
        console.print(f"[bold red]The demo cannot go on:[/] {error}", highlight=False)
        return 2


def _play(options: Options, console: Console) -> int:
    console.print("[bold]Postmill: the homepage demo[/]  two portals, fourteen kinds of jobs, one Postgres\n")
    with stage(options, Steps(console)) as running:
        console.print(
            Text.assemble(("\nconsole, log in once: ", "bold"), (running.console, "cyan"), "\n"),
            soft_wrap=True,
        )
        seconds = options.seconds
        if seconds is None and not console.is_terminal:
            seconds = UNWATCHED
        _watch(seconds, console, running)
        console.print("the workers finish what they run …")
        running.workers.stop()
        return 0 if print_summary(console, running, options.data.absolute()) else 1


def _watch(until: float | None, console: Console, running: Stage) -> None:
    """For so many seconds, or until Ctrl-C."""
    life, begun = Life(running), time.monotonic()
    with stopped_by(signal.SIGINT) as stopped, Display(console, running) as display:
        while until is None or time.monotonic() - begun < until:
            running.check()
            now, seconds = standing(running.conn, running.since), time.monotonic() - begun
            life.step(seconds, now)
            display.show(seconds, now, life.notes)
            time.sleep(1 / LOOKS_PER_SECOND[console.is_terminal])
            if stopped:
                console.print()
                return


@contextmanager
def stopped_by(number: signal.Signals) -> Iterator[list[int]]:
    """Has the signal in it once it comes, which meanwhile interrupts nothing: in the middle of a line, Rich would say no more.

    No `Event`: who sets one while the same thread is about to wait for it waits for ever.
    """
    came: list[int] = []
    before = signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield came
    finally:
        signal.signal(number, before)


if __name__ == "__main__":
    sys.exit(main())
