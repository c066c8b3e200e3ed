"""`postmill audit list | export | verify`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import typer

from postmill.bind import drive
from postmill.bind import run as run_statement
from postmill.cli.ages import relative
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.lookups import Connection, server_now
from postmill.cli.output import jsonable
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.values import moment
from postmill.domain.audit import Anchor, AuditBroken
from postmill.operate import audit
from postmill.store.audit import HistoryEvent, LogFilter, Position, audit_log

PAGE = 1000


def list_(
    run: Run,
    action: Annotated[str | None, typer.Option(help="Only this action, such as keys.revoke.")] = None,
    actor: Annotated[str | None, typer.Option(help="Only what this one did: the actor's id.")] = None,
    target: Annotated[str | None, typer.Option(help="Only what was done to this: its name or id.")] = None,
    kind: Annotated[
        str | None, typer.Option(help="What the target is: queue, trigger, budget …; goes with --target.")
    ] = None,
    result: Annotated[str | None, typer.Option(help="done, denied or refused.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 20,
) -> None:
    """List what people did and what was denied to them, the newest first."""
    if result not in (None, "done", "denied", "refused"):
        raise CliError(f"--result {result!r} is none: done, denied or refused")
    chosen = LogFilter(action=action, actor=actor, target=target, target_kind=kind, result=result)
    with run.connect() as conn:
        found = run_statement(conn, audit_log(most=limit, chosen=chosen, schema=run.schema))
        now = server_now(conn, run.schema)
    run.out.show(
        found,
        lambda: table(
            ("when", "who", "via", "action", "target", "result", "reason"),
            [
                (relative(row.at, now), row.actor_id, row.via, row.action, row.target, row.result, row.reason)
                for row in found
            ],
        ),
    )


def export(
    run: Run,
    since: Annotated[
        str | None, typer.Option(metavar="MOMENT", help="Begin there (default: the beginning).")
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on after this event (its at and id).")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="audit: the log; job: lives of jobs; default: both.")
    ] = None,
    patience: Annotated[
        float, typer.Option(help="Seconds to wait for transactions that are still open.")
    ] = 5.0,
) -> None:
    """Write all that happened to stdout, one JSON object a line: the log and the lives of jobs, in the order of recording.

    It ends where history is settled, so that no event is passed over whose transaction commits late. To go on later:
    --after with recorded_at and id of the last line, as in 2031-05-17T09:30:00.123456+00:00/<id>.
    """
    if kind not in (None, "audit", "job"):
        raise CliError(f"--kind {kind!r} is none: audit or job")
    start = _position(after) or _start(since)
    with run.connect() as conn:
        until = drive(conn, audit.settled(patience=patience, schema=run.schema))
        for event in _events(run, conn, start, until, kind):
            run.out.console.file.write(json.dumps(line(event), default=jsonable, ensure_ascii=False) + "\n")
        run.out.console.file.flush()


def verify(
    run: Run,
    anchors: Annotated[
        list[str] | None,
        typer.Option("--anchor", metavar="N:HASH", help="What an earlier verify printed; may be repeated."),
    ] = None,
) -> None:
    """Check that the audit log is as it was written: no row changed, taken out or put in.

    It prints the end of the chain. Keep it elsewhere and give it as --anchor later: who can rewrite the whole
    database can make the chain agree with itself, but not with that.
    """
    try:
        known = [Anchor.parse(text) for text in anchors or []]
    except ValueError as fault:
        raise CliError(str(fault)) from None
    with run.connect() as conn:
        try:
            end = drive(conn, audit.verify(known, schema=run.schema))
        except AuditBroken as broken:
            raise CliError(
                f"the audit log was tampered with: {broken}",
                "restore it from a backup, and look who could",
                ExitCode.FAILED,
            ) from None
    if run.out.as_json:
        run.out.document({"links": end.n, "anchor": str(end)})
        return
    run.out.say(f"the audit log is as it was written: {end.n} links", style="green")
    run.out.say(str(end))


def line(event: HistoryEvent) -> dict[str, Any]:
    """An event as a line of an export: what it has, under the names of the API."""
    fields = {"id": event.key, "at": event.happened_at, **jsonable(event)}
    return {
        name: value
        for name, value in fields.items()
        if value is not None and name not in ("key", "happened_at")
    }


def _events(
    run: Run, conn: Connection, after: Position | None, until: datetime, kind: str | None
) -> Iterator[HistoryEvent]:
    more = True
    while more:
        page = drive(conn, audit.history(after, until=until, most=PAGE, kind=kind, schema=run.schema))
        yield from page.events
        after, more = page.next, page.more


def _position(text: str | None) -> Position | None:
    if text is None:
        return None
    when, _, key = text.partition("/")
    found = moment(when, "--after")
    if found is None or not key:
        raise CliError(f"--after {text!r} is no place", "write recorded_at/id of the last line")
    return Position(found, key)


def _start(since: str | None) -> Position | None:
    found = moment(since, "--since")
    return None if found is None else Position(found)
