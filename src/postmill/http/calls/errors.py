"""Causes of failures."""

from __future__ import annotations

from datetime import datetime

from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.errors import ErrorGroup, ErrorNote, GroupStatus, TenantToTell, WholeErrorGroup
from postmill.shapes.paging import Page


def list_error_groups(
    *,
    definition_key: str | None = None,
    error_class: str | None = None,
    since: datetime | None = None,
    status: GroupStatus | None = None,
    tenant_id: Id | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[ErrorGroup]]:
    """Causes of failures, those seen last first."""
    return get(
        at("errors"),
        model(Page[ErrorGroup]),
        definition_key=definition_key,
        error_class=error_class,
        since=since,
        status=status,
        tenant_id=tenant_id,
        limit=limit,
        cursor=cursor,
    )


def get_error_group(group_id: str) -> Call[WholeErrorGroup]:
    """One cause of failures, and whom it affects."""
    return get(at("errors", group_id), model(WholeErrorGroup))


def ignore_error_group(
    group_id: str, until: datetime, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[ErrorGroup]:
    """Nobody needs to look at it before `until`."""
    body = {"until": until, "reason": reason}
    return write("POST", at("errors", group_id, "ignore"), model(ErrorGroup), body, key=idempotency_key)


def resolve_error_group(
    group_id: str,
    *,
    version: int | None = None,
    build: str | None = None,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> Call[ErrorGroup]:
    """It is over with a version of its definition (default: the present one), and with the build that carries the repair."""
    body = {"version": version, "build": build, "reason": reason}
    return write("POST", at("errors", group_id, "resolve"), model(ErrorGroup), body, key=idempotency_key)


def reopen_error_group(
    group_id: str, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[ErrorGroup]:
    """Takes back what was said of it."""
    body = {"reason": reason}
    return write("POST", at("errors", group_id, "reopen"), model(ErrorGroup), body, key=idempotency_key)


def list_error_notes(group_id: str) -> Call[Page[ErrorNote]]:
    """What was written on it, the latest first; at most 50."""
    return get(at("errors", group_id, "notes"), model(Page[ErrorNote]))


def write_error_note(group_id: str, text: str, *, idempotency_key: str | None = None) -> Call[ErrorGroup]:
    """Writes on it, for the platform's people."""
    return write(
        "POST", at("errors", group_id, "notes"), model(ErrorGroup), {"text": text}, key=idempotency_key
    )


def export_error_tenants(group_id: str, *, idempotency_key: str | None = None) -> Call[Page[TenantToTell]]:
    """Every tenant that it affects, to tell them; noted in the audit log."""
    return write("POST", at("errors", group_id, "export"), model(Page[TenantToTell]), key=idempotency_key)
