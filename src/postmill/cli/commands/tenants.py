"""`postmill tenants list | show | create | set | projects | create-project`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

import typer

from postmill.bind import drive
from postmill.cells import moves
from postmill.cli.ages import length
from postmill.cli.completion import complete_tenant
from postmill.cli.errors import CliError
from postmill.cli.lookups import server_now
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.values import duration
from postmill.domain.errors import AlreadyThere
from postmill.domain.settings_cells import directory_of
from postmill.operate import tenants
from postmill.store.tenants import TenantView

Name = Annotated[
    str, typer.Argument(metavar="TENANT", help="Its slug or id.", autocompletion=complete_tenant)
]
Slug = Annotated[str, typer.Argument(metavar="SLUG", help="1 to 63 of a-z, 0-9 and -.")]
Title = Annotated[str | None, typer.Option("--name", help="How people call it.")]
Zone = Annotated[str | None, typer.Option("--timezone", metavar="ZONE", help="Such as Europe/Amsterdam.")]
Weight = Annotated[
    int | None, typer.Option(metavar="N", help="Its share of a queue beside others' (1 to 1000).")
]
Most = Annotated[
    int | None, typer.Option("--max-running", metavar="N", help="Jobs at once; 0 is without limit.")
]
Raise = Annotated[
    int | None,
    typer.Option(
        "--raise-to", metavar="N", help="A higher limit for a time: --for says how long; 0 ends it."
    ),
]
For = Annotated[
    str | None, typer.Option("--for", metavar="TIME", help="How long --raise-to holds: 30m, 2h …")
]
Keep = Annotated[
    str | None,
    typer.Option("--retention", metavar="TIME", help="How long its history is kept: 30d …; 0 is as all."),
]
Reason = Annotated[str | None, typer.Option(help="Why; for the audit log.")]


def list_(run: Run) -> None:
    """List tenants by slug."""
    with run.connect() as conn:
        found = drive(conn, tenants.tenants(most=10_000, schema=run.schema))
    columns = ("tenant", "name", "status", "time zone", "weight", "most at once", "id")
    run.out.show(
        found,
        lambda: table(
            columns,
            [(t.slug, t.name, t.status, t.timezone, t.weight, t.max_running, str(t.id)) for t in found],
            right=("weight", "most at once"),
        ),
    )


def show(run: Run, tenant: Name) -> None:
    """Show one tenant."""
    with run.connect() as conn:
        found = drive(conn, tenants.tenant(tenant, schema=run.schema))
    _show(run, found)


def create(
    run: Run,
    slug: Slug,
    name: Title = None,
    timezone: Zone = None,
    weight: Weight = None,
    max_running: Most = None,
    retention: Keep = None,
    reason: Reason = None,
) -> None:
    """Make a tenant; with --cell in that cell, where the settings have cells."""
    settings = _settings(name, timezone, None, weight, max_running, retention)
    home = run.given.cell or directory_of(run.settings.cells)
    if home is not None and moves.placed(run.settings.cells, slug, schema=run.schema):
        raise AlreadyThere(f"the directory of cells has a tenant {slug!r} already")
    with run.connect() as conn:
        made = run.act(conn, tenants.create_tenant(slug, reason=reason, schema=run.schema, **settings))
    if home is not None:
        moves.enter(run.settings.cells, made.id, made.slug, home, schema=run.schema)
    _show(run, made)


def set_(
    run: Run,
    tenant: Name,
    name: Title = None,
    timezone: Zone = None,
    status: Annotated[str | None, typer.Option(help="active, throttled or suspended.")] = None,
    weight: Weight = None,
    max_running: Most = None,
    raise_to: Raise = None,
    for_: For = None,
    retention: Keep = None,
    reason: Reason = None,
) -> None:
    """Change a tenant; what is not named stays. A suspended tenant's keys and logins open nothing."""
    settings = _settings(name, timezone, status, weight, max_running, retention)
    seconds = duration(for_, "--for")
    if (seconds is None) != (not raise_to):
        raise CliError("--raise-to and --for belong together", "such as --raise-to 60 --for 2h")
    with run.connect() as conn:
        if raise_to is not None:
            until = None if seconds is None else server_now(conn, run.schema) + timedelta(seconds=seconds)
            settings |= {"raised_to": raise_to or None, "raised_until": until}
        changed = run.act(conn, tenants.change_tenant(tenant, reason=reason, schema=run.schema, **settings))
    _show(run, changed)


def projects(run: Run, tenant: Name) -> None:
    """List the projects of a tenant."""
    with run.connect() as conn:
        found = drive(conn, tenants.projects(tenant, most=10_000, schema=run.schema))
    run.out.show(
        found, lambda: table(("project", "name", "id"), [(p.slug, p.name, str(p.id)) for p in found])
    )


def create_project(run: Run, tenant: Name, slug: Slug, name: Title = None) -> None:
    """Make a project of a tenant."""
    with run.connect() as conn:
        made = run.act(conn, tenants.create_project(tenant, slug, name, schema=run.schema))
    run.out.show(made, lambda: pairs([("project", made.slug), ("name", made.name), ("id", str(made.id))]))


def _settings(
    name: str | None,
    timezone: str | None,
    status: str | None,
    weight: int | None,
    max_running: int | None,
    retention: str | None,
) -> dict[str, Any]:
    given = {"name": name, "timezone": timezone, "status": status, "weight": weight}
    settings: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if max_running is not None:
        settings["max_running"] = max_running or None
    if retention is not None:
        settings["retention_seconds"] = duration(retention, "--retention") or None
    return settings


def _raised(tenant: TenantView) -> list[tuple[str, str]]:
    if tenant.raised_to is None or tenant.raised_until is None:
        return []
    return [("raised to", f"{tenant.raised_to} until {tenant.raised_until:%Y-%m-%d %H:%M:%S %Z}")]


def _show(run: Run, tenant: TenantView) -> None:
    keep = tenant.retention_seconds
    run.out.show(
        tenant,
        lambda: pairs(
            [
                ("tenant", tenant.slug),
                ("name", tenant.name),
                ("id", str(tenant.id)),
                ("status", tenant.status),
                ("time zone", tenant.timezone),
                ("weight", str(tenant.weight)),
                ("most at once", "no limit" if tenant.max_running is None else str(tenant.max_running)),
                *_raised(tenant),
                ("history is kept", "as the platform's" if keep is None else length(keep)),
            ]
        ),
    )
