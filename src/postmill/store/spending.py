"""Statements by which a running attempt spends from budgets; `door`: within the scope of a request."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from postmill.domain.budget import Standing, plain, standing_of
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement

Verb = Literal["settle", "estimate", "release"]


@dataclass(frozen=True, slots=True)
class Spender:
    """The attempt that spends: its fence, and what the ledger says of it."""

    job_id: UUID
    holder: UUID
    claim_no: int
    tenant_id: UUID
    attempt: int
    job_type: str
    actor_type: str
    actor_id: str | None

    @property
    def fence(self) -> tuple[UUID, UUID, int]:
        """Job, holder and claim."""
        return self.job_id, self.holder, self.claim_no


@dataclass(frozen=True, slots=True)
class Reserved:
    """granted | deferred | stopped | lost (the job is held no more) | unknown (no such budget) | ended (this reservation is
    over). `standing`: of the budget that decided, None where there is none."""

    status: str
    standing: Standing | None


@dataclass(frozen=True, slots=True)
class Ended:
    """spent | estimated | released, or unknown: there is no such reservation. `booked`: what was newly booked, in `unit`."""

    status: str
    job_type: str | None
    unit: str | None
    booked: Decimal
    standing: Standing | None


def reserve_budget(
    id: UUID,
    name: str,
    amount: Decimal,
    spender: Spender,
    *,
    started: bool = True,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Reserved]:
    """Reserves in every budget of that name above the spender. With the same id once more it is the same reservation."""
    fence = (spender.job_id, spender.holder, spender.claim_no)
    who = (spender.tenant_id, spender.attempt, spender.job_type, spender.actor_type, spender.actor_id)
    args = (id, name, plain(amount), started, *fence, *who)
    return Statement("reserve_budget", sql("budgets/reserve_budget", schema), args, _reserved)


def door_reserve_budget(
    id: UUID,
    name: str,
    amount: Decimal,
    fence: tuple[UUID, UUID, int],
    *,
    started: bool = True,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Reserved]:
    """As `reserve_budget`, for a job of an HTTP worker."""
    args = (id, name, plain(amount), started, *fence)
    return Statement("door_reserve_budget", sql("budgets/door_reserve_budget", schema), args, _reserved)


def start_budget(
    id: UUID, fence: tuple[UUID, UUID, int], *, door: bool = False, schema: str = DEFAULT_SCHEMA
) -> Statement[bool]:
    """The call begins. False: the reservation is held no more."""
    path = "budgets/door_start_budget" if door else "budgets/start_budget"
    return Statement("start_budget", sql(path, schema), (id, *fence), lambda rows: bool(rows[0][0]))


def end_reservation(
    id: UUID,
    fence: tuple[UUID, UUID, int],
    verb: Verb,
    amount: Decimal | None = None,
    tokens_in: int = 0,
    tokens_out: int = 0,
    *,
    door: bool = False,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Ended]:
    """Ends a reservation, once: settle at `amount`, estimate at what was reserved, or release."""
    path = "budgets/door_end_reservation" if door else "budgets/end_reservation"
    args = (id, *fence, verb, None if amount is None else plain(amount), tokens_in, tokens_out)
    return Statement("end_reservation", sql(path, schema), args, _ended)


def budget_standing(
    name: str, tenant: UUID, *, door: bool = False, schema: str = DEFAULT_SCHEMA
) -> Statement[list[Standing]]:
    """Where the budgets of that name above a tenant's jobs stand, the most used up first."""
    return Statement(
        "budget_standing",
        sql("budgets/door_budget_standing" if door else "budgets/budget_standing", schema),
        (name, tenant),
        lambda rows: [standing_of(exact(row[0])) for row in rows],
    )


def budget_names(tenant: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """The budgets that a tenant's jobs may spend from."""
    return Statement(
        "budget_names", sql("budgets/budget_names", schema), (tenant,), lambda rows: [row[0] for row in rows]
    )


def exact(text: str) -> dict[str, Any]:
    """A JSON object whose numbers keep every digit."""
    found: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return found


def _standing(text: str | None) -> Standing | None:
    return None if text is None else standing_of(exact(text))


def _reserved(rows: Rows) -> Reserved:
    status, figures = rows[0]
    return Reserved(status, _standing(figures))


def _ended(rows: Rows) -> Ended:
    status, job_type, unit, booked, figures = rows[0]
    return Ended(status, job_type, unit, Decimal(booked or 0), _standing(figures))
