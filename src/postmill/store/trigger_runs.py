"""What came of triggers: their last runs, and where they stand beside their own rows. And making up for what was left out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class TriggerStanding:
    """What a trigger depends on.

    Attributes:
        owner: of its queue.
        is_active: its definition may be enqueued.
        paused: its queue is; the next two say why and until when.
        served: a live worker runs its definition; None to a tenant.
        missed, last_missed: due moments of the last seven days that were left out, since nobody was there to run them.
    """

    trigger_id: UUID
    tenant_slug: str
    queue: str
    owner: str | None
    is_active: bool
    paused: bool
    pause_reason: str | None
    resume_at: datetime | None
    served: bool | None
    missed: int
    last_missed: datetime | None


@dataclass(frozen=True, slots=True)
class TriggerRun:
    """A tick, or an event that the trigger met; `state` is that of its job, None where there is none (any more)."""

    trigger_id: UUID
    at: datetime
    outcome: str
    detail: str | None
    job_id: UUID | None
    ticks: int
    state: str | None


@dataclass(frozen=True, slots=True)
class Backfilled:
    """What came of a due moment: as of ticks, kept (it had made a job), or pending (somebody holds its key)."""

    due: datetime | None
    outcome: str
    detail: str | None
    job_id: UUID | None


def read_standing(
    ids: Sequence[UUID], *, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[UUID, TriggerStanding]]:
    """Where these triggers stand; those out of scope are left out."""
    return Statement(
        "read_standing",
        sql("triggers/read_standing", schema),
        (list(ids),),
        lambda rows: {row[0]: TriggerStanding(*row) for row in rows},
    )


def read_runs(
    ids: Sequence[UUID], most: int = 20, *, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[UUID, list[TriggerRun]]]:
    """The last runs of each of these triggers, the newest first."""

    def decode(rows: Sequence[Sequence[Any]]) -> dict[UUID, list[TriggerRun]]:
        found: dict[UUID, list[TriggerRun]] = {}
        for row in rows:
            found.setdefault(row[0], []).append(TriggerRun(*row))
        return found

    return Statement("read_runs", sql("triggers/read_runs", schema), (list(ids), most), decode)


def ticks_within(
    trigger: UUID, since: datetime, until: datetime, most: int, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[datetime]]:
    """Due moments of [since, until) that made a job."""
    args = (trigger, since, until, most)
    return Statement(
        "ticks_within", sql("triggers/ticks_within", schema), args, lambda rows: [row[0] for row in rows]
    )


def backfill_trigger(
    id: UUID,
    ticks: Sequence[Mapping[str, Any]],
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Backfilled]]:
    """Makes up for due moments; of one row with the outcome unknown: there is no such trigger."""
    args = (id, json.dumps(list(ticks), default=str), reason, actor_type, actor_id)
    return Statement(
        "backfill_trigger",
        sql("triggers/backfill_trigger", schema),
        args,
        lambda rows: [Backfilled(*row) for row in rows],
    )
