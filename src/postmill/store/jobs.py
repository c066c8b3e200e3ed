"""Statements on jobs that exist: what may be done to them, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from postmill.domain.job import JobView
from postmill.domain.job_options import ActorType
from postmill.domain.lifecycle import State
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.job_rows import AttemptView, JobPage, job_page, job_view
from postmill.store.statement import Statement

MOST_LOOKED_AT = 10_000
"""How many tickets one page of a list looks at, however rare its filter is."""

NEWEST = UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class Canceled:
    """canceled: it waited and is over. requested: it runs and will hear of it. finished, unknown: no more.

    serialization: above READ COMMITTED the caller's snapshot does not fit what others did since; nothing was
    done, and the transaction must be run again.
    """

    id: UUID
    status: Literal["canceled", "requested", "finished", "unknown", "serialization"]


@dataclass(frozen=True, slots=True)
class Rerun:
    """What a retry or replay did; `new_id` is the new job, or the one that stands in the way.

    due: it waited for its next attempt, and is due now. replayed: runs again as `new_id`. live: a replay of
    it is live already. already_replayed: one has ended; replay that one, or ask for it again. unconfirmed:
    its definition says `replay_class = ask`; confirm it. never: its definition forbids it. key_held: its key
    belongs to another live job. succeeded_since: a later job with its key, or its type and payload, has succeeded
    (`new_id`). old_version: its definition has not come to the version asked for.
    version_gone: nobody can run the version that it was made under. waiting | running | succeeded | unknown:
    nothing to do. Other statuses are those of an enqueue that was refused.
    """

    id: UUID
    status: str
    new_id: UUID | None


@dataclass(frozen=True, slots=True)
class Discarded:
    """discarded: the dead letter is closed as failed. not_dead | unknown: nothing to do."""

    id: UUID
    status: str


def cancel_jobs(
    ids: Sequence[UUID],
    *,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    reason: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Canceled]]:
    """Ends jobs that wait, and asks those that run to end."""
    args = (list(ids), actor_type, actor_id, reason)
    return Statement(
        "cancel_jobs", sql("jobs/cancel_jobs", schema), args, lambda rows: [Canceled(*r) for r in rows]
    )


def retry_jobs(
    ids: Sequence[UUID],
    *,
    confirm: bool = False,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Rerun]]:
    """Makes jobs due that wait for their next attempt; replays those that ended without success.

    confirm: those whose definition wants to be asked (`replay_class = ask`), too.
    """
    args = (list(ids), actor_type, actor_id, confirm)
    return Statement(
        "retry_jobs", sql("jobs/retry_jobs", schema), args, lambda rows: [Rerun(*r) for r in rows]
    )


def replay_jobs(
    ids: Sequence[UUID],
    *,
    payload: bytes | None = None,
    again: bool = False,
    confirm: bool = False,
    despite_success: bool = False,
    version: int | None = None,
    original_version: bool = False,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Rerun]]:
    """Runs ended jobs again as new ones with lineage, with another payload if one is given.

    again: those that were replayed already, too. confirm: those whose definition wants to be asked (`replay_class = ask`), too.
    despite_success: also those of which a later job with the same key, or the same type and payload, has succeeded.
    version: only once the definition is at it. original_version: each under the version of its definition that it was made
    under, so that only workers which run this version take it.
    """
    text = None if payload is None else payload.decode()
    args = (list(ids), actor_type, actor_id, text, again, confirm, despite_success, version, original_version)
    return Statement(
        "replay_jobs", sql("jobs/replay_jobs", schema), args, lambda rows: [Rerun(*r) for r in rows]
    )


def discard_jobs(
    ids: Sequence[UUID], *, reason: str | None = None, schema: str = DEFAULT_SCHEMA
) -> Statement[list[Discarded]]:
    """Closes dead letters as failed; `reason` replaces theirs."""
    args = (list(ids), reason)
    return Statement(
        "discard_jobs", sql("jobs/discard_jobs", schema), args, lambda rows: [Discarded(*r) for r in rows]
    )


def job_state(ids: Sequence[UUID], *, schema: str = DEFAULT_SCHEMA) -> Statement[list[JobView]]:
    """Where these jobs stand, in no order; those that do not exist are left out."""
    return Statement(
        "job_state", sql("jobs/job_state", schema), (list(ids),), lambda rows: [*map(job_view, rows)]
    )


def job_attempts(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[AttemptView]]:
    """Every execution of a job, the first one first, the running one last."""
    return Statement(
        "job_attempts", sql("jobs/job_attempts", schema), (id,), lambda rows: [AttemptView(*r) for r in rows]
    )


def list_jobs(
    *,
    state: State | None = None,
    job_type: str | None = None,
    queue: str | None = None,
    tenant: UUID | None = None,
    before: UUID | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[JobPage]:
    """One page of jobs, newest first. A page may be short and still have a `before` to go on from."""
    args = (state and state.value, job_type, queue, tenant, before or NEWEST, most, max(MOST_LOOKED_AT, most))
    return Statement("list_jobs", sql("jobs/list_jobs", schema), args, lambda rows: job_page(rows, most))
