"""Statements on the rules of retention."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """How long a subject is kept.

    Attributes:
        keep_seconds: None is for ever.
        source: who says so: operator, tenant (its setting `retention`), settings or default.
        common: it is the rule of everybody.
    """

    subject: str
    keep_seconds: float | None
    source: str
    common: bool
    changed_at: datetime | None


def rules(tenant: UUID | None = None, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[RetentionRule]]:
    """The rules in force, of a tenant or of everybody."""
    return Statement(
        "rules", sql("retention/rules", schema), (tenant,), lambda rows: [RetentionRule(*row) for row in rows]
    )


def set_rule(
    tenant: UUID | None,
    subject: str,
    seconds: float | None,
    *,
    unset: bool = False,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[str]:
    """changed | unchanged | out_of_scope | unknown_tenant"""
    args = (tenant, subject, seconds, unset, reason, actor_type, actor_id)
    return Statement("set_rule", sql("retention/set_rule", schema), args, lambda rows: str(rows[0][0]))
