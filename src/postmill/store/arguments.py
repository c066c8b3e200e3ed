"""New jobs as the arguments of statements: one value per option, or one array per option that is used."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from postmill.domain.job import NewJob
from postmill.domain.lane import DEFAULT_TENANT


def interval(length: timedelta | None) -> str | None:
    """An interval as text in seconds.

    Drivers would send days as days, and a day of an interval is 23 or 25 hours where the session's clock is
    set.
    """
    if length is None:
        return None
    micros = length // timedelta(microseconds=1)
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    return f"{sign}{micros // 1_000_000}.{micros % 1_000_000:06} seconds"


def column(values: Sequence[Any], absent: Any = None) -> list[Any] | None:
    """The values of one option, or None where no job uses it."""
    return None if all(value == absent for value in values) else list(values)


def envelope(job: NewJob) -> tuple[Any, ...]:
    """The options of one job in the order of enqueue_one.sql, from $3 on."""
    return (
        job.tenant_id,
        job.priority,
        interval(job.delay),
        job.scheduled_for,
        job.project_id,
        job.max_attempts,
        job.timeout,
        job.expires_at,
        job.source,
        job.source_ref,
        job.actor_type,
        job.actor_id,
        job.request_id,
        job.correlation_id,
        job.traceparent,
        job.lane_key,
    )


def arrays(jobs: Sequence[NewJob]) -> tuple[list[Any] | None, ...]:
    """The jobs as arrays in the order of enqueue_many.sql, without the wait ($21); the lanes are $22, the tags $23."""
    return (
        [job.job_type for job in jobs],
        [job.payload.decode() for job in jobs],
        column([job.tenant_id for job in jobs], DEFAULT_TENANT),
        column([job.key for job in jobs]),
        column([job.mode and job.mode.value for job in jobs]),
        column([interval(job.window) for job in jobs]),
        column([job.priority for job in jobs]),
        column([interval(job.delay) for job in jobs]),
        column([job.scheduled_for for job in jobs]),
        column([job.project_id for job in jobs]),
        column([job.max_attempts for job in jobs]),
        column([job.timeout for job in jobs]),
        column([job.expires_at for job in jobs]),
        column([job.source for job in jobs], "manual"),
        column([job.source_ref for job in jobs]),
        column([job.actor_type for job in jobs], "system"),
        column([job.actor_id for job in jobs]),
        column([job.request_id for job in jobs]),
        column([job.correlation_id for job in jobs]),
        column([job.traceparent for job in jobs]),
        column([job.lane_key for job in jobs]),
        column([json.dumps(job.tags) if job.tags else None for job in jobs]),
    )
