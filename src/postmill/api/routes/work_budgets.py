"""Workers in other languages spend from budgets: reserve, start, settle, release."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends

from postmill.api.asked import Asked, may
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.budget import Standing
from postmill.domain.errors import LeaseLost
from postmill.domain.fence import read_fence
from postmill.operate import spending
from postmill.shapes.spending import HeldReservation, ReservationAnswer, ReserveBudget, SettleReservation
from postmill.store.spending import Ended

router = new_router("worker")

Worker = Annotated[Asked, Depends(may(Action.WORK))]

JOB = "/worker/jobs/{job_id:uuid}/reservations"
ONE = JOB + "/{reservation_id:uuid}"


@router.post(JOB)
async def reserve_budget(job_id: UUID, body: ReserveBudget, asked: Worker) -> ReservationAnswer:
    """Reserve what a call will cost at most, before it is made. Settle it after the call, or release it.

    Sent again with the same `reservation_id` it reserves once. If the worker dies, what was reserved is booked when the
    job's lease is over, or freed if it was never started. 409: the fence holds no more.
    """
    id, found = await asked.drive(
        spending.reserve(
            _fence(job_id, body.fence),
            body.budget,
            body.amount,
            id=body.reservation_id,
            started=body.started,
            schema=asked.schema,
        )
    )
    return _answer(id, found.status, found.standing)


@router.post(ONE + "/start")
async def start_reservation(
    job_id: UUID, reservation_id: UUID, body: HeldReservation, asked: Worker
) -> ReservationAnswer:
    """Tell that the call begins now, of a reservation made with `started: false`. 409: do not call."""
    fence = _fence(job_id, body.fence)
    await asked.drive(spending.start(reservation_id, fence, schema=asked.schema))
    return _answer(reservation_id, "granted", None)


@router.post(ONE + "/settle")
async def settle_reservation(
    job_id: UUID, reservation_id: UUID, body: SettleReservation, asked: Worker
) -> ReservationAnswer:
    """Book what a call has cost. Once: sent again it changes nothing."""
    cost = body.amount, body.tokens_in, body.tokens_out
    ended = await asked.drive(
        spending.settle(reservation_id, _fence(job_id, body.fence), *cost, schema=asked.schema)
    )
    return _ended(asked, reservation_id, ended)


@router.post(ONE + "/release")
async def release_reservation(
    job_id: UUID, reservation_id: UUID, body: HeldReservation, asked: Worker
) -> ReservationAnswer:
    """Free what was reserved: the call was not made."""
    ended = await asked.drive(
        spending.release(reservation_id, _fence(job_id, body.fence), schema=asked.schema)
    )
    return _ended(asked, reservation_id, ended)


def _fence(job_id: UUID, fence: str) -> spending.Fence:
    read = read_fence(fence)
    if read is None:
        raise LeaseLost("this fence is none that was ever given")
    return job_id, *read


def _ended(asked: Asked, id: UUID, ended: Ended) -> ReservationAnswer:
    if ended.booked and ended.job_type and ended.unit:
        asked.backend.desk.counters.spend(ended.job_type, ended.unit, float(ended.booked))
    return _answer(id, ended.status, ended.standing)


def _answer(id: UUID, status: str, standing: Standing | None) -> ReservationAnswer:
    return ReservationAnswer.model_validate(
        {
            "reservation_id": id,
            "status": status,
            "level": standing and standing.level.value,
            "factor": standing and standing.factor,
            "ends_at": standing and standing.ends_at,
        }
    )
