"""The logger that a handler gets: structlog, bound to its job."""

from __future__ import annotations

from typing import Any

import structlog


def job_log(info: Any) -> Any:
    """A logger whose lines carry the job's id, type, tenant, attempt and the ids that trace it."""
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
    return structlog.get_logger("postmill.job").bind(**bound)
