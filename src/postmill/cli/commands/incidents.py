"""`postmill incidents list | show | ack | resolve`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Group
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import relative
from postmill.cli.completion import complete_incident, complete_queue
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.ids import id_range, short
from postmill.cli.job_page import as_json
from postmill.cli.lookups import Connection, server_now
from postmill.cli.options import one_of
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.text import one_line, plain
from postmill.cli.who import who
from postmill.domain.errors import NotFound
from postmill.domain.escalation import KINDS, STATUSES
from postmill.operate import incidents
from postmill.store.incidents import IncidentView

Id = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The incident's id, whole or its beginning.", autocompletion=complete_incident
    ),
]
Reason = Annotated[str | None, typer.Option(help="What is to be said of it; kept with it.")]

COLUMNS = ("id", "severity", "status", "kind", "since", "times", "jobs", "tenants", "what")
MOST_SEARCHED = 1000
SEVERITY = {"info": "cyan", "warning": "yellow", "critical": "bold red"}
STATUS = {"open": "bold red", "acknowledged": "yellow", "resolved": "green"}


def list_(
    run: Run,
    status: Annotated[
        str, typer.Option(metavar="STATUS", help=f"Only these: {one_of(STATUSES)}, all.")
    ] = "live",
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help=f"Only of this kind: {one_of(KINDS)}.")
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(metavar="QUEUE", help="Only of this queue.", autocompletion=complete_queue),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 50,
) -> None:
    """List what is wrong now, the newest first: since when, how often, who is affected."""
    if status not in (*STATUSES, "all"):
        raise CliError(f"no status {status!r}", f"one of: {one_of(STATUSES)}, all")
    if kind is not None and kind not in KINDS:
        raise CliError(f"no kind of incident {kind!r}", f"one of: {one_of(KINDS)}")
    with run.connect() as conn:
        flow = incidents.incidents(
            status=None if status == "all" else status, kind=kind, queue=queue, most=limit, schema=run.schema
        )
        found = drive(conn, flow)
        now = server_now(conn, run.schema)
    if not found and not run.out.as_json:
        run.out.say("nothing is wrong" if status == "live" else "no such incidents", style="green")
        return
    rows = [
        (
            short(one.id) if run.out.short_ids else str(one.id),
            Text(one.severity, style=SEVERITY[one.severity]),
            Text(one.status, style=STATUS[one.status]),
            one.kind,
            _since(one, now),
            one.count,
            one.jobs,
            one.tenants,
            one_line(one.title, 200),
        )
        for one in found
    ]
    run.out.show(found, lambda: table(COLUMNS, rows, right=("times", "jobs", "tenants")))


def show(run: Run, id: Id) -> None:
    """Show one incident: what it is, whom it was told, and its jobs."""
    with run.connect() as conn:
        found = _find(conn, run.schema, id)
        told = drive(conn, incidents.told(found.id, schema=run.schema))
        jobs = drive(conn, incidents.jobs(found.id, schema=run.schema))
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document({**_plain(found), "notifications": told, "job_ids": jobs})
        return
    facts = {
        "incident": str(found.id),
        "kind": found.kind,
        "key": found.key,
        "severity": found.severity,
        "status": found.status,
        "what": found.title,
        "since": _since(found, now),
        "came back": f"{found.reopened} time{'s' if found.reopened > 1 else ''}" if found.reopened else None,
        "last raised": relative(found.last_at, now),
        "how often": f"{found.count} times, {found.jobs} jobs, {found.tenants} tenants",
        "queue": found.queue,
        "job type": found.job_type,
        "acknowledged": found.acknowledged_at
        and f"{relative(found.acknowledged_at, now)} by {found.acknowledged_by}",
        "resolved": found.resolved_at and f"{relative(found.resolved_at, now)} by {found.resolved_by}",
        "note": found.note,
        "facts": as_json(found.facts) if found.facts else None,
        "jobs": "\n".join(map(str, jobs[:10])) + ("\n…" if len(jobs) > 10 else "") if jobs else None,
    }
    shown = pairs([(name, None if value is None else plain(value)) for name, value in facts.items()])
    rows = [
        (
            one.event,
            one.channel,
            one.status,
            relative(one.sent_at or one.due_at, now),
            one.tries,
            one_line(one.error or (f"instead of {one.instead_of}" if one.instead_of else ""), 200),
        )
        for one in told
    ]
    columns = ("told", "channel", "state", "when", "tries", "")
    parts = [shown, table(columns, rows, right=("tries",))] if rows else [shown]
    run.out.console.print(Group(*parts))


def ack(run: Run, id: Id, reason: Reason = None) -> None:
    """Say that you take care of an incident: nobody else is called, and who was told is told so."""
    with run.connect() as conn:
        found = _find(conn, run.schema, id)
        flow = incidents.acknowledge(found.id, reason=reason, actor=who(), schema=run.schema)
        done = run.act(conn, flow)
    _tell(run, done, f"acknowledged by {done.acknowledged_by}: {one_line(done.title)}")


def resolve(run: Run, id: Id, reason: Reason = None) -> None:
    """End an incident by hand. What goes on being wrong is raised again."""
    with run.connect() as conn:
        found = _find(conn, run.schema, id)
        flow = incidents.resolve(found.id, reason=reason, actor=who(), schema=run.schema)
        done = run.act(conn, flow)
    _tell(run, done, f"over: {one_line(done.title)}")


def _tell(run: Run, incident: IncidentView, words: str) -> None:
    run.out.show(incident, lambda: Text(words, style="green"))


def _since(incident: IncidentView, now: datetime) -> str:
    return ("again " if incident.reopened else "") + relative(incident.opened_at, now)


def _plain(incident: IncidentView) -> dict[str, object]:
    return {name: getattr(incident, name) for name in incident.__slots__}


def _find(conn: Connection, schema: str, text: str) -> IncidentView:
    """The incident whose id begins like this."""
    low, high = id_range(text, "incident")
    if low == high:
        return drive(conn, incidents.incident(low, schema=schema))
    newest = drive(conn, incidents.incidents(status=None, most=MOST_SEARCHED, schema=schema))
    found = [one for one in newest if low <= one.id <= high]
    if not found:
        raise NotFound(f"no incident's id begins with {text!r}; postmill incidents list shows them")
    if len(found) > 1:
        shown = ", ".join(str(one.id) for one in found[:5])
        raise CliError(
            f"several incidents' ids begin with {text!r}: {shown}", "give more of it", ExitCode.NOT_FOUND
        )
    return drive(conn, incidents.incident(UUID(str(found[0].id)), schema=schema))
