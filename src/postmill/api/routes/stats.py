"""What happened lately."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query

from postmill.api.asked import Asked, may
from postmill.api.problems import Problem
from postmill.api.routes.jobs import DefinitionKey, Queue, Tenant
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate.stats import MOST_BUCKETS
from postmill.shapes.moments import Moment
from postmill.shapes.stats import Spread, Stat, Stats
from postmill.store.stats import By, read_stats
from postmill.store.stats import Spread as StoredSpread

router = new_router("stats")

_BY: dict[str, By] = {"queue": "queue", "definition": "job_type", "tenant": "tenant"}


@router.get("/stats")
async def get_stats(
    asked: Annotated[Asked, Depends(may(Action.QUEUES_READ))],
    since: Annotated[Moment | None, Query(description="The first minute; default an hour ago.")] = None,
    until: Annotated[Moment | None, Query(description="The end; default now.")] = None,
    by: Annotated[
        Literal["queue", "definition", "tenant"] | None,
        Query(description="One line for each of these; left out: all together."),
    ] = None,
    bucket_seconds: Annotated[
        int | None,
        Query(
            ge=60,
            le=31_536_000,
            description="Length of a bucket of time; left out: one for all. What is older than two days is known by the hour.",
        ),
    ] = None,
    definition_key: DefinitionKey = None,
    queue: Queue = None,
    tenant_id: Tenant = None,
) -> Stats:
    """Count what happened to jobs, and how long they waited and ran, by minutes and more."""
    if since is not None and until is not None and until <= since:
        raise Problem(422, "invalid-request", "until: must be after since")
    found = await asked.run(
        read_stats(
            since=since,
            until=until,
            bucket=bucket_seconds,
            by=None if by is None else _BY[by],
            tenant=tenant_id,
            queue=queue,
            job_type=definition_key,
            schema=asked.schema,
        )
    )
    if bucket_seconds is not None and len({stat.bucket for stat in found}) > MOST_BUCKETS:
        raise Problem(
            422,
            "invalid-request",
            f"bucket_seconds: there are more than {MOST_BUCKETS} buckets; make them longer",
        )
    return Stats(
        items=[
            Stat(
                bucket=stat.bucket,
                name=stat.name,
                counts=stat.counts,
                failure_rate=stat.failure_rate,
                retry_rate=stat.retry_rate,
                wait=_spread(stat.wait),
                run=_spread(stat.run),
                total=_spread(stat.total),
            )
            for stat in found
        ]
    )


def _spread(spread: StoredSpread | None) -> Spread | None:
    return (
        None
        if spread is None
        else Spread(average=spread.average, p50=spread.p50, p95=spread.p95, p99=spread.p99)
    )
