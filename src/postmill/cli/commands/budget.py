"""`postmill budget list | show | history | lines`."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import relative
from postmill.cli.completion import complete_budget, complete_tenant
from postmill.cli.lookups import server_now
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.text import one_line
from postmill.domain.budget import Level, plain
from postmill.operate import budgets
from postmill.store.budgets import BudgetView

Name = Annotated[
    str,
    typer.Argument(
        metavar="BUDGET",
        help="Its name or id; case and - for _ do not matter.",
        autocompletion=complete_budget,
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        metavar="TENANT",
        help="A tenant's own budget of that name; slug or id.",
        autocompletion=complete_tenant,
    ),
]
Period = Annotated[
    str | None, typer.Option("--period", metavar="PERIOD", help="2025-01 or 2025-01-31; default: now.")
]

STYLES = {Level.NORMAL: "green", Level.REDUCE: "yellow", Level.QUEUE: "dark_orange", Level.HARD_STOP: "red"}
BAR = 20


def list_(run: Run, tenant: Tenant = None) -> None:
    """List budgets, and how far they are used up."""
    with run.connect() as conn:
        found = drive(conn, budgets.budgets(tenant=tenant, most=10_000, schema=run.schema))
        now = server_now(conn, run.schema)
    if not found and not run.out.as_json:
        run.out.say("no budgets yet")
        run.out.note("make one: postmill budget set ai-tagging --limit 500")
        return
    columns = (
        "budget",
        "tenant",
        "period",
        "used",
        "",
        "spent",
        "reserved",
        "limit",
        "unit",
        "level",
        "ends",
    )
    rows = [
        (
            one.name,
            str(one.tenant_id) if one.tenant_id else None,
            one.standing.period,
            f"{one.standing.percent} %",
            bar(one),
            plain(one.standing.spent),
            plain(one.standing.reserved),
            plain(one.standing.limit),
            one.unit,
            Text(one.standing.level, style=STYLES[one.standing.level]),
            relative(one.standing.ends_at, now),
        )
        for one in found
    ]
    run.out.show(
        [document(one) for one in found],
        lambda: table(columns, rows, right=("used", "spent", "reserved", "limit")),
    )


def show(
    run: Run,
    budget: Name,
    tenant: Tenant = None,
    period: Period = None,
    by: Annotated[
        str, typer.Option("--by", metavar="WHAT", help="Breakdown by job_type, tenant or actor.")
    ] = "job_type",
) -> None:
    """Show a budget: where it stands, its levels and alerts, and what the money went to."""
    with run.connect() as conn:
        found = drive(conn, budgets.budget(budget, tenant=tenant, schema=run.schema))
        shares = drive(conn, budgets.breakdown(found.id, by, period=period, schema=run.schema))
        now = server_now(conn, run.schema)
    standing = found.standing
    columns = (by.replace("_", " "), f"spent ({found.unit})", "calls", "tokens in", "tokens out")
    rows = [(s.key or "–", plain(s.amount), s.calls, s.tokens_in, s.tokens_out) for s in shares]
    run.out.show(
        document(found) | {"breakdown": [{by: s.key, **_share(s)} for s in shares]},
        lambda: Group(
            pairs(
                [
                    ("budget", found.name),
                    ("tenant", "all" if found.tenant_id is None else str(found.tenant_id)),
                    ("level", Text(standing.level, style=STYLES[standing.level])),
                    ("used", Text.assemble(bar(found), f" {standing.percent} % of {plain(standing.limit)} {found.unit}")),
                    ("spent", f"{plain(standing.spent)} in {standing.calls} calls"),
                    ("reserved", plain(standing.reserved)),
                    ("period", f"{standing.period}, ends {relative(standing.ends_at, now)} ({found.timezone})"),
                    ("levels", ", ".join(f"{name} from {one['from']} % ×{one['factor']} {one['action']}"
                                         for name, one in found.levels.items())),
                    ("alerts", ", ".join(f"{share} % {severity}" for share, severity in found.alerts.items()) or "none"),
                    ("declared", "in the settings" if found.declared else "by an operator"),
                ]
            ),
            Text(f"\n{period or standing.period}" if rows else "\nnothing was spent"),
            table(columns, rows, right=columns[1:]),
        ),
    )  # fmt: skip


def history(
    run: Run,
    budget: Name,
    tenant: Tenant = None,
    months: Annotated[int, typer.Option(metavar="N", help="How many months back, this one counted.")] = 12,
) -> None:
    """List the periods of a budget, the present one first."""
    with run.connect() as conn:
        found = drive(conn, budgets.budget(budget, tenant=tenant, schema=run.schema))
        periods = drive(conn, budgets.history(found.id, months=months, schema=run.schema))
    if not periods and not run.out.as_json:
        run.out.say(f"nothing was ever spent from {found.name}")
        return
    columns = ("period", f"spent ({found.unit})", "limit", "calls", "tokens in", "tokens out", "alerts")
    rows = [
        (
            p.period,
            plain(p.spent),
            plain(p.limit),
            p.calls,
            p.tokens_in,
            p.tokens_out,
            ", ".join(f"{plain(a['percent'])} %" for a in p.alerts),
        )
        for p in periods
    ]
    run.out.show(periods, lambda: table(columns, rows, right=columns[1:6]))


def lines(
    run: Run,
    budget: Name,
    tenant: Tenant = None,
    period: Period = None,
    most: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=10_000, help="At most so many.")
    ] = 50,
) -> None:
    """List the ledger's lines of a period, the last first."""
    with run.connect() as conn:
        now = server_now(conn, run.schema)
        found = drive(conn, budgets.lines(budget, period=period, most=most, tenant=tenant, schema=run.schema))
    columns = ("when", "kind", "amount", "tokens", "job type", "job", "attempt", "who", "reason")
    rows = [
        (
            relative(one.at, now),
            one.kind,
            plain(one.amount),
            f"{one.tokens_in}/{one.tokens_out}",
            one.job_type,
            str(one.job_id) if one.job_id else None,
            one.attempt,
            f"{one.actor_type}:{one.actor_id or ''}".rstrip(":"),
            one_line(one.reason or "", 80),
        )
        for one in found
    ]
    run.out.show(found, lambda: table(columns, rows, right=("amount", "attempt")))


