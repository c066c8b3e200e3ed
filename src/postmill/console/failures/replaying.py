"""The way from failures to the wizard of bulk operations: which dead letters are meant, in the query language."""

from __future__ import annotations

from collections.abc import Sequence

from postmill.console.frame.visit import Visit
from postmill.domain.query_words import written


def wizard(
    visit: Visit,
    *,
    error: str | None = None,
    job_type: str | None = None,
    queue: str | Sequence[str] | None = None,
    tenant: str | None = None,
) -> str:
    """A link to the wizard with the open dead letters that have all of this (of several queues: one of them); `tenant` is a
    slug, None within one.

    Which jobs is answered by then, so it begins with what an act would meet.
    """
    queues = [queue] if isinstance(queue, str) else queue or []
    asked = {"error": [error], "type": [job_type], "queue": queues, "tenant": [tenant]}
    terms = [
        f"{name}:{','.join(written(one) for one in values if one is not None)}"
        for name, values in asked.items()
        if any(values)
    ]
    return visit.url("/ops-log/new", q=" ".join(["state:dead_letter", *terms]), step="impact")
