"""How a worker over HTTP spends from budgets. Each call may be sent again: reservations are known by their ids."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from uuid import UUID, uuid4

from postmill.http.call import Call, Id, at, json_headers, json_of, model
from postmill.shapes.spending import ReservationAnswer


def reserve_budget(
    job_id: Id,
    fence: str,
    budget: str,
    amount: Decimal | float,
    *,
    reservation_id: UUID | None = None,
    started: bool | None = None,
) -> Call[ReservationAnswer]:
    """Reserves what a call will cost at most. `deferred`: do nothing and complete; `stopped`: fail, not to be retried.

    Args:
        reservation_id: None: a new one.
        started: False: nothing is called before `start`; until then a worker's death frees it in place of booking it.
    """
    body = {
        "fence": fence,
        "budget": budget,
        "amount": amount,
        "reservation_id": reservation_id or uuid4(),
        "started": started,
    }
    return _call((job_id, "reservations"), body)


def start_reservation(job_id: Id, reservation_id: Id, fence: str) -> Call[ReservationAnswer]:
    """Tells that the call begins now. Conflict: do not call."""
    return _call((job_id, "reservations", reservation_id, "start"), {"fence": fence})


def settle_reservation(
    job_id: Id,
    reservation_id: Id,
    fence: str,
    *,
    amount: Decimal | float | None = None,
    tokens_in: int | None = None,
    tokens_out: int | None = None,
) -> Call[ReservationAnswer]:
    """Books what the call has cost; None: what was reserved."""
    body = {"fence": fence, "amount": amount, "tokens_in": tokens_in, "tokens_out": tokens_out}
    return _call((job_id, "reservations", reservation_id, "settle"), body)


def release_reservation(job_id: Id, reservation_id: Id, fence: str) -> Call[ReservationAnswer]:
    """Frees what was reserved: the call was not made."""
    return _call((job_id, "reservations", reservation_id, "release"), {"fence": fence})


def _call(path: tuple[Id, ...], body: Mapping[str, object]) -> Call[ReservationAnswer]:
    where = at("worker", "jobs", *path)
    return Call("POST", where, model(ReservationAnswer), headers=json_headers(body), content=json_of(body))
