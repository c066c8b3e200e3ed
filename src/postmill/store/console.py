"""Statements of the console's frame."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


def begin_reading(seconds: float, *, schema: str = DEFAULT_SCHEMA) -> Statement[datetime]:
    """Makes the request's transaction read-only, with a bound for each query; the database's time."""
    return Statement(
        "begin_reading",
        sql("console/begin_reading", schema),
        (str(round(seconds * 1000)),),
        lambda rows: rows[0][0],
    )


def tenant_slugs(ids: Iterable[UUID], *, schema: str = DEFAULT_SCHEMA) -> Statement[dict[UUID, str]]:
    """The names of tenants, for lists that have their ids; within the scope."""
    return Statement(
        "tenant_slugs",
        sql("console/tenant_slugs", schema),
        (list(set(ids)),),
        lambda rows: {row[0]: row[1] for row in rows},
    )
