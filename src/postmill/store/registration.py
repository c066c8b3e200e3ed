"""Statements on the allow-list of job types."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from postmill.domain.job_type import JobType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


def register_job_types(
    job_types: Iterable[JobType[..., ..., Any]], *, max_lost: int = 3, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[str, str]]:
    """Upserts job types and their queues. What an operator edited stays.

    Answer per name: created | changed | unchanged | kept (some fields are the operator's) | other_kind (the name is a
    command's, or one of http workers) | other_queue (its queue is one of http workers).
    """
    rows = json.dumps([_registered(job_type) | {"max_lost": max_lost} for job_type in job_types])
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


def fingerprint(job_type: JobType[..., ..., Any]) -> str:
    """What tells one version of a type's code from another, as far as its definition goes."""
    row = _row(job_type.definition())
    return sha256(json.dumps(row, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _registered(job_type: JobType[..., ..., Any]) -> dict[str, Any]:
    return _row(job_type.definition()) | {"fingerprint": fingerprint(job_type)}


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
        "idempotency_content": definition["idempotency_content"],
        "keep": definition["keep"],
        # A type with a limit has lanes of its own, so that at its cap it never sits in front of others.
        "lane": "type" if rate or definition["worker_limit"] else definition["lane"] or "tenant",
        "worker_limit": definition["worker_limit"],
        "aliases": definition["aliases"],
        "category": definition["category"],
        "strict_envelope": definition["strict_envelope"],
        "secrets": definition["secrets"],
        "secret_keys": definition["secret_keys"],
        "encrypted": definition["encrypted"],
        "budget": definition["budget"],
        "replay_class": definition["replay_class"],
        "action": definition["action"],
        "escalation_fields": definition["escalation_fields"],
        "log_fields": definition["log_fields"],
        "limits": definition["limits"],
    }
