"""`postmill budget set | correct`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from postmill.cli.commands.budget import Name, Period, Tenant, document
from postmill.cli.errors import CliError
from postmill.cli.run import Run
from postmill.cli.values import moment
from postmill.domain.budget import plain
from postmill.operate import budget_requests, budgets
from postmill.store.budgets import BudgetView

Reason = Annotated[str | None, typer.Option(help="Why; for the audit log.")]
LEVEL = (
    "--level is NAME=FROM:FACTOR:ACTION, as in --level reduce=75:0.5:run; leave out what stays as by default"
)


def set_(
    run: Run,
    budget: Name,
    limit: Annotated[
        str | None, typer.Option("--limit", metavar="AMOUNT", help="Most per period; counts at once.")
    ] = None,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="PERIOD", help="The limit of this period alone: 2025-01 or 2025-01-31."
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="MOMENT",
            help="With --limit alone: until then, within the present period; then it is what it was.",
        ),
    ] = None,
    tenant: Tenant = None,
    period: Annotated[
        str | None, typer.Option("--each", metavar="month|day", help="Length of a period; default month.")
    ] = None,
    timezone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Zone of the periods; default the tenant's, or UTC.")
    ] = None,
    unit: Annotated[str | None, typer.Option(metavar="UNIT", help="What is counted; default USD.")] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(
            "--level", metavar="NAME=FROM:FACTOR:ACTION", help="reduce=75:0.5:run; may be repeated."
        ),
    ] = None,
    alert: Annotated[
        list[str] | None,
        typer.Option("--alert", metavar="PERCENT=SEVERITY", help="90=warning; all of them, may be repeated."),
    ] = None,
    reason: Reason = None,
) -> None:
    """Make a budget, or change what is named of it."""
    fields: dict[str, Any] = {"limit": limit, "period": period, "unit": unit}
    fields = {name: value for name, value in fields.items() if value is not None}
    if timezone is not None:
        fields["timezone"] = timezone
    if level:
        fields["levels"] = dict(_level(text) for text in level)
    if alert:
        fields["alerts"] = dict(
            _pair(text, "--alert is PERCENT=SEVERITY, as in 90=warning") for text in alert
        )
    if until is not None:
        if limit is None or for_ is not None or len(fields) > 1:
            raise CliError("--until goes with --limit alone", "as in: --limit 750 --until 2025-01-20T18:00Z")
        over = moment(until, "--until")
        flow = budget_requests.change(
            budget, limit, until=over, tenant=tenant, reason=reason, schema=run.schema
        )
    elif for_ is not None:
        if limit is None or len(fields) > 1:
            raise CliError("--for goes with --limit alone", "as in: --for 2025-01 --limit 750")
        flow = budgets.limit_period(budget, for_, limit, tenant=tenant, reason=reason, schema=run.schema)
    elif not fields:
        raise CliError("nothing to set", "name at least --limit; see --help")
    else:
        flow = budgets.set_budget(budget, tenant=tenant, reason=reason, schema=run.schema, **fields)
    with run.connect() as conn:
        _done(run, run.act(conn, flow))


def correct(
    run: Run,
    budget: Name,
    amount: Annotated[
        str,
        typer.Argument(metavar="AMOUNT", help="What to add; below 0 (after --) where too much was booked."),
    ],
    reason: Annotated[str, typer.Option(help="Why; stands in the ledger and in the audit log.")],
    tenant: Tenant = None,
    period: Period = None,
    tokens_in: Annotated[int, typer.Option(metavar="N")] = 0,
    tokens_out: Annotated[int, typer.Option(metavar="N")] = 0,
) -> None:
    """Append a correcting line to the ledger. Lines are never changed."""
    with run.connect() as conn:
        flow = budgets.correct(
            budget,
            amount,
            reason=reason,
            period=period,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            tenant=tenant,
            schema=run.schema,
        )
        _done(run, run.act(conn, flow))


def _done(run: Run, budget: BudgetView) -> None:
    if run.out.as_json:
        run.out.document(document(budget))
        return
    standing = budget.standing
    run.out.say(
        f"{budget.name}: {plain(standing.spent)} of {plain(standing.limit)} {budget.unit} spent in {standing.period},"
        f" {standing.level}",
        style="green",
    )


def _pair(text: str, usage: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise CliError(usage, f"not {text!r}")
    return name, value


def _level(text: str) -> tuple[str, dict[str, str]]:
    name, said = _pair(text, LEVEL)
    parts = said.split(":")
    if len(parts) > 3:
        raise CliError(LEVEL, f"not {text!r}")
    return name, {key: part for key, part in zip(("from", "factor", "action"), parts, strict=False) if part}
