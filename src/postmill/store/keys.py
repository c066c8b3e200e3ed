"""Statements on API keys, login links and logins, as people handle them. Run in a request or by an owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.domain.access import Role
from postmill.domain.secret import Secret
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class KeyView:
    """An API key without its secret; `prefix` is how it begins."""

    id: UUID
    prefix: str
    name: str
    tenant_id: UUID | None
    role: str
    created_at: datetime
    created_by: str | None
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None


@dataclass(frozen=True, slots=True)
class LoginView:
    """A login of the console that still holds."""

    id: UUID
    actor_id: str
    tenant_id: UUID | None
    role: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


def create_key(
    secret: Secret,
    name: str,
    role: Role,
    tenant_id: UUID | None,
    expires_at: datetime | None,
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[tuple[UUID | None, datetime | None, str]]:
    """Id, moment and status: created | unknown (no such tenant in scope) | expired (the end is not ahead)."""
    args = (secret.hash, secret.prefix, name, tenant_id, role.value, expires_at)
    return Statement(
        "create_key",
        sql("access/create_key", schema),
        args,
        lambda rows: (rows[0][0], rows[0][1], rows[0][2]),
    )


def revoke_key(id: UUID, reason: str | None = None, *, schema: str = DEFAULT_SCHEMA) -> Statement[str]:
    """revoked | already | unknown."""
    return Statement(
        "revoke_key", sql("access/revoke_key", schema), (id, reason), lambda rows: str(rows[0][0])
    )


def list_keys(
    *,
    before: UUID | None = None,
    most: int = 50,
    tenant_id: UUID | None = None,
    live: bool = False,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[KeyView]]:
    """Keys, the newest first; `live`: without those revoked or over."""
    args = (before, most, tenant_id, live)
    return Statement(
        "list_keys", sql("access/list_keys", schema), args, lambda rows: [KeyView(*r) for r in rows]
    )


def create_link(
    secret: Secret,
    actor_id: str,
    role: Role,
    tenant_id: UUID | None,
    seconds: float,
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[tuple[datetime | None, str]]:
    """The moment until which the link holds, and status: created | unknown (no such tenant in scope)."""
    args = (secret.hash, actor_id, tenant_id, role.value, seconds)
    return Statement(
        "create_link", sql("access/create_link", schema), args, lambda rows: (rows[0][0], rows[0][1])
    )


def list_logins(
    *, before: UUID | None = None, most: int = 50, schema: str = DEFAULT_SCHEMA
) -> Statement[list[LoginView]]:
    """Logins that hold, the newest first."""
    return Statement(
        "list_logins",
        sql("access/list_logins", schema),
        (before, most),
        lambda rows: [LoginView(*r) for r in rows],
    )


@dataclass(frozen=True, slots=True)
class MemberView:
    """Who can come in, in one role.

    Attributes:
        actor_id: the name; of a key its name.
        since: of the first login that is known, or since the link or the key was made.
        last_seen_at: None: never.
        logins: how many still hold.
        kind: login (was logged in), invited (a link waits to be opened), key (nobody has logged in by it of late).
        expires_at: of a link or a key.
    """

    actor_id: str
    tenant_id: UUID | None
    role: str
    since: datetime
    last_seen_at: datetime | None
    logins: int
    kind: str
    expires_at: datetime | None


def list_members(most: int = 100, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[MemberView]]:
    """Who can come in: people of whom a login is known (ended ones are for a week), those invited, and keys; whoever was
    there last first."""
    return Statement(
        "list_members",
        sql("access/list_members", schema),
        (most,),
        lambda rows: [MemberView(*row) for row in rows],
    )


def end_login(id: UUID, reason: str | None = None, *, schema: str = DEFAULT_SCHEMA) -> Statement[str]:
    """ended | already | unknown."""
    return Statement("end_login", sql("access/end_login", schema), (id, reason), lambda rows: str(rows[0][0]))
