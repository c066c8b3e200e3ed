"""Budgets, as people handle them. Flows, to be run as those of `commands` are; all that changes something is audited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.budget import DEFAULT_ALERTS, amount, plain, tokens
from postmill.domain.budget_fields import check_budget_name, check_fields, check_period_name
from postmill.domain.errors import AlreadyThere, DefinitionConflict, InvalidValue, NotFound
from postmill.domain.registering import refuse_budgets
from postmill.domain.suggest import did_you_mean
from postmill.operate.tenants import tenant as find_tenant
from postmill.store import budgets as store
from postmill.store.budgets import BudgetView, LineView, PeriodView, Share
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow

BREAKDOWNS = ("job_type", "tenant", "actor")

LONGEST_REASON = 2000


def budgets(
    *,
    tenant: str | UUID | None = None,
    after: tuple[str, UUID] | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[BudgetView]]:
    """Budgets in scope with where they stand, by name; `after`: name and id of the last page's last one.

    Raises:
        NotFound: there is no such tenant in scope.
    """
    owner = None if tenant is None else (yield from find_tenant(tenant, schema=schema)).id
    found: list[BudgetView] = yield store.read_budgets(after=after, most=most, tenant=owner, schema=schema)
    return found


def default_alerts() -> dict[str, str]:
    """Severity by percent where nothing else is said."""
    return {plain(share): severity for share, severity in DEFAULT_ALERTS.items()}


def budget(
    name: str | UUID, *, tenant: str | UUID | None = None, schema: str = DEFAULT_SCHEMA
) -> Flow[BudgetView]:
    """One budget, by id or by name: the tenant's, where one is named, else the platform's, else the only one of that name.

    Raises:
        NotFound: there is none, or several tenants have one.
    """
    owner = None if tenant is None else (yield from find_tenant(tenant, schema=schema)).id
    id = _id(name)
    found: list[BudgetView] = []
    if id is not None:
        found = yield store.read_budgets(id=id, tenant=owner, schema=schema)
    elif len(str(name)) <= 64:
        found = yield store.read_budgets(name=str(name), tenant=owner, schema=schema)
    if len(found) > 1:
        found = [one for one in found if one.tenant_id is None]
        if not found:
            raise NotFound(f"several tenants have a budget {str(name)[:80]!r}; say which one's")
    if not found:
        known: list[BudgetView] = yield store.read_budgets(most=100, tenant=owner, schema=schema)
        hint = did_you_mean(str(name)[:80], [one.name for one in known], noun="budgets")
        raise NotFound(f"there is no budget {str(name)[:80]!r}{hint}")
    return found[0]


def set_budget(
    name: str,
    *,
    tenant: str | UUID | None = None,
    mode: str = "put",
    reason: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
    **fields: Any,
) -> Flow[BudgetView]:
    """Makes a budget, or changes those fields of it that are named (see `domain.budget_fields.check_fields`).

    A changed limit counts in the present period at once; a changed period or zone from its end on.

    Args:
        mode: create | change | put (either).
        reason: for the audit log.

    Raises:
        InvalidValue: a field is none, or a new budget has no limit.
        AlreadyThere, NotFound: as the mode wants it; also: there is no such tenant.
        DefinitionConflict: its unit cannot be that one.
    """
    check_budget_name(name)
    checked = check_fields(fields)
    owner = None if tenant is None else (yield from find_tenant(tenant, schema=schema)).id
    if mode != "change" and "limit_amount" not in checked:
        known = yield store.read_budgets(name=name, tenant=owner, schema=schema)
        if mode == "create" or not any(one.tenant_id == owner for one in known):
            raise InvalidValue("limit: a new budget needs one, such as 500")
    id, status = yield store.set_budget(
        name, owner, checked, mode, reason=checked_reason(reason), actor_id=actor_id, schema=schema
    )
    if status == "exists":
        raise AlreadyThere(f"there is a budget {name!r} already")
    if status == "unknown":
        raise NotFound(f"there is no budget {name!r} that may be changed from here")
    if status == "other_unit":
        raise DefinitionConflict(f"unit: the budget {name!r} above or below it has another one")
    if status == "spent_in":
        raise DefinitionConflict("unit: stays once money was spent in it; make another budget")
    made: BudgetView = yield from budget(id, schema=schema)
    return made


def limit_period(
    name: str | UUID,
    period: str,
    limit: object,
    *,
    tenant: str | UUID | None = None,
    until: datetime | None = None,
    reason: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[BudgetView]:
    """Gives one period, the present or a later one, a limit of its own, to its end or until a moment within it.

    Raises:
        InvalidValue: no such period or limit, or a moment that is over or after the period.
        NotFound: there is no such budget.
        DefinitionConflict: the period is over.
    """
    checked, cost = check_period_name(period), amount(limit, "limit")
    found = yield from budget(name, tenant=tenant, schema=schema)
    status = yield store.limit_budget(
        found.id,
        checked,
        cost,
        reason=checked_reason(reason),
        actor_id=actor_id,
        until=until,
        schema=schema,
    )
    if status in ("past", "late"):
        raise InvalidValue(
            f"until: is {'over' if status == 'past' else f'after the end of the period {period}'}"
        )
    if status == "over":
        raise DefinitionConflict(f"the period {period} is over: its limit stays as it was")
    if status == "no_period":
        raise InvalidValue(f"{period!r} is no period of this budget of a {found.period}, or too far away")
    if status == "unknown":
        raise NotFound(f"there is no budget {found.name!r} that may be changed from here")
    changed: BudgetView = yield from budget(found.id, schema=schema)
    return changed


def correct(
    name: str | UUID,
    cost: object,
    *,
    reason: str,
    period: str | None = None,
    tokens_in: int = 0,
    tokens_out: int = 0,
    tenant: str | UUID | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[BudgetView]:
    """Appends a correcting line to the ledger: a negative amount for what was booked too much. Nothing is rewritten.

    Args:
        reason: required.
        period: an earlier one; None: the present one.

    Raises:
        InvalidValue: amount, tokens, period or reason; or less than nothing would be spent.
        NotFound: there is no such budget or period.
    """
    why = checked_reason(reason)
    if not why or not why.strip():
        raise InvalidValue("reason: a correction needs one")
    exact = amount(cost, "amount", negative=True)
    into, out = (
        tokens(tokens_in, "tokens_in", negative=True),
        tokens(tokens_out, "tokens_out", negative=True),
    )
    label = None if period is None else check_period_name(period)
    found = yield from budget(name, tenant=tenant, schema=schema)
    _, status = yield store.correct_budget(
        found.id, label, exact, into, out, why, actor_id=actor_id, schema=schema
    )
    if status == "no_period":
        raise NotFound(f"the budget {found.name!r} has no period {label!r} in which anything was spent")
    if status == "below_zero":
        raise InvalidValue("amount: less than nothing would be spent; correct at most what was booked")
    if status == "unknown":
        raise NotFound(f"there is no budget {found.name!r} that may be changed from here")
    changed: BudgetView = yield from budget(found.id, schema=schema)
    return changed


def history(
    name: str | UUID, *, months: int = 12, tenant: str | UUID | None = None, schema: str = DEFAULT_SCHEMA
) -> Flow[list[PeriodView]]:
    """The periods of the last so many months (at most 13 are kept), the last first.

    Raises:
        InvalidValue: no such number of months.
        NotFound: there is no such budget.
    """
    if not isinstance(months, int) or not 1 <= months <= 120:
        raise InvalidValue(f"months: expected 1 to 120, not {str(months)[:40]}")
    found = yield from budget(name, tenant=tenant, schema=schema)
    periods: list[PeriodView] = yield store.read_history(found.id, months, schema=schema)
    return periods


def breakdown(
    name: str | UUID,
    by: str = "job_type",
    *,
    period: str | None = None,
    tenant: str | UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Share]]:
    """What a period's money went to, by job_type, tenant or actor, the most first (1,000 at most).

    Raises:
        InvalidValue: no such breakdown or period.
        NotFound: there is no such budget.
    """
    if by not in BREAKDOWNS:
        raise InvalidValue(f"{by[:40]!r} is no breakdown; use {', '.join(BREAKDOWNS)}")
    label = None if period is None else check_period_name(period)
    found = yield from budget(name, tenant=tenant, schema=schema)
    shares: list[Share] = yield store.read_breakdown(found.id, label, by, schema=schema)
    return shares


def lines(
    name: str | UUID,
    *,
    period: str | None = None,
    before: UUID | None = None,
    most: int = 50,
    tenant: str | UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[LineView]]:
    """The ledger's lines of a period, the last first, before the one of this id.

    Raises:
        InvalidValue: no such period.
        NotFound: there is no such budget.
    """
    label = None if period is None else check_period_name(period)
    found = yield from budget(name, tenant=tenant, schema=schema)
    page: list[LineView] = yield store.read_lines(found.id, label, before, most, schema=schema)
    return page


def declare(
    declared: Iterable[Mapping[str, Any]], *, schema: str = DEFAULT_SCHEMA
) -> Flow[list[tuple[str, str]]]:
    """Registers the budgets of the settings (`settings_budgets.declared_budgets`): name and created | changed | kept.

    Raises:
        SettingsError: one of them cannot be had.
    """
    answers: list[tuple[str, str]] = yield store.register_budgets(list(declared), schema=schema)
    refuse_budgets(answers)
    return answers


def checked_reason(reason: str | None) -> str | None:
    """A reason for the audit log. Raises InvalidValue."""
    if reason is not None and (not isinstance(reason, str) or len(reason) > LONGEST_REASON or "\0" in reason):
        raise InvalidValue(f"reason: is text of at most {LONGEST_REASON} characters")
    return reason


def _id(name: str | UUID) -> UUID | None:
    try:
        return name if isinstance(name, UUID) else UUID(name)
    except ValueError:
        return None
