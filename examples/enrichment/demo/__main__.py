"""Starts everything, captures texts of this machine, watches them being enriched, and tells what came out.

Ends with 0 only if every item is READY_TO_CONFIRM or DISCARDED; with 1 if not, 2 if it could not start,
130 after Ctrl-C.
"""

from __future__ import annotations

import asyncio
import io
import signal
import sys
import time
from uuid import uuid4

import psycopg
from rich.console import Console

from examples.enrichment.demo.capture import capture
from examples.enrichment.demo.display import Picture, display_for
from examples.enrichment.demo.measure import Measures
from examples.enrichment.demo.options import Options, parse
from examples.enrichment.demo.stage import SHORT_LEASE, Stage, stage
from examples.enrichment.demo.summary import print_summary
from examples.enrichment.texts.found import FoundText
from examples.enrichment.texts.gather import gather
from examples.staging.children import ChildFailed
from examples.staging.steps import Steps
from postmill import PostmillError

LOOKS_PER_SECOND = 4


def main() -> int:
    """The whole demo; returns the exit code."""
    options = parse()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # texts of 25 languages, on terminals of any
    console = Console()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        return _play(options, console)
    except KeyboardInterrupt:
        console.print(f"\nStopped. What was captured is in {options.data}; the next run goes on from there.")
        return 130
    except (PostmillError, ChildFailed, psycopg.Error, OSError) as error:
        console.print(f"[bold red]The demo cannot go on:[/] {error}", highlight=False)
        return 2


def _play(options: Options, console: Console) -> int:
    steps = Steps(console)
    console.print("[bold]Postmill: the enrichment demo[/]  real texts, one Postgres, a moody service\n")
    with steps.step("texts on this machine") as done:
        texts = gather(options.items)
        kinds = sorted({text.kind for text in texts})
        done(f"{len(texts)} found ({', '.join(kinds)})")
    with stage(options, steps) as running:
        console.print()
        return asyncio.run(_watch(options, console, running, texts))


async def _watch(options: Options, console: Console, running: Stage, texts: list[FoundText]) -> int:
    capture_id = uuid4()
    async with (
        await psycopg.AsyncConnection.connect(running.dsn, autocommit=True) as conn,
        await psycopg.AsyncConnection.connect(running.dsn, autocommit=True) as looking,
    ):
        measures = Measures(looking, capture_id)
        try:
            async with asyncio.TaskGroup() as group:
                # A few slots stay free for jobs that come back: with none, new ones would wait for a place.
                most_open = max(1, options.workers * options.slots * 3 // 4)
                group.create_task(capture(conn, capture_id, texts, rate=options.rate, most_open=most_open))
                watching = group.create_task(_until_settled(options, console, running, measures, len(texts)))
        except ExceptionGroup as several:
            raise several.exceptions[0] from several
        picture = watching.result()
        await print_summary(console, measures, picture, options.data)
    now = picture.progress
    return 0 if now.settled and now.enriched + now.discarded == now.captured else 1


async def _until_settled(
    options: Options, console: Console, running: Stage, measures: Measures, total: int
) -> Picture:
    begun = time.monotonic()
    notes: list[str] = []
    pick_up, latest, figures_due = await measures.pick_up(), await measures.latest(), 0.0
    with display_for(console) as display:
        while True:
            running.check()
            progress = await measures.progress()
            seconds = time.monotonic() - begun
            settled = progress.captured == total and progress.settled
            if settled or seconds >= figures_due:
                pick_up, latest = await measures.pick_up(), await measures.latest()
                figures_due = seconds + 1.0
            picture = Picture(total, seconds, progress, pick_up, latest, notes)
            display.show(picture)
            if settled or seconds > options.patience:
                return picture
            if options.kill_worker and not notes and progress.ended > total / 3 and progress.running:
                victim = running.workers[-1]
                victim.kill()
                notes.append(
                    f"⚡ {victim.name} (process {victim.pid}) was killed in mid-work by SIGKILL;"
                    f" its lease ends within {SHORT_LEASE}"
                )
            await asyncio.sleep(1 / LOOKS_PER_SECOND)


if __name__ == "__main__":
    sys.exit(main())
