"""`postmill jobs list | show`: which jobs there are, and where one stands."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.bind import drive
from postmill.cli.completion import complete_job, complete_job_type, complete_queue, complete_tenant
from postmill.cli.job_page import job_page, job_table
from postmill.cli.lookups import find_ids, server_now, tenant_id
from postmill.cli.options import one_of
from postmill.cli.run import Run
from postmill.domain.lifecycle import State
from postmill.operate import insight, payloads


def list_(
    run: Run,
    status: Annotated[
        State | None, typer.Option("--status", help=f"Only jobs in this state: {one_of(State)}.")
    ] = None,
    job_type: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="TYPE", help="Only of this job type.", autocompletion=complete_job_type
        ),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option("--queue", metavar="QUEUE", help="Only of this queue.", autocompletion=complete_queue),
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            metavar="TENANT", help="Only of this tenant: slug or id.", autocompletion=complete_tenant
        ),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Only jobs made before this one (next page).", autocompletion=complete_job
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 20,
) -> None:
    """List jobs, newest first."""
    with run.connect() as conn:
        last = find_ids(conn, run.schema, [before])[0] if before else None
        page = drive(
            conn,
            insight.jobs(
                state=status,
                job_type=job_type,
                queue=queue,
                tenant=tenant_id(conn, run.schema, tenant),
                before=last,
                most=limit,
                schema=run.schema,
            ),
        )
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document({"jobs": page.jobs, "before": page.before})
        return
    if not page.jobs:
        filtered = any(value is not None for value in (status, job_type, queue, tenant, before))
        run.out.say("no such jobs" if filtered else "no jobs yet")
        run.out.note(
            "make one: postmill enqueue TYPE name=value" if not filtered else "postmill jobs list shows all"
        )
        return
    run.out.console.print(job_table(page.jobs, now, short_ids=run.out.short_ids))
    if page.before is not None:
        run.out.note(f"more: postmill jobs list --before {page.before}")


def show(
    run: Run,
    id: Annotated[
        str, typer.Argument(metavar="ID", help="Job id, whole or its beginning.", autocompletion=complete_job)
    ],
) -> None:
    """Show one job: where it stands, its arguments and result, and its attempts on a line of time."""
    with run.connect() as conn:
        [whole] = find_ids(conn, run.schema, [id])
        job = drive(conn, insight.job(whole, schema=run.schema))
        job = drive(conn, payloads.shown(job, run.settings.encryption.ring, schema=run.schema))
        attempts = drive(conn, insight.attempts(whole, schema=run.schema))
        home = drive(conn, insight.home(job.job_type, schema=run.schema))
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document({"job": job, "attempts": attempts})
        return
    run.out.console.print(job_page(job, attempts, now, home))
