"""`postmill keys list | create | revoke`, `postmill logins list | end`, and `postmill login`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

import typer
from rich.text import Text

from postmill.bind import drive
from postmill.bind import run as run_statement
from postmill.cli.address import link
from postmill.cli.ages import relative
from postmill.cli.completion import complete_tenant
from postmill.cli.errors import CliError
from postmill.cli.lookups import server_now
from postmill.cli.options import one_of
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.values import duration, moment
from postmill.cli.who import who
from postmill.domain.access import Role
from postmill.operate import keys, tenants
from postmill.store.keys import KeyView, list_keys, list_logins

TenantOption = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        metavar="TENANT",
        help="Slug or id; none for a role of the platform.",
        autocompletion=complete_tenant,
    ),
]
RoleOption = Annotated[Role, typer.Option("--role", help=f"What it may do: {one_of(Role)}.")]
Reason = Annotated[str | None, typer.Option(help="Why; for the audit log.")]
MOST = 10_000


def list_(
    run: Run,
    tenant: TenantOption = None,
    all_: Annotated[bool, typer.Option("--all", metavar="", help="Those revoked or over, too.")] = False,
) -> None:
    """List API keys, the newest first. Their secrets are shown once, when they are made."""
    with run.connect() as conn:
        home = None if tenant is None else drive(conn, tenants.tenant(tenant, schema=run.schema)).id
        found = run_statement(conn, list_keys(most=MOST, tenant_id=home, live=not all_, schema=run.schema))
        names = {t.id: t.slug for t in drive(conn, tenants.tenants(most=MOST, schema=run.schema))}
        now = server_now(conn, run.schema)

    def row(key: KeyView) -> tuple[str | Text | None, ...]:
        if key.revoked_at is not None:
            state = Text(f"revoked {relative(key.revoked_at, now)}", style="red")
        elif key.expires_at is None:
            state = Text("holds", style="green")
        else:
            words, style = ("ended", "yellow") if key.expires_at <= now else ("ends", "green")
            state = Text(f"{words} {relative(key.expires_at, now)}", style=style)
        used = None if key.last_used_at is None else relative(key.last_used_at, now)
        home = "the platform" if key.tenant_id is None else names.get(key.tenant_id, str(key.tenant_id))
        return (f"{key.prefix}…", key.name, key.role, home, used, state, str(key.id))

    run.out.show(
        found, lambda: table(("key", "name", "role", "tenant", "used", "state", "id"), map(row, found))
    )


def create(
    run: Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the key is for.")],
    role: RoleOption,
    tenant: TenantOption = None,
    valid: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="It ends after 90d, 12h …")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="MOMENT", help="It ends then.")] = None,
) -> None:
    """Make an API key and print it. It is shown this once: only its hash is kept."""
    if valid is not None and until is not None:
        raise CliError("--for and --until exclude each other")
    seconds, end = duration(valid, "--for"), moment(until, "--until")
    with run.connect() as conn:
        if seconds is not None:
            end = server_now(conn, run.schema) + timedelta(seconds=seconds)
        made = run.act(conn, keys.create_key(name, role, tenant=tenant, expires_at=end, schema=run.schema))
    if run.out.as_json:
        run.out.document(made)
        return
    run.out.copyable(made.key)
    run.out.note(f"this is shown once; send it as `Authorization: Bearer {made.prefix}…` (id {made.id})")


def revoke(
    run: Run,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Its id, or how it begins (pm_…).")],
    reason: Reason = None,
) -> None:
    """Revoke an API key, and the logins that it opened. The next request with it is refused."""
    with run.connect() as conn:
        id = _id(key) or _only(run_statement(conn, list_keys(most=MOST, schema=run.schema)), key)
        status = run.act(conn, keys.revoke_key(id, reason=reason, schema=run.schema))
    if run.out.as_json:
        run.out.document({"id": id, "status": status})
        return
    run.out.say(f"key {id} {'is revoked' if status == 'revoked' else 'was revoked before'}", style="green")


def list_logins_(run: Run) -> None:
    """List logins of the console that hold, the newest first."""
    with run.connect() as conn:
        found = run_statement(conn, list_logins(most=MOST, schema=run.schema))
        now = server_now(conn, run.schema)
    run.out.show(
        found,
        lambda: table(
            ("who", "role", "seen", "ends", "id"),
            [
                (
                    login.actor_id,
                    login.role,
                    relative(login.last_seen_at, now),
                    relative(login.expires_at, now),
                    str(login.id),
                )
                for login in found
            ],
        ),
    )


def end_login(
    run: Run, login: Annotated[UUID, typer.Argument(metavar="ID", help="Its id.")], reason: Reason = None
) -> None:
    """End a login of the console; the next request with it is refused."""
    with run.connect() as conn:
        status = run.act(conn, keys.end_login(login, reason=reason, schema=run.schema))
    if run.out.as_json:
        run.out.document({"id": login, "status": status})
        return
    run.out.say(f"login {login} {'is over' if status == 'ended' else 'was over before'}", style="green")


def login(
    run: Run,
    role: RoleOption = Role.SUPER_ADMIN,
    tenant: TenantOption = None,
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who logs in (default: you).")
    ] = None,
    valid: Annotated[str, typer.Option("--for", metavar="TIME", help="How long the link waits.")] = "1h",
    url: Annotated[
        str | None,
        typer.Option("--url", help="How the server is reached (default: settings, or what runs here)."),
    ] = None,
) -> None:
    """Print a link that logs somebody in, once."""
    seconds = duration(valid, "--for") or 0.0
    if not 0 < seconds <= 7 * 86400:
        raise CliError(f"--for {valid!r}: a link waits for up to 7 days")
    with run.connect() as conn:
        flow = keys.create_link(name or who(), role, tenant=tenant, seconds=seconds, schema=run.schema)
        made = run.act(conn, flow)
    address = link(run, made.token, url)
    if run.out.as_json:
        run.out.document(
            {"url": address, "actor_id": made.actor_id, "role": made.role, "expires_at": made.expires_at}
        )
        return
    run.out.copyable(address)
    run.out.note(
        f"it opens one login as {made.actor_id} ({made.role}), and waits until {_shown(made.expires_at)}"
    )


def _shown(when: datetime) -> str:
    return when.isoformat(timespec="minutes")


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _only(known: list[KeyView], given: str) -> UUID:
    """The one key that begins so; `given` may be the whole secret, which is told to nobody."""
    found = [key for key in known if given.startswith(key.prefix) or key.prefix.startswith(given)]
    if len(found) != 1:
        which = "no key begins" if not found else f"{len(found)} keys begin"
        raise CliError(f"{which} with {given[:9]!r}", "give its id: postmill keys list --all")
    return found[0].id
