"""What happened lately, for every face: counts and lengths of time, and the causes of failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.domain.errors import NotFound
from postmill.domain.queue import match_queue
from postmill.store import error_groups as groups
from postmill.store import queues
from postmill.store import stats as on_stats
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.error_groups import AffectedTenant, ErrorGroupView
from postmill.store.flow import Flow
from postmill.store.stats import By, Stat

MOST_BUCKETS = 1_500


@dataclass(frozen=True, slots=True)
class WholeErrorGroup:
    """A group, and the tenants that it affects."""

    group: ErrorGroupView
    tenants: list[AffectedTenant]


def stats(
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    seconds: float = 3600.0,
    bucket: float | None = None,
    by: By | None = None,
    tenant: UUID | None = None,
    queue: str | None = None,
    job_type: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Stat]]:
    """What happened between two moments, by queue, job type or tenant (None: all together).

    Args:
        since: the first minute; None: so many `seconds` before `until` (default an hour).
        until: the end; None: now.
        bucket: seconds, 60 or more; None: one bucket for all. Minutes older than two days are known by the hour only.

    Raises:
        ValueError: a bucket below a minute, or more than 1,500 of them.
        UnknownQueue: with what exists and what was probably meant.
    """
    if bucket is not None:
        if since is not None and until is not None:
            seconds = (until - since).total_seconds()
        if bucket < 60 or ((since is None or until is not None) and seconds / bucket > MOST_BUCKETS):
            raise ValueError(f"a bucket has 60 seconds or more, and there are at most {MOST_BUCKETS}")
    if queue is not None:
        queue = match_queue(queue, (yield queues.queue_names(schema=schema)))
    found: list[Stat] = yield on_stats.read_stats(
        since=since,
        until=until,
        seconds=seconds,
        bucket=bucket,
        by=by,
        tenant=tenant,
        queue=queue,
        job_type=job_type,
        schema=schema,
    )
    return found


def error_groups(
    *,
    tenant: UUID | None = None,
    job_type: str | None = None,
    error_class: str | None = None,
    since: datetime | None = None,
    before: tuple[datetime, str] | None = None,
    most: int = 50,
    statuses: Sequence[str] | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[ErrorGroupView]]:
    """Causes of failures, those seen last first; `before` is the `position` of the last one read."""
    found: list[ErrorGroupView] = yield groups.read_error_groups(
        tenant=tenant,
        job_type=job_type,
        error_class=error_class,
        since=since,
        before=before,
        most=most,
        statuses=statuses,
        schema=schema,
    )
    return found


def error_group(id: str, *, schema: str = DEFAULT_SCHEMA) -> Flow[WholeErrorGroup]:
    """One cause of failures with the tenants that it affects.

    Raises:
        NotFound: there is none (in scope).
    """
    found: list[ErrorGroupView] = yield groups.read_error_groups(id=id, most=1, schema=schema)
    if not found:
        raise NotFound(f"there is no error group {id}")
    tenants: list[AffectedTenant] = yield groups.read_error_tenants(id, schema=schema)
    return WholeErrorGroup(found[0], tenants)
