"""The rules of retention, as people read and change them. Flows, to be run as those of `commands` are."""

from __future__ import annotations

from uuid import UUID

from postmill.domain.errors import NotFound
from postmill.domain.retention import check_keep, check_subject
from postmill.operate.tenants import tenant as find_tenant
from postmill.store import retention as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.retention import RetentionRule


def rules(tenant: str | UUID | None = None, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[RetentionRule]]:
    """The rules in force, of a tenant or of everybody; within a tenant always its own.

    Raises:
        NotFound: there is no such tenant in scope.
    """
    id = None if tenant is None else (yield from find_tenant(tenant, schema=schema)).id
    found: list[RetentionRule] = yield store.rules(id, schema=schema)
    return found


def set_rule(
    subject: str,
    seconds: float | None,
    *,
    tenant: str | UUID | None = None,
    reason: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[RetentionRule]:
    """From now on this is kept for so many seconds (None: for ever), of a tenant or of everybody without a rule of his own.

    Raises:
        InvalidValue: there is no such subject, or it cannot be kept for that time.
        NotFound: there is no such tenant, or whoever asks is not of the platform.
    """
    check_subject(subject, of_tenant=tenant is not None)
    check_keep(subject, seconds, of_tenant=tenant is not None)
    return (yield from _changed(subject, seconds, False, tenant, reason, schema))


def unset_rule(
    subject: str,
    *,
    tenant: str | UUID | None = None,
    reason: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[RetentionRule]:
    """An operator's rule is taken back: what the settings or everybody's rule say holds again.

    Raises:
        InvalidValue: there is no such subject.
        NotFound: there is no such tenant, or whoever asks is not of the platform.
    """
    check_subject(subject, of_tenant=tenant is not None)
    return (yield from _changed(subject, None, True, tenant, reason, schema))


def _changed(
    subject: str,
    seconds: float | None,
    unset: bool,
    tenant: str | UUID | None,
    reason: str | None,
    schema: str,
) -> Flow[RetentionRule]:
    id = None if tenant is None else (yield from find_tenant(tenant, schema=schema)).id
    status = yield store.set_rule(id, subject, seconds, unset=unset, reason=reason, schema=schema)
    if status in ("out_of_scope", "unknown_tenant"):
        raise NotFound("only the platform changes what is kept for how long")
    found: list[RetentionRule] = yield store.rules(id, schema=schema)
    return next(rule for rule in found if rule.subject == subject)
