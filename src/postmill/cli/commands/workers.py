"""`postmill workers list`: who works, on what, since when."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.bind import drive
from postmill.cli.ages import relative
from postmill.cli.ids import short_worker
from postmill.cli.lookups import server_now
from postmill.cli.run import Run
from postmill.cli.tables import state, table
from postmill.cli.text import one_line
from postmill.operate import insight
from postmill.store.workers import WorkerView

LATELY = 3600.0
"""Seconds for which a worker that has stopped is still shown."""

COLUMNS = ("worker", "state", "running", "slots", "started", "seen", "build", "version", "job types")


def list_(
    run: Run,
    all_: Annotated[
        bool, typer.Option("--all", metavar="", help="Also those that stopped more than an hour ago.")
    ] = False,
) -> None:
    """List workers, the live ones first."""
    with run.connect() as conn:
        workers = drive(conn, insight.all_workers(seen_within=None if all_ else LATELY, schema=run.schema))
        now = server_now(conn, run.schema)
    if not workers and not run.out.as_json:
        run.out.say("no workers")
        run.out.note("start one: postmill worker MODULE (or postmill up MODULE on your own machine)")
        return

    def row(worker: WorkerView) -> tuple[object, ...]:
        slots = worker.slots_text or ", ".join(worker.queues)
        return (
            short_worker(worker.worker_id) if run.out.short_ids else worker.worker_id,
            state(worker.state),
            str(worker.running),
            slots,
            relative(worker.started_at, now),
            relative(worker.stopped_at or worker.last_seen_at, now),
            worker.build,
            worker.version,
            one_line(", ".join(worker.job_types), 80),
        )

    run.out.show(workers, lambda: table(COLUMNS, map(row, workers), right=("running",)))  # type: ignore[arg-type]
