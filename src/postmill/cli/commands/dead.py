"""`postmill dead list | show`: jobs given up on."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import relative
from postmill.cli.completion import complete_dead, complete_job_type, complete_queue, complete_tenant
from postmill.cli.ids import short
from postmill.cli.job_page import as_json
from postmill.cli.lookups import find_ids, server_now, tenant_id
from postmill.cli.reasons import LONGEST, error_of
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.text import plain
from postmill.operate import insight
from postmill.store.dead import DeadLetter

Type = Annotated[
    str | None,
    typer.Option("--type", metavar="TYPE", help="Only of this job type.", autocompletion=complete_job_type),
]
Queue = Annotated[
    str | None,
    typer.Option("--queue", metavar="QUEUE", help="Only of this queue.", autocompletion=complete_queue),
]
Reason = Annotated[
    str | None, typer.Option("--reason", metavar="REASON", help="Only those given up for this reason.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")]

COLUMNS = ("id", "type", "queue", "reason", "attempts", "given up", "error")


def list_(
    run: Run,
    job_type: Type = None,
    queue: Queue = None,
    reason: Reason = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            metavar="TENANT", help="Only of this tenant: slug or id.", autocompletion=complete_tenant
        ),
    ] = None,
    limit: Limit = 20,
) -> None:
    """List dead letters, the newest first: each waits for a replay or a discard."""
    with run.connect() as conn:
        letters = drive(
            conn,
            insight.dead_letters(
                tenant=tenant_id(conn, run.schema, tenant),
                queue=queue,
                reason=reason,
                job_type=job_type,
                most=limit,
                schema=run.schema,
            ),
        )
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document(letters)
        return
    if not letters:
        filtered = any(value is not None for value in (job_type, queue, reason, tenant))
        run.out.say("no such dead letters" if filtered else "no dead letters", style="green")
        return
    rows = [
        (
            short(letter.id) if run.out.short_ids else str(letter.id),
            letter.job_type or "(body gone)",
            letter.queue,
            letter.reason,
            letter.attempts,
            relative(letter.failed_at, now),
            error_of(letter.reason, letter.error_class, letter.error_message, longest=160),
        )
        for letter in letters
    ]
    run.out.console.print(table(COLUMNS, rows, right=("attempts",)))
    run.out.note("run again: postmill dead replay ID · close: postmill dead discard ID --reason TEXT")


def show(
    run: Run,
    id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Job id, whole or its beginning.", autocompletion=complete_dead),
    ],
) -> None:
    """Show one dead letter: what it was to do, why it was given up, and where it failed."""
    with run.connect() as conn:
        [whole] = find_ids(conn, run.schema, [id])
        letter = drive(conn, insight.dead_letter(whole, schema=run.schema))
        now = server_now(conn, run.schema)
    run.out.show(letter, lambda: _page(letter, relative(letter.failed_at, now)))


def _page(letter: DeadLetter, age: str) -> RenderableType:
    facts = pairs(
        [
            ("type", letter.job_type),
            ("queue", letter.queue),
            ("reason", letter.reason),
            ("given up", f"{age}, after {letter.attempts} attempt{'' if letter.attempts == 1 else 's'}"),
            ("error", error_of(letter.reason, letter.error_class, letter.error_message) or None),
            ("code", letter.error_code),
            ("HTTP status", str(letter.error_status) if letter.error_status else None),
            ("tenant", str(letter.tenant_id)),
            ("payload", as_json(letter.payload)),
        ]
    )
    parts: list[RenderableType] = [Text(str(letter.id), style="bold"), facts]
    if letter.stack:
        parts += [Text("\nstack", style="dim"), Text(plain(letter.stack)[-LONGEST:])]
    return Group(*parts)
