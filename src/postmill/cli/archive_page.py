"""What the archive has of one job, as a page."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from postmill.cli.tables import pairs, state, table
from postmill.operate.archive import ArchivedJob

_ATTEMPT = ("run", "status", "started", "finished", "error")


def archived_page(found: ArchivedJob) -> RenderableType:
    """Facts first, then payload and result, then the attempts."""
    job, outcome, letter = found.job or {}, found.outcome or {}, found.dead_letter or {}
    status = outcome.get("status") or ("dead_letter" if letter else None)
    end = letter or outcome
    facts: list[tuple[str, RenderableType | None]] = [
        ("job", str(found.id)),
        ("type", job.get("job_type")),
        ("status", None if status is None else state(status)),
        ("queue", job.get("queue") or letter.get("queue")),
        ("tenant", job.get("tenant_id") or end.get("tenant_id")),
        ("made", job.get("created_at")),
        ("finished", outcome.get("finished_at") or letter.get("failed_at")),
        ("reason", end.get("reason")),
        ("error", _error(end)),
        ("payload", _json(job, "payload")),
        ("result", _json(outcome, "result")),
    ]
    parts: list[RenderableType] = [pairs(facts)]
    if found.attempts:
        rows = [
            (str(one["run"]), state(one["status"]), one["started_at"], one["finished_at"], _error(one))
            for one in found.attempts
        ]
        parts += [Text(), table(_ATTEMPT, rows)]
    return Group(*parts)


def _error(row: dict[str, Any]) -> str | None:
    return ": ".join(part for part in (row.get("error_class"), row.get("error_message")) if part) or None


def _json(row: dict[str, Any], name: str) -> str | None:
    return None if row.get(name) is None else json.dumps(row[name], ensure_ascii=False)
