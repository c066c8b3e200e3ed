"""Options that say which dead letters are meant."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from postmill.cli.completion import complete_error_group, complete_job_type, complete_queue, complete_tenant
from postmill.cli.lookups import Connection, server_now, tenant_id
from postmill.cli.values import duration
from postmill.domain.letters import LetterFilter

Type = Annotated[
    str | None,
    typer.Option("--type", metavar="TYPE", help="Only of this job type.", autocompletion=complete_job_type),
]
Queue = Annotated[
    str | None,
    typer.Option(
        "--queue",
        metavar="QUEUE",
        help="Only of this queue, or shown under this name.",
        autocompletion=complete_queue,
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant", metavar="TENANT", help="Only of this tenant: slug or id.", autocompletion=complete_tenant
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--error-group",
        metavar="GROUP",
        help="Only of this error group: postmill dead stats.",
        autocompletion=complete_error_group,
    ),
]
Status = Annotated[
    int | None, typer.Option("--error-status", metavar="N", help="Only with this HTTP status.")
]
Message = Annotated[
    str | None, typer.Option("--message", metavar="TEXT", help="Only with this in the error's message.")
]
Older = Annotated[
    str | None, typer.Option("--older-than", metavar="TIME", help="Only given up longer ago than 24h, 7d …")
]
Newer = Annotated[
    str | None, typer.Option("--newer-than", metavar="TIME", help="Only given up within the last 1h, 24h …")
]


def letter_filter(
    conn: Connection,
    schema: str,
    *,
    job_type: str | None = None,
    queue: str | None = None,
    reason: str | None = None,
    tenant: str | None = None,
    error_group: str | None = None,
    error_status: int | None = None,
    message: str | None = None,
    older_than: str | None = None,
    newer_than: str | None = None,
) -> LetterFilter:
    """What was given, as a filter. Raises CliError, NotFound."""
    older, newer = duration(older_than, "--older-than"), duration(newer_than, "--newer-than")
    now = server_now(conn, schema)
    return LetterFilter(
        tenant_id=tenant_id(conn, schema, tenant),
        queue=queue,
        reason=reason,
        job_type=job_type,
        error_group=error_group,
        error_status=error_status,
        message=message,
        given_up_before=None if older is None else now - timedelta(seconds=older),
        given_up_after=None if newer is None else now - timedelta(seconds=newer),
    )
