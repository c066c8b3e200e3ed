"""`postmill dead stats | rules`: many dead letters at once, and what recovers by itself."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import length, relative
from postmill.cli.letters import Tenant
from postmill.cli.lookups import server_now, tenant_id
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.text import one_line
from postmill.operate import operations
from postmill.store.dead_statistics import Count, DeadStatistics

ROWS = 12


def stats(run: Run, tenant: Tenant = None) -> None:
    """Tell how many dead letters there are, of what causes, since when, and how fast they grow."""
    with run.connect() as conn:
        own = tenant_id(conn, run.schema, tenant)
        found = drive(conn, operations.statistics(tenant=own, schema=run.schema))
        now = server_now(conn, run.schema)
    if not found.open and not run.out.as_json:
        run.out.say("no dead letters", style="green")
        return
    run.out.show(found, lambda: _page(found, now))


def rules(run: Run) -> None:
    """List the recovery rules that workers have run, and what came of them."""
    with run.connect() as conn:
        found = drive(conn, operations.recovery_rules(schema=run.schema))
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document(found)
        return
    if not found:
        run.out.say("no worker has run a recovery rule")
        run.out.note("make one in the settings: [recovery.NAME], then start the workers anew")
        return
    rows = [
        (
            one.name,
            ", ".join(
                f"{key} {value}"
                for key, value in one.rule.items()
                if key not in ("older_than", "times", "most")
            ),
            length(one.rule["older_than"]),
            one.rule["times"],
            one.replayed,
            one.skipped,
            relative(one.last_run_at, now),
        )
        for one in found
    ]
    columns = ("rule", "replays what has", "older than", "times", "replayed", "skipped", "last run")
    run.out.console.print(table(columns, rows, right=("times", "replayed", "skipped")))


def _page(found: DeadStatistics, now: Any) -> RenderableType:
    head = Text.assemble(
        (f"{found.open:,}", "bold"),
        f" open, the oldest given up {relative(found.oldest, now)}\n",
        (f"last hour: {found.opened_hour:,} given up, {found.closed_hour:,} replayed or discarded; ", "dim"),
        (f"last day: {found.opened_day:,} and {found.closed_day:,}\n", "dim"),
    )
    causes = [
        ("–" if cause.status is None else str(cause.status), cause.reason, f"{cause.count:,}")
        for cause in found.by_cause[:ROWS]
    ]
    groups = [
        (
            one.error_group or "–",
            one.job_type or "(body gone)",
            f"{one.count:,}",
            f"{one.tenants:,}",
            f"{one.opened_hour:,}",
            relative(one.oldest, now),
            relative(one.newest, now),
            one_line(": ".join(part for part in (one.error_class, one.error_message) if part), 120),
        )
        for one in found.by_group[:ROWS]
    ]
    columns = ("error group", "type", "letters", "tenants", "last hour", "first", "last", "error")
    tables = [
        table(("status", "reason", "letters"), causes, right=("status", "letters")),
        table(columns, groups, right=("letters", "tenants", "last hour")),
        _counts("type", found.by_type),
        _counts("queue", found.by_queue),
        _counts("tenant", found.by_tenant),
    ]
    return Group(head, *(part for one in tables for part in (one, Text())))


def _counts(name: str, counts: list[Count]) -> RenderableType:
    return table(
        (name, "letters"), [(one.name, f"{one.count:,}") for one in counts[:ROWS]], right=("letters",)
    )
