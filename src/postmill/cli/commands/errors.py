"""`postmill errors list | show`: causes of failures."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import relative
from postmill.cli.completion import complete_error, complete_job_type, complete_tenant
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.lookups import server_now, tenant_id
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.text import one_line
from postmill.cli.values import duration
from postmill.operate import stats
from postmill.operate.stats import WholeErrorGroup

COLUMNS = ("id", "type", "count", "tenants", "first", "last", "error", "from")


def list_(
    run: Run,
    job_type: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="TYPE", help="Only of this job type.", autocompletion=complete_job_type
        ),
    ] = None,
    error_class: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="Only of this class of error.")
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            metavar="TENANT", help="Only of this tenant: slug or id.", autocompletion=complete_tenant
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only those seen within 30m, 24h, 7d …")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 20,
) -> None:
    """List causes of failures, those seen last first: since when, how often, how many tenants."""
    seconds = duration(since, "--since")
    with run.connect() as conn:
        now = server_now(conn, run.schema)
        groups = drive(
            conn,
            stats.error_groups(
                tenant=tenant_id(conn, run.schema, tenant),
                job_type=job_type,
                error_class=error_class,
                since=None if seconds is None else now - timedelta(seconds=seconds),
                most=limit,
                schema=run.schema,
            ),
        )
    if run.out.as_json:
        run.out.document(groups)
        return
    if not groups:
        filtered = any(value is not None for value in (job_type, error_class, tenant, since))
        run.out.say("no such errors" if filtered else "no errors", style="green")
        return
    rows = [
        (
            group.id,
            group.job_type,
            group.count,
            group.tenants,
            relative(group.first_seen_at, now),
            relative(group.last_seen_at, now),
            one_line(f"{group.error_class}: {group.message}" if group.message else group.error_class, 160),
            group.frame,
        )
        for group in groups
    ]
    run.out.console.print(table(COLUMNS, rows, right=("count", "tenants"), spare=("from",)))
    run.out.note("more of one: postmill errors show ID")


def show(
    run: Run,
    id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Its 16 hexadecimal digits.", autocompletion=complete_error),
    ],
) -> None:
    """Show one cause of failures: what it says, where it comes from, whom it affects, and a job to look at."""
    if len(id) != 16 or set(id.lower()) - set("0123456789abcdef"):
        raise CliError(
            f"{id!r} is no id of an error group",
            "16 hexadecimal digits: postmill errors list",
            ExitCode.NOT_FOUND,
        )
    with run.connect() as conn:
        found = drive(conn, stats.error_group(id.lower(), schema=run.schema))
        now = server_now(conn, run.schema)

    def page() -> RenderableType:
        return _page(found, relative(found.group.first_seen_at, now), relative(found.group.last_seen_at, now))

    run.out.show(found, page)


def _page(found: WholeErrorGroup, first: str, last: str) -> RenderableType:
    group = found.group
    facts = pairs(
        [
            ("type", group.job_type),
            ("error", group.error_class),
            ("message", group.message or None),
            ("from", group.frame or None),
            ("code", group.error_code),
            ("HTTP status", str(group.error_status) if group.error_status else None),
            ("seen", f"{group.count} times, first {first}, last {last}"),
            ("a job", None if group.sample_job is None else str(group.sample_job)),
        ]
    )
    lines = [(one.slug or str(one.tenant_id), one.count, str(one.sample_job or "")) for one in found.tenants]
    return Group(
        Text(group.id, style="bold"),
        facts,
        Text(""),
        table(("tenant", "count", "a job"), lines, right=("count",)),
    )
