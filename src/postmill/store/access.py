"""Statements on who comes in: what the server asks outside of a request, and how a request begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.access import Principal, Role
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A live API key. `tenant_status` is None for a key of the platform."""

    id: UUID
    name: str
    tenant_id: UUID | None
    role: Role
    tenant_status: str | None


@dataclass(frozen=True, slots=True)
class FoundLogin:
    """A live login of the console; `id` is None for one that was just opened."""

    id: UUID | None
    actor_id: str
    tenant_id: UUID | None
    role: Role
    expires_at: datetime
    tenant_status: str | None = None


@dataclass(frozen=True, slots=True)
class Entrances:
    """Whether a login is configured in the database, and what keeps requests from being served (None: nothing)."""

    login_configured: bool
    unsecured: str | None


def find_key(hash: bytes, *, schema: str = DEFAULT_SCHEMA) -> Statement[FoundKey | None]:
    """The key with this SHA-256, if it is neither revoked nor over; notes that it was used."""
    return Statement(
        "find_key",
        sql("access/find_key", schema),
        (hash,),
        lambda rows: (
            FoundKey(rows[0][0], rows[0][1], rows[0][2], Role(rows[0][3]), rows[0][4]) if rows else None
        ),
    )


def find_login(hash: bytes, *, schema: str = DEFAULT_SCHEMA) -> Statement[FoundLogin | None]:
    """The login whose cookie has this SHA-256, if it is neither ended nor over; notes that it was seen."""
    return Statement(
        "find_login",
        sql("access/find_login", schema),
        (hash,),
        lambda rows: _login(rows[0]) if rows else None,
    )


def open_login(
    secret: bytes, cookie: bytes, seconds: float, request_id: str | None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[FoundLogin | None]:
    """Exchanges a login link (which holds once) or an API key, given by its hash, for a login.

    None: neither holds, or its tenant is suspended.
    """
    return Statement(
        "open_login",
        sql("access/open_login", schema),
        (secret, cookie, seconds, request_id),
        lambda rows: _login((None, *rows[0], None)) if rows else None,
    )


def close_login(cookie: bytes, request_id: str | None, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """A logout. False: that login had ended."""
    return Statement(
        "close_login", sql("access/close_login", schema), (cookie, request_id), lambda rows: bool(rows[0][0])
    )


def find_tenant(name: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[tuple[UUID, str] | None]:
    """Id and status of the tenant with this slug or id."""
    return Statement(
        "find_tenant",
        sql("access/find_tenant", schema),
        (name,),
        lambda rows: (rows[0][0], rows[0][1]) if rows else None,
    )


def entrances(*, schema: str = DEFAULT_SCHEMA) -> Statement[Entrances]:
    """What a server asks before it listens."""
    return Statement(
        "entrances", sql("access/entrances", schema), (), lambda rows: Entrances(rows[0][0], rows[0][1])
    )


def begin_request(
    principal: Principal, request_id: str | None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[bool]:
    """For the rest of the transaction: the request role, the principal's scope, and who acts.

    False, and nothing begun: the API key that he came with was revoked, is over, or its tenant is suspended.
    """
    args = (
        principal.tenant_id,
        principal.platform,
        principal.via,
        principal.actor_type,
        principal.actor_id,
        principal.role.value,
        request_id,
        principal.address,
    )
    return Statement(
        "begin_request", sql("access/begin_request", schema), args, lambda rows: bool(rows[0][0])
    )


def set_actor(
    via: str,
    actor_type: str,
    actor_id: str,
    role: str | None = None,
    request_id: str | None = None,
    address: str | None = None,
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[None]:
    """Says for the rest of the transaction whom the audit log names."""
    args = (via, actor_type, actor_id, role, request_id, address)
    return Statement("set_actor", sql("access/set_actor", schema), args, lambda rows: None)


def _login(row: Sequence[Any]) -> FoundLogin:
    id, actor_id, tenant_id, role, expires_at, tenant_status = row
    return FoundLogin(id, actor_id, tenant_id, Role(role), expires_at, tenant_status)


def enter_request(
    principal: Principal, request_id: str | None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[None]:
    """`begin_request` for one that is sent in one go with what follows it.

    A key that opens no longer makes it fail (SQLSTATE 28000), and so all that was sent with it.
    """
    begin = begin_request(principal, request_id, schema=schema)
    return Statement("enter_request", sql("access/enter_request", schema), begin.args, lambda rows: None)
