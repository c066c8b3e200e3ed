"""Statements on pauses of job types."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class TypePause:
    """A pause that holds a job type back now. Tenants are not told by whom.

    Attributes:
        resume_at: when it ends by itself; None: when somebody resumes it.
        queue: of the job type; None: the type is known no more.
        held: jobs within the scope that a worker has put back for it, counted up to 10,001.
    """

    job_type: str
    paused_at: datetime
    paused_by: str | None
    reason: str | None
    resume_at: datetime | None
    queue: str | None = None
    held: int = 0


def door_pause_type(
    job_type: str,
    *,
    reason: str | None = None,
    resume_at: datetime | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[bool]:
    """Holds back the jobs of a type until it is resumed, or until `resume_at`. False: no such type in scope."""
    args = (job_type, reason, resume_at, actor_type, actor_id)
    return Statement(
        "door_pause_type", sql("definitions/door_pause_type", schema), args, lambda rows: bool(rows[0][0])
    )


def door_resume_type(
    job_type: str,
    *,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[bool]:
    """Lets the jobs of a type run again. False: no such type in scope."""
    args = (job_type, actor_type, actor_id)
    return Statement(
        "door_resume_type", sql("definitions/door_resume_type", schema), args, lambda rows: bool(rows[0][0])
    )


def read_type_pauses(
    job_type: str | None = None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[TypePause]]:
    """Pauses that hold now, of one job type or of all."""
    return Statement(
        "read_type_pauses",
        sql("definitions/read_type_pauses", schema),
        (job_type,),
        lambda rows: [TypePause(*row) for row in rows],
    )
