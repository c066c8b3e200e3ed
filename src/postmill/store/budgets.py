"""Statements on budgets as people handle them. Run in a request or by an owner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from postmill.domain.budget import Level, Standing, plain, standing_of
from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.spending import exact
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class BudgetView:
    """A budget and where it stands.

    Attributes:
        period: month or day, in `timezone`.
        limit: of new periods; that of the present one is in `standing`.
        levels: by lower-case name: `from` (percent), `factor`, `action`.
        alerts: percent → severity.
        declared: it stands in the settings.
    """

    id: UUID
    name: str
    tenant_id: UUID | None
    period: str
    timezone: str
    unit: str
    limit: Decimal
    levels: dict[str, dict[str, str]]
    alerts: dict[str, str]
    declared: bool
    created_at: datetime
    updated_at: datetime
    standing: Standing


@dataclass(frozen=True, slots=True)
class PeriodView:
    """A period of a budget; `alerts` are the thresholds it came to: percent, severity, crossed_at, resolved_at."""

    period: str
    starts_at: datetime
    ends_at: datetime
    limit: Decimal
    spent: Decimal
    reserved: Decimal
    calls: int
    tokens_in: int
    tokens_out: int
    alerts: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Share:
    """What went to one job type, tenant or actor (`type:id`); an empty key: corrections that name none."""

    key: str
    amount: Decimal
    calls: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class LineView:
    """A line of the ledger. kind: spend | estimate | adjust | correct."""

    id: UUID
    at: datetime
    kind: str
    amount: Decimal
    tokens_in: int
    tokens_out: int
    tenant_id: UUID | None
    reservation_id: UUID | None
    job_id: UUID | None
    attempt: int | None
    job_type: str | None
    actor_type: str
    actor_id: str | None
    reason: str | None


def read_budgets(
    *,
    after: tuple[str, UUID] | None = None,
    most: int = 50,
    id: UUID | None = None,
    name: str | None = None,
    tenant: UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[BudgetView]]:
    """Budgets in scope by name, from the one after `after` on."""
    args = (*(after or (None, None)), most, id, name, tenant)
    return Statement(
        "read_budgets",
        sql("budgets/read_budgets", schema),
        args,
        lambda rows: [_budget(exact(row[0])) for row in rows],
    )


def read_history(
    id: UUID, months: int, most: int = 400, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[PeriodView]]:
    """The periods of the last so many months, the last first."""
    return Statement(
        "read_history",
        sql("budgets/read_history", schema),
        (id, months, most),
        lambda rows: [_period(exact(row[0])) for row in rows],
    )


def read_breakdown(
    id: UUID, period: str | None, by: str, most: int = 1000, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[Share]]:
    """What a period's money went to by `job_type`, `tenant` or `actor`, the most first."""
    return Statement(
        "read_breakdown",
        sql("budgets/read_breakdown", schema),
        (id, period, by, most),
        lambda rows: [Share(row[0], Decimal(row[1]), *row[2:]) for row in rows],
    )


def read_lines(
    id: UUID, period: str | None, before: UUID | None, most: int, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[LineView]]:
    """Lines of a period, the last first."""
    return Statement(
        "read_lines",
        sql("budgets/read_lines", schema),
        (id, period, before, most),
        lambda rows: [_line(exact(row[0])) for row in rows],
    )


def set_budget(
    name: str,
    tenant: UUID | None,
    fields: Mapping[str, Any],
    mode: str,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[tuple[UUID | None, str]]:
    """Makes or changes a budget: id and created | changed | unchanged | exists | unknown | other_unit | spent_in.

    mode: create | change | put (either).
    """
    args = (name, tenant, json.dumps(fields), mode, reason, actor_type, actor_id)
    return Statement(
        "set_budget", sql("budgets/set_budget", schema), args, lambda rows: (rows[0][0], rows[0][1])
    )


def limit_budget(
    id: UUID,
    period: str,
    limit: Decimal,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    until: datetime | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[str]:
    """The limit of one period alone: changed | unchanged | unknown | over | no_period | past | late."""
    args = (id, period, plain(limit), reason, actor_type, actor_id, until)
    return Statement("limit_budget", sql("budgets/limit_budget", schema), args, lambda rows: str(rows[0][0]))


def correct_budget(
    id: UUID,
    period: str | None,
    amount: Decimal,
    tokens_in: int,
    tokens_out: int,
    reason: str,
    *,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[tuple[UUID | None, str]]:
    """Appends a correcting line: its id, and corrected | unknown | no_period | below_zero."""
    args = (id, period, plain(amount), tokens_in, tokens_out, reason, actor_type, actor_id)
    return Statement(
        "correct_budget", sql("budgets/correct_budget", schema), args, lambda rows: (rows[0][0], rows[0][1])
    )


def register_budgets(
    declared: Sequence[Mapping[str, Any]], *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[tuple[str, str]]]:
    """Budgets that the settings declare: name and created | changed | kept | unknown_tenant | other_unit | spent_in."""
    return Statement(
        "register_budgets",
        sql("budgets/register_budgets", schema),
        (json.dumps(list(declared)),),
        lambda rows: [(row[0], row[1]) for row in rows],
    )


def _budget(row: dict[str, Any]) -> BudgetView:
    levels = zip(Level, row["level_from"], row["level_factor"], row["level_action"], strict=True)
    alerts = zip(row["alert_at"], row["alert_severity"], strict=True)
    return BudgetView(
        id=UUID(row["id"]),
        name=row["name"],
        tenant_id=row["tenant_id"] and UUID(row["tenant_id"]),
        period=row["period"],
        timezone=row["timezone"],
        unit=row["unit"],
        limit=_decimal(row["budget_limit"]),
        levels={
            level.lower(): {"from": _text(share), "factor": _text(factor), "action": action}
            for level, share, factor, action in levels
        },
        alerts={_text(share): severity for share, severity in alerts},
        declared=row["declared"],
        created_at=datetime.fromisoformat(row["created_at"]),
        updated_at=datetime.fromisoformat(row["updated_at"]),
        standing=standing_of(row | {"factor": row["level_factor"][int(row["level"]) - 1]}),
    )


def _period(row: dict[str, Any]) -> PeriodView:
    return PeriodView(
        row["label"],
        datetime.fromisoformat(row["starts_at"]),
        datetime.fromisoformat(row["ends_at"]),
        _decimal(row["limit_amount"]),
        _decimal(row["spent"]),
        _decimal(row["reserved"]),
        row["calls"],
        row["tokens_in"],
        row["tokens_out"],
        [alert | {"percent": _decimal(alert["percent"])} for alert in row["alerts"]],
    )


def _line(row: dict[str, Any]) -> LineView:
    ids = {name: row[name] and UUID(row[name]) for name in ("id", "tenant_id", "reservation_id", "job_id")}
    at = datetime.fromisoformat(row["at"])
    return LineView(**(row | ids | {"amount": _decimal(row["amount"]), "at": at}))


def _decimal(value: Any) -> Decimal:
    return Decimal(str(value))


def _text(value: Any) -> str:
    return plain(_decimal(value))
