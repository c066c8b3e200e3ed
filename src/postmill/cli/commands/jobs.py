"""`postmill jobs list | show | why`: which jobs there are, where one stands, and why it is not further."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.bind import drive
from postmill.cli.absent import absent
from postmill.cli.completion import complete_job, complete_job_type, complete_queue, complete_tenant
from postmill.cli.job_page import job_page, job_table
from postmill.cli.lookups import find_ids, server_now, tenant_id
from postmill.cli.options import one_of
from postmill.cli.run import Run
from postmill.cli.why_page import why_page
from postmill.domain.errors import NotFound
from postmill.domain.lifecycle import ENTRY, State
from postmill.operate import insight, payloads
from postmill.operate.why import why as explained

Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="Job id, whole or its beginning; what jobs list shows is enough.",
        autocompletion=complete_job,
    ),
]


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
    """List jobs, newest first.

    On a terminal ids are cut to their first 18 characters: copy them as they are. Any beginning that no other id has will
    do; the first 8 are shared by all jobs of a minute.
    """
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


def show(run: Run, id: Id) -> None:
    """Show one job: where it stands, its arguments and result, and its attempts on a line of time."""
    with run.connect() as conn:
        [whole] = find_ids(conn, run.schema, [id])
        try:
            job = drive(conn, insight.job(whole, schema=run.schema))
        except NotFound:
            absent(conn, run.schema, whole)
        job = drive(conn, payloads.shown(job, run.settings.encryption.ring, schema=run.schema))
        attempts = drive(conn, insight.attempts(whole, schema=run.schema))
        raised = drive(conn, insight.raised(whole, schema=run.schema))
        home = drive(conn, insight.home(job.job_type, schema=run.schema))
        reasons = drive(conn, explained(whole, schema=run.schema)).reasons if job.status in ENTRY else ()
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document({"job": job, "attempts": attempts, "why": reasons, "raised": raised})
        return
    waits = reasons[0].text if reasons else None
    run.out.console.print(job_page(job, attempts, now, home, waits, raised))


def why(run: Run, id: Id) -> None:
    """Tell why a job does not run: what holds it back, the first reason first. Of an ended one: what became of it."""
    with run.connect() as conn:
        [whole] = find_ids(conn, run.schema, [id])
        try:
            found = drive(conn, explained(whole, schema=run.schema))
        except NotFound:
            absent(conn, run.schema, whole)
    run.out.show(found, lambda: why_page(found))
