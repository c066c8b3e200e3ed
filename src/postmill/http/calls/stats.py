"""What happened lately."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from postmill.http.call import Call, Id, at, get, model
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