def bar(budget: BudgetView) -> Text:
    """How full it is, as a picture."""
    standing = budget.standing
    full = min(BAR, int(standing.percent * BAR / 100))
    return Text("█" * full, style=STYLES[standing.level]) + Text("░" * (BAR - full), style="bright_black")


def document(budget: BudgetView) -> dict[str, Any]:
    """A budget for --json, with its figures beside it."""
    standing = budget.standing
    return {
        "id": budget.id,
        "name": budget.name,
        "tenant_id": budget.tenant_id,
        "unit": budget.unit,
        "limit": plain(budget.limit),
        "period": budget.period,
        "timezone": budget.timezone,
        "levels": budget.levels,
        "alerts": budget.alerts,
        "declared": budget.declared,
        "standing": {
            "period": standing.period,
            "starts_at": standing.starts_at,
            "ends_at": standing.ends_at,
            "level": standing.level,
            "action": standing.action,
            "percent": plain(standing.percent),
            "limit": plain(standing.limit),
            "spent": plain(standing.spent),
            "reserved": plain(standing.reserved),
            "calls": standing.calls,
            "tokens_in": standing.tokens_in,
            "tokens_out": standing.tokens_out,
        },
    }


def _share(share: Any) -> dict[str, Any]:
    amount: Decimal = share.amount
    return {
        "amount": plain(amount),
        "calls": share.calls,
        "tokens_in": share.tokens_in,
        "tokens_out": share.tokens_out,
    }
