"""`postmill dead list | show | stats | rules`: jobs given up on."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import relative
from postmill.cli.completion import complete_dead
from postmill.cli.ids import short
from postmill.cli.job_page import as_json
from postmill.cli.letters import Group as ErrorGroup
from postmill.cli.letters import Newer, Older, Queue, Status, Tenant, Type, letter_filter
from postmill.cli.lookups import find_ids, server_now
from postmill.cli.reasons import LONGEST, error_of
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.text import plain
from postmill.operate import insight
from postmill.store.dead import DeadLetter

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
    tenant: Tenant = None,
    error_group: ErrorGroup = None,
    error_status: Status = None,
    older_than: Older = None,
    newer_than: Newer = None,
    limit: Limit = 20,
) -> None:
    """List dead letters, the newest first: each waits for a replay or a discard."""
    with run.connect() as conn:
        chosen = letter_filter(
            conn,
            run.schema,
            job_type=job_type,
            queue=queue,
            reason=reason,
            tenant=tenant,
            error_group=error_group,
            error_status=error_status,
            older_than=older_than,
            newer_than=newer_than,
        )
        letters = drive(
            conn,
            insight.dead_letters(
                tenant=chosen.tenant_id,
                queue=queue,
                reason=reason,
                job_type=job_type,
                error_group=error_group,
                error_status=error_status,
                since=chosen.given_up_after,
                until=chosen.given_up_before,
                most=limit,
                schema=run.schema,
            ),
        )
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document(letters)
        return
    if not letters:
        filtered = bool(chosen.json)
        run.out.say("no such dead letters" if filtered else "no dead letters", style="green")
        return
    rows = [
        (
            short(letter.id) if run.out.short_ids else str(letter.id),
            letter.job_type or "(body gone)",
            letter.shown_as,
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
            ("shown as", None if letter.shown_as == letter.queue else letter.shown_as),
            ("reason", letter.reason),
            ("given up", f"{age}, after {letter.attempts} attempt{'' if letter.attempts == 1 else 's'}"),
            ("error", error_of(letter.reason, letter.error_class, letter.error_message) or None),
            ("error group", letter.error_group),
            ("code", letter.error_code),
            ("HTTP status", str(letter.error_status) if letter.error_status else None),
            ("tenant", str(letter.tenant_id)),
            ("definition", _versions(letter)),
            ("payload", as_json(letter.payload)),
        ]
    )
    parts: list[RenderableType] = [Text(str(letter.id), style="bold"), facts]
    if letter.stack:
        parts += [Text("\nstack", style="dim"), Text(plain(letter.stack)[-LONGEST:])]
    return Group(*parts)


def _versions(letter: DeadLetter) -> str | None:
    """Worth a line where the definition is another one by now: a replay runs on the new one."""
    if letter.version is None or letter.version_then is None or letter.version == letter.version_then:
        return None
    return f"version {letter.version} now, {letter.version_then} when it was enqueued"
