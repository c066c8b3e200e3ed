"""Statements on the allow-list of job types."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from postmill.domain.job_type import JobType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


def register_job_types(
    job_types: Iterable[JobType[..., ..., Any]], *, max_lost: int = 3, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[str, str]]:
    """Upserts job types and their queues. What an operator edited stays.

    Answer per name: created | changed | unchanged | kept (some fields are the operator's).
    """
    rows = json.dumps([_row(job_type.definition()) | {"max_lost": max_lost} for job_type in job_types])
    return Statement(
        "register_job_types",
        sql("jobs/register_job_types", schema),
        (rows,),
        lambda rows: dict(map(tuple, rows)),
    )


def job_type_names(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """The names and aliases of the active job types, at most 1,000."""
    return Statement(
        "job_type_names", sql("jobs/job_type_names", schema), (), lambda rows: [row[0] for row in rows]
    )


def _row(definition: dict[str, Any]) -> dict[str, Any]:
    """A definition in the column names of job_definition."""
    ttl = definition["idempotency_window_seconds"]
    rate = definition["rate"]
    return {
        "key": definition["name"],
        "description": definition["description"],
        "arg_schema": definition["arg_schema"],
        "queue": definition["queue"],
        "priority": 100 if definition["priority"] is None else definition["priority"],
        "max_attempts": definition["max_attempts"],
        "timeout_seconds": definition["timeout_seconds"],
        "retry": definition["retry"],
        "on_exhausted": definition["on_exhausted"],
        "idempotency": definition["idempotency_mode"],
        "idempotency_ttl": None if ttl is None else f"{ttl} seconds",
        "keep": definition["keep"],
        # A type with a limit has lanes of its own, so that at its cap it never sits in front of others.
        "lane": "type" if rate or definition["worker_limit"] else definition["lane"] or "tenant",
        "worker_limit": definition["worker_limit"],
        "aliases": definition["aliases"],
        "rate": rate and {"count": rate["count"], "seconds": rate["per"], "burst": rate["burst"]},
    }
