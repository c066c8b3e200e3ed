"""Limits over the whole fleet: how many jobs run at once, and how often they start."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.limit import Rate
from postmill.operate import limits
from postmill.shapes.limits import FleetLimit, FleetLimitDetail, LimitRate, LimitUse, NewLimit
from postmill.shapes.paging import Page
from postmill.store.limits import LimitView

router = new_router("limits")

PATH = "/limits"

Name = Annotated[
    str,
    Path(
        min_length=1,
        max_length=500,
        description="type:NAME, queue:NAME, tenant:SLUG or all; what is counted each for itself behind a slash.",
        examples=["type:screenshot"],
    ),
]
Read = Annotated[Asked, Depends(may(Action.QUEUES_READ))]
Write = Annotated[Asked, Depends(may(Action.QUEUES_WRITE))]
Reason = Annotated[str | None, Query(max_length=2000, description="Why; for the audit log.")]


@router.get(PATH)
async def list_limits(asked: Read, limit: Limit = 50, cursor: Cursor = None) -> Page[FleetLimit]:
    """Limits over the whole fleet, by name; a tenant sees those that are on it alone."""
    after = parts_of(cursor, str)[0] if cursor else ""
    found = await asked.drive(limits.limits(after=after, most=limit, schema=asked.schema))
    items = [FleetLimit(**_fields(one)) for one in found]
    return Page(items=items, next=cursor_of(items[-1].name) if len(items) == limit else None)


@router.get(PATH + "/{limit_name:path}")
async def get_limit(limit_name: Name, asked: Read) -> FleetLimitDetail:
    """One limit, with the fullest of what it counts."""
    found = await asked.drive(limits.limit(limit_name, schema=asked.schema))
    keys = await asked.drive(limits.limit_keys(found.name, schema=asked.schema))
    return FleetLimitDetail(**_fields(found), fullest=[LimitUse.model_validate(key) for key in keys])


@router.put(PATH + "/{limit_name:path}")
async def set_limit(limit_name: Name, body: NewLimit, asked: Write) -> FleetLimit:
    """Set a limit, live: it wins over what code and settings declare until it is cleared. Running jobs go on."""
    await _may(limit_name, asked)
    rate = None if body.rate is None else Rate(body.rate.count, body.rate.seconds, body.rate.burst)
    flow = limits.set_limit(
        limit_name, max_running=body.max_running, rate=rate, reason=body.reason, schema=asked.schema
    )
    return FleetLimit(**_fields(await asked.drive(flow)))


@router.delete(PATH + "/{limit_name:path}", status_code=204)
async def clear_limit(limit_name: Name, asked: Write, reason: Reason = None) -> None:
    """Take back what an operator set: what code or settings declare is in force again."""
    await _may(limit_name, asked)
    await asked.drive(limits.clear_limit(limit_name, reason=reason, schema=asked.schema))


async def _may(name: str, asked: Asked) -> None:
    """A tenant's own limit is a setting of the tenant."""
    needed = Action.TENANTS_WRITE
    if name.startswith("tenant:") and not asked.principal.may(needed):
        raise await asked.denied(
            needed, f"the role {asked.principal.role} may not {needed}", target=name[:200]
        )


def _fields(one: LimitView) -> dict[str, Any]:
    rate = one.rate
    return {
        "name": one.name,
        "queue": one.queue,
        "job_type": one.job_type,
        "tenant": one.tenant,
        "per": one.per,
        "max_running": one.max_running,
        "rate": None
        if rate is None
        else LimitRate(count=rate.count, seconds=rate.seconds, burst=rate.capacity),
        "declared": one.declared is not None,
        "edited": one.edited,
        "running": one.running,
        "keys": one.keys,
        "at_cap": one.at_cap,
        "wait_seconds": one.wait_seconds,
    }
