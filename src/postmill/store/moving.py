"""Statements on jobs that wait in another queue than the one that their job type belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

MOST_LOOKED_AT = 10_000
"""The oldest tickets of each state in which a look finds strays."""


@dataclass(frozen=True, slots=True)
class Home:
    """A job type's name, and the queue that it belongs to."""

    job_type: str
    queue: str


@dataclass(frozen=True, slots=True)
class Strays:
    """Jobs of one type whose tickets are in another queue (`queue`) than their type's (`home`)."""

    job_type: str
    queue: str
    home: str
    waiting: int
    running: int


@dataclass(frozen=True, slots=True)
class Batch:
    """How many jobs one batch moved, and after which id the next one looks; None: that was the last."""

    moved: int
    looked_at: UUID | None


def home_of(name: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[Home | None]:
    """The job type of this name or alias, active or not."""
    return Statement(
        "home_of", sql("queues/home_of", schema), (name,), lambda rows: Home(*rows[0]) if rows else None
    )


def move_jobs(
    job_type: str,
    queue: str,
    *,
    after: UUID | None,
    most: int,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Batch]:
    """Takes waiting jobs of a type into a queue: those among the next `most` tickets of each state."""
    args = (job_type, queue, after, most, actor_type, actor_id)
    return Statement("move_jobs", sql("queues/move_jobs", schema), args, lambda rows: Batch(*rows[0]))


def strays(
    job_type: str | None = None, *, most: int = MOST_LOOKED_AT, schema: str = DEFAULT_SCHEMA
) -> Statement[list[Strays]]:
    """Jobs outside of their type's queue, among the `most` oldest tickets of each state; most first."""
    return Statement(
        "strays", sql("queues/strays", schema), (job_type, most), lambda rows: [Strays(*row) for row in rows]
    )
