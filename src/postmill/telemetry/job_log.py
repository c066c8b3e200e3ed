"""The logger that a handler gets: structlog, bound to its job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from postmill.telemetry.log_lines import payload_fields, with_aliases


def job_log(info: Any, worker_id: str = "", fields: Mapping[str, object] | None = None) -> Any:
    """A logger whose lines carry the job's id, type, tenant, attempt, the ids that trace it, and the payload fields that
    its type names (`log_fields`)."""
    bound = {
        name: value if isinstance(value, int) else str(value)
        for name in (
            "id",
            "job_type",
            "queue",
            "tenant_id",
            "project_id",
            "request_id",
            "correlation_id",
            "attempt",
        )
        if (value := getattr(info, name, None)) is not None
    }
    bound["job_id"] = bound.pop("id", "")
    if worker_id:
        bound["worker_id"] = worker_id
    if fields:
        bound |= payload_fields(fields, with_aliases(dict(bound)))
    return structlog.get_logger("postmill.job").bind(**bound)
