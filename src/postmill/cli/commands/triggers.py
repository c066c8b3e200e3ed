"""`postmill triggers list | show | next`."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from postmill.bind import drive
from postmill.bind import run as run_statement
from postmill.cli.ages import relative
from postmill.cli.completion import complete_tenant, complete_trigger
from postmill.cli.ids import short
from postmill.cli.lookups import server_now
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.text import one_line
from postmill.cli.triggers import find_trigger
from postmill.operate import tenants, triggers
from postmill.operate.triggers import Run as DueMoment
from postmill.store.triggers import TriggerView, list_triggers

Trigger = Annotated[
    str,
    typer.Argument(
        metavar="TRIGGER", help="Its label, or the beginning of its id.", autocompletion=complete_trigger
    ),
]
TenantOption = Annotated[
    str | None,
    typer.Option(
        "--tenant", metavar="TENANT", help="Only of this tenant: slug or id.", autocompletion=complete_tenant
    ),
]
COLUMNS = ("id", "label", "waits for", "makes", "state", "next run")


def list_(
    run: Run,
    trigger_type: Annotated[
        Literal["event", "schedule"] | None,
        typer.Option("--type", help="Only of this type: event, schedule."),
    ] = None,
    tenant: TenantOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 100,
) -> None:
    """List triggers, the newest first: what each waits for, what it makes, and how it stands."""
    with run.connect() as conn:
        home = None if tenant is None else drive(conn, tenants.tenant(tenant, schema=run.schema)).id
        found = run_statement(
            conn, list_triggers(tenant=home, trigger_type=trigger_type, most=limit, schema=run.schema)
        )
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document([_document(trigger) for trigger in found])
        return
    if not found:
        run.out.say("no such triggers" if trigger_type or tenant else "no triggers yet")
        run.out.note("they are made over the API, or declared in code: schedule(…), on_event(…)")
        return
    rows = [
        (
            short(trigger.id) if run.out.short_ids else str(trigger.id),
            trigger.label,
            _waits_for(trigger),
            trigger.definition_key,
            _state(trigger),
            None
            if trigger.next_run_at is None or not trigger.is_enabled
            else relative(trigger.next_run_at, now),
        )
        for trigger in found
    ]
    run.out.console.print(table(COLUMNS, rows))


def show(run: Run, trigger: Trigger) -> None:
    """Show one trigger: what it waits for, what it makes, and what went wrong last."""
    with run.connect() as conn:
        id = find_trigger(conn, run.schema, trigger)
        found = drive(conn, triggers.show(id, schema=run.schema))
        runs = drive(conn, triggers.next_runs(id, 3, schema=run.schema))
    run.out.show(_document(found), lambda: _page(found, runs))


def next_(
    run: Run,
    trigger: Trigger,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="How many.")] = 10,
) -> None:
    """Show when a schedule is due next: the instant, and what the clock on its wall shows then."""
    with run.connect() as conn:
        id = find_trigger(conn, run.schema, trigger)
        runs = drive(conn, triggers.next_runs(id, count, schema=run.schema))
        now = server_now(conn, run.schema)
    if not runs and not run.out.as_json:
        run.out.say("it is not due: it waits for events, is disabled, or its schedule is broken")
        return
    rows = [(_utc(it), _local(it), relative(it.due, now)) for it in runs]
    run.out.show(runs, lambda: table(("due (UTC)", "local time", "in"), rows))


def _page(trigger: TriggerView, runs: list[DueMoment]) -> RenderableType:
    facts = pairs(
        [
            ("waits for", _waits_for(trigger)),
            ("makes", trigger.definition_key),
            ("payload", json.dumps(json.loads(trigger.payload_template), ensure_ascii=False)),
            ("state", _state(trigger)),
            ("window", f"{trigger.dedupe_window_seconds} s"),
            ("missed", None if trigger.trigger_type == "event" else trigger.missed),
            ("overlap", None if trigger.trigger_type == "event" else trigger.overlap),
            ("clock changes", None if trigger.cron_expr is None else trigger.dst),
            ("jitter", f"{trigger.jitter_seconds} s" if trigger.jitter_seconds else None),
            ("next", ", ".join(map(_local, runs)) or None),
            ("declared in", trigger.declared_in),
            ("tenant", str(trigger.tenant_id)),
            ("error", None if trigger.error is None else one_line(trigger.error, 500)),
        ]
    )
    return Group(Text.assemble((trigger.label, "bold"), f"  {trigger.id}"), facts)


def _waits_for(trigger: TriggerView) -> str:
    if trigger.trigger_type == "event":
        return f"event {trigger.event_name}"
    if trigger.every_seconds is not None:
        return f"every {trigger.every_seconds:g} s"
    return f"{(trigger.cron_expr or '').replace(chr(10), ' | ')} ({trigger.timezone})"


def _state(trigger: TriggerView) -> Text:
    if trigger.broken:
        return Text("broken", style="bold red")
    if not trigger.is_enabled:
        return Text("disabled", style="yellow")
    return Text("failing", style="red") if trigger.error else Text("enabled", style="green")


def _document(trigger: TriggerView) -> dict[str, object]:
    fields: dict[str, object] = {name: getattr(trigger, name) for name in TriggerView.__slots__}
    return fields | {"payload_template": json.loads(trigger.payload_template)}


def _utc(moment: DueMoment) -> str:
    return moment.due.isoformat(timespec="seconds").replace("+00:00", "Z")


def _local(moment: DueMoment) -> str:
    return moment.local.isoformat(sep=" ", timespec="seconds")
