"""What happened lately, and causes of failures."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from postmill.http.call import Call, Id, at, get, model
from postmill.shapes.errors import ErrorGroup, WholeErrorGroup
from postmill.shapes.paging import Page
from postmill.shapes.stats import Stats


def get_stats(
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    by: Literal["queue", "definition", "tenant"] | None = None,
    bucket_seconds: int | None = None,
    definition_key: str | None = None,
    queue: str | None = None,
    tenant_id: Id | None = None,
) -> Call[Stats]:
    """What happened to jobs between two moments (default: the last hour), and how long they waited and ran."""
    return get(
        at("stats"),
        model(Stats),
        since=since,
        until=until,
        by=by,
        bucket_seconds=bucket_seconds,
        definition_key=definition_key,
        queue=queue,
        tenant_id=tenant_id,
    )


def list_error_groups(
    *,
    definition_key: str | None = None,
    error_class: str | None = None,
    since: datetime | None = None,
    tenant_id: Id | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[ErrorGroup]]:
    """Causes of failures, those seen last first."""
    return get(
        at("errors"),
        model(Page[ErrorGroup]),
        definition_key=definition_key,
        error_class=error_class,
        since=since,
        tenant_id=tenant_id,
        limit=limit,
        cursor=cursor,
    )


def get_error_group(group_id: str) -> Call[WholeErrorGroup]:
    """One cause of failures, and whom it affects."""
    return get(at("errors", group_id), model(WholeErrorGroup))
