"""How workers over HTTP spend from budgets, under the fence of a job that they hold. Flows."""

from __future__ import annotations

from decimal import Decimal
from typing import TypeAlias
from uuid import UUID, uuid4

from postmill.domain.budget import amount, tokens
from postmill.domain.budget_fields import check_budget_name
from postmill.domain.errors import LeaseLost, NotFound
from postmill.store import spending as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.spending import Ended, Reserved

Fence: TypeAlias = tuple[UUID, UUID, int]
"""Job, session and number of the claim."""

_OVER = "this fence holds no more: the job's lease ended, or it was reported already; do not call"


def reserve(
    fence: Fence,
    name: str,
    cost: Decimal,
    *,
    id: UUID | None = None,
    started: bool = True,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[tuple[UUID, Reserved]]:
    """The reservation's id, and granted, deferred or stopped.

    Raises:
        InvalidValue: no name of a budget, or no amount.
        NotFound: there is no such budget that the job's tenant may spend from.
        LeaseLost: the fence holds no more, or this reservation was ended.
    """
    own = id or uuid4()
    answer: Reserved = yield store.door_reserve_budget(
        own, check_budget_name(name), amount(cost), fence, started=started, schema=schema
    )
    if answer.status == "unknown":
        raise NotFound(f"there is no budget {name!r} that this job may spend from")
    if answer.status == "lost":
        raise LeaseLost(_OVER)
    if answer.status == "ended":
        raise LeaseLost("this reservation is over; make a new one, with another id")
    return own, answer


def start(id: UUID, fence: Fence, *, schema: str = DEFAULT_SCHEMA) -> Flow[None]:
    """The call begins now.

    Raises:
        LeaseLost: the reservation is held no more.
    """
    if not (yield store.start_budget(id, fence, door=True, schema=schema)):
        raise LeaseLost("this reservation is held no more; do not call")


def settle(
    id: UUID,
    fence: Fence,
    cost: Decimal | None,
    tokens_in: int = 0,
    tokens_out: int = 0,
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[Ended]:
    """Books what a call has cost; None: what was reserved.

    Raises:
        InvalidValue: no amount.
        NotFound: there is no such reservation under this fence.
    """
    exact = None if cost is None else amount(cost)
    inwards, outwards = tokens(tokens_in), tokens(tokens_out)
    ended: Ended = yield store.end_reservation(
        id, fence, "settle", exact, inwards, outwards, door=True, schema=schema
    )
    return _known(id, ended)


def release(id: UUID, fence: Fence, *, schema: str = DEFAULT_SCHEMA) -> Flow[Ended]:
    """Frees what was reserved.

    Raises:
        NotFound: there is no such reservation under this fence.
    """
    ended: Ended = yield store.end_reservation(id, fence, "release", door=True, schema=schema)
    return _known(id, ended)


def _known(id: UUID, ended: Ended) -> Ended:
    if ended.status == "unknown":
        raise NotFound(f"there is no reservation {id} under this fence")
    return ended
