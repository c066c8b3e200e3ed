"""`postmill stats`: what happened lately."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

import typer
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import length
from postmill.cli.completion import complete_job_type, complete_queue, complete_tenant
from postmill.cli.errors import CliError
from postmill.cli.lookups import server_now, tenant_id
from postmill.cli.run import Run
from postmill.cli.sparkline import sparkline
from postmill.cli.tables import Cell, table
from postmill.cli.values import duration
from postmill.operate.stats import stats as read
from postmill.store.stats import By, Spread, Stat

POINTS = 24
"""Characters of a sparkline, and buckets of the document."""

COLUMNS = (
    "name", "made", "succeeded", "failed", "dead", "retried", "a minute", "failing", "wait p95", "run p95", "total p50",
    "total p95", "ended",
)  # fmt: skip
NUMBERS = COLUMNS[1:-1]
_BY: dict[str, By] = {"queue": "queue", "type": "job_type", "tenant": "tenant"}


def stats(
    run: Run,
    since: Annotated[str, typer.Option("--since", metavar="TIME", help="So far back: 30m, 24h, 7d …")] = "1h",
    by: Annotated[
        Literal["queue", "type", "tenant"], typer.Option("--by", help="One line for each of these.")
    ] = "queue",
    queue: Annotated[
        str | None,
        typer.Option("--queue", metavar="QUEUE", help="Only of this queue.", autocompletion=complete_queue),
    ] = None,
    job_type: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="TYPE", help="Only of this job type.", autocompletion=complete_job_type
        ),
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            metavar="TENANT", help="Only of this tenant: slug or id.", autocompletion=complete_tenant
        ),
    ] = None,
) -> None:
    """Show what happened lately: how many jobs were made and ended, how long they waited and ran."""
    seconds = duration(since, "--since") or 0.0
    if seconds < 60:
        raise CliError(
            f"--since {since!r} is too short", "statistics are kept by the minute: --since 1m or more"
        )
    step = max(60.0, 60.0 * round(seconds / POINTS / 60))
    with run.connect() as conn:
        now = server_now(conn, run.schema)
        start = now - timedelta(seconds=seconds)
        whose = tenant_id(conn, run.schema, tenant)
        whole, parts = (
            drive(
                conn,
                read(
                    since=start,
                    until=now,
                    bucket=bucket,
                    by=_BY[by],
                    tenant=whose,
                    queue=queue,
                    job_type=job_type,
                    schema=run.schema,
                ),
            )
            for bucket in (None, step)
        )
    if run.out.as_json:
        document = {"since": start, "until": now, "bucket_seconds": step}
        run.out.document({**document, "lines": whole, "buckets": parts})
        return
    if not whole:
        run.out.say(f"nothing happened within {length(seconds)}")
        return
    buckets = int(seconds // step) + 1
    first = min(stat.bucket for stat in parts)
    rows = [
        _row(stat, seconds, sparkline(_points(stat.name, parts, first, step, buckets)))
        for stat in sorted(whole, key=lambda stat: (-stat.ended, stat.name))
    ]
    run.out.console.print(table((by, *COLUMNS[1:]), rows, right=NUMBERS))


def _points(name: str, parts: list[Stat], first: object, step: float, buckets: int) -> list[int]:
    """Ended jobs of each bucket."""
    points = [0] * buckets
    for stat in parts:
        at = int((stat.bucket - first).total_seconds() // step)  # type: ignore[operator]
        if stat.name == name and 0 <= at < buckets:
            points[at] += stat.ended
    return points


def _row(stat: Stat, seconds: float, line: str) -> tuple[Cell, ...]:
    failing = stat.failure_rate
    return (
        stat.name,
        stat.n("enqueued"),
        stat.n("succeeded"),
        stat.n("failed"),
        stat.n("dead_letter"),
        stat.n("retried", "lost"),
        f"{stat.ended / seconds * 60:.1f}",
        None if failing is None else Text(f"{failing:.1%}", style="red" if failing > 0.05 else ""),
        _p95(stat.wait),
        _p95(stat.run),
        None if stat.total is None else length(stat.total.p50),
        _p95(stat.total),
        line,
    )


def _p95(spread: Spread | None) -> str | None:
    return None if spread is None else length(spread.p95)
