"""`postmill budget requests | ask | grant | decline`."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

import typer

from postmill.bind import drive
from postmill.cli.ages import relative
from postmill.cli.commands.budget import Name, Tenant
from postmill.cli.errors import CliError
from postmill.cli.lookups import server_now
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.text import one_line
from postmill.cli.values import moment
from postmill.domain.budget import plain
from postmill.operate import budget_requests as operate
from postmill.store.budget_requests import BudgetRequest

Request = Annotated[str, typer.Argument(metavar="REQUEST", help="Its id, as `budget requests` shows it.")]


def requests(
    run: Run,
    status: Annotated[
        Literal["open", "granted", "declined"] | None, typer.Option(help="Only with this status.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 50,
) -> None:
    """List what tenants asked for, the newest first."""
    with run.connect() as conn:
        found = drive(conn, operate.requests(status=status, most=limit, schema=run.schema))
        now = server_now(conn, run.schema)
    if not found and not run.out.as_json:
        run.out.say("nothing was asked for")
        return
    rows = [
        (
            str(one.id),
            one.tenant_slug,
            one.budget,
            f"{plain(one.limit)} {one.unit}",
            None if one.until is None else relative(one.until, now),
            one.status,
            relative(one.created_at, now),
            one_line(one.reason, 60),
        )
        for one in found
    ]
    columns = ("id", "tenant", "budget", "limit", "until", "status", "asked", "reason")
    run.out.show(found, lambda: table(columns, rows))


def ask(
    run: Run,
    budget: Name,
    limit: Annotated[str, typer.Option("--limit", metavar="AMOUNT", help="The limit that is asked for.")],
    reason: Annotated[str, typer.Option(help="What it is for.")],
    until: Annotated[
        str | None,
        typer.Option(metavar="MOMENT", help="Only until then, within the present period; default: for good."),
    ] = None,
    tenant: Tenant = None,
) -> None:
    """Ask for another limit of a tenant's own budget."""
    over = moment(until, "--until")
    with run.connect() as conn:
        flow = operate.ask(budget, limit, reason, until=over, tenant=tenant, schema=run.schema)
        _done(run, run.act(conn, flow))


def grant(
    run: Run,
    request: Request,
    answer: Annotated[str | None, typer.Option(help="For the tenant to read.")] = None,
) -> None:
    """Grant a request: the budget is changed as it asks."""
    with run.connect() as conn:
        _done(run, run.act(conn, operate.decide(_id(request), grant=True, answer=answer, schema=run.schema)))


def decline(
    run: Run, request: Request, answer: Annotated[str, typer.Option(help="Why not; for the tenant to read.")]
) -> None:
    """Decline a request."""
    with run.connect() as conn:
        _done(run, run.act(conn, operate.decide(_id(request), grant=False, answer=answer, schema=run.schema)))


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise CliError(f"{text!r} is no id of a request", "postmill budget requests shows them") from None


def _done(run: Run, one: BudgetRequest) -> None:
    if run.out.as_json:
        run.out.document(one)
        return
    run.out.say(
        f"{one.status}: {plain(one.limit)} {one.unit} of {one.budget} for {one.tenant_slug} ({one.id})",
        style="yellow" if one.status == "declined" else "green",
    )
