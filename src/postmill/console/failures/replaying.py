"""The way from failures to the wizard of bulk operations: which dead letters are meant, in the query language."""

from __future__ import annotations

from postmill.console.frame.visit import Visit
from postmill.domain.query_words import written


def wizard(
    visit: Visit,
    *,
    error: str | None = None,
    job_type: str | None = None,
    queue: str | None = None,
    tenant: str | None = None,
) -> str:
    """A link to the wizard with the open dead letters that have all of this; `tenant` is a slug, None within one."""
    asked = {"error": error, "type": job_type, "queue": queue, "tenant": tenant}
    terms = [f"{name}:{written(value)}" for name, value in asked.items() if value is not None]
    return visit.url("/ops-log/new", q=" ".join(["state:dead_letter", *terms]))
