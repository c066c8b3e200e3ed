"""The statement that gives jobs tags; see `doors` for who acts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Tagged:
    """changed | unchanged (it had them) | full (it would have more than 8) | unknown."""

    id: UUID
    status: str


def door_tag_jobs(
    ids: Sequence[UUID],
    add: Sequence[str],
    remove: Sequence[str],
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Tagged]]:
    """Gives jobs tags and takes others away, in whatever state they are; audited."""
    args = (list(ids), list(add), list(remove), reason, actor_type, actor_id)
    return Statement(
        "door_tag_jobs",
        sql("jobs/door_tag_jobs", schema),
        args,
        lambda rows: [Tagged(*row) for row in rows],
    )
