"""`postmill errors ignore | resolve | reopen | note | notes | tenants`: what the platform says of a cause of failures."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from postmill.bind import drive
from postmill.cli.ages import relative
from postmill.cli.completion import complete_error
from postmill.cli.lookups import server_now
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.text import one_line
from postmill.cli.values import duration
from postmill.cli.who import who
from postmill.operate import error_groups

Id = Annotated[
    str, typer.Argument(metavar="ID", help="Its 16 hexadecimal digits.", autocompletion=complete_error)
]
Why = Annotated[str | None, typer.Option(help="Why; shown wherever the group is.")]


def ignore(
    run: Run,
    id: Id,
    length_: Annotated[str, typer.Option("--for", metavar="TIME", help="For 4h, 2d, 1w …")] = "24h",
    reason: Why = None,
) -> None:
    """Say that nobody needs to look at it for a while; then it is what it was."""
    seconds = duration(length_, "--for") or 0.0
    with run.connect() as conn:
        until = server_now(conn, run.schema) + timedelta(seconds=seconds)
        flow = error_groups.ignore(id.lower(), until, reason=reason, actor=who(), schema=run.schema)
        group = run.act(conn, flow)
    if run.out.as_json:
        run.out.document(group)
        return
    run.out.say(f"{group.id} is ignored until {until:%Y-%m-%d %H:%M} UTC", style="yellow")


def resolve(
    run: Run,
    id: Id,
    version: Annotated[
        int | None, typer.Option(min=1, help="Of its definition; without it the present one.")
    ] = None,
    build: Annotated[
        str | None,
        typer.Option(
            "--in-build",
            metavar="BUILD",
            help="The build that carries the repair: earlier ones may still fail so.",
        ),
    ] = None,
    reason: Why = None,
) -> None:
    """Say that it is over with a version, a build or both: a failure of that one or of a later one makes it `regressed`.

    A repair of code alone makes no new version of the definition: name the build. postmill workers list shows builds.
    """
    with run.connect() as conn:
        flow = error_groups.resolve(
            id.lower(), version=version, build=build, reason=reason, actor=who(), schema=run.schema
        )
        group = run.act(conn, flow)
    if run.out.as_json:
        run.out.document(group)
        return
    where = f"build {group.resolved_build}" if group.resolved_build else f"version {group.resolved_version}"
    run.out.say(f"{group.id} is resolved in {where}", style="green")


def reopen(run: Run, id: Id, reason: Why = None) -> None:
    """Take back what was said of it."""
    with run.connect() as conn:
        group = run.act(conn, error_groups.reopen(id.lower(), reason=reason, actor=who(), schema=run.schema))
    if run.out.as_json:
        run.out.document(group)
        return
    run.out.say(f"{group.id} is {group.status}")


def note(run: Run, id: Id, text: Annotated[str, typer.Argument(metavar="TEXT", help="The note.")]) -> None:
    """Write on it, for the platform's people."""
    with run.connect() as conn:
        group = run.act(conn, error_groups.note(id.lower(), text, actor=who(), schema=run.schema))
    if run.out.as_json:
        run.out.document(group)
        return
    run.out.say(f"noted on {group.id}")


def notes(run: Run, id: Id) -> None:
    """Show what was written on it, the latest first."""
    with run.connect() as conn:
        found = drive(conn, error_groups.notes(id.lower(), schema=run.schema))
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document(found)
        return
    if not found:
        run.out.say("nobody has written on it")
        return
    rows = [(relative(one.at, now), one.actor_id or one.actor_type, one.text) for one in found]
    run.out.console.print(table(("when", "who", "note"), rows))


def tenants(run: Run, id: Id) -> None:
    """List every tenant that it affects, to tell them; noted in the audit log. With --json for other programs."""
    with run.connect() as conn:
        found = run.act(conn, error_groups.to_tell(id.lower(), schema=run.schema))
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document(found)
        return
    if not found:
        run.out.say("no tenant is affected, or there is no such group")
        return
    rows = [
        (
            one.slug or str(one.tenant_id),
            one_line(one.name or "", 60),
            one.count,
            one.dead,
            relative(one.last_seen_at, now),
            str(one.sample_job or ""),
        )
        for one in found
    ]
    columns = ("tenant", "name", "failures", "dead", "last", "a job")
    run.out.console.print(table(columns, rows, right=("failures", "dead")))
