"""Statements behind the page Now: the platform in one row, what stands around an incident, what was changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

Cause = Literal[
    "paused",
    "type_paused",
    "was_paused",
    "no_workers",
    "worker_lost",
    "deploy",
    "build",
    "db_wait",
    "new_error",
]


@dataclass(frozen=True, slots=True)
class Situation:
    """The platform, from live incidents.

    Attributes:
        queues: how many there are; `promised`: with a target.
        paused: queues that are paused.
        breaches: queues that break their promise, since `breach_since`.
        stale_workers: workers that are silent and not replaced.
        missed_triggers, budgets, others: incidents of these kinds, and all others.
        tenants: how many tenants the incidents affect.
        new_errors: causes of failures seen for the first time in the last hour, since `new_since`; counted up to 1,000.
        quiet_since: when the last breach ended; None: none is known.
        ended: incidents of jobs given up that ended in the last hour.
    """

    queues: int
    promised: int
    paused: list[str]
    breaches: int
    breach_since: datetime | None
    stale_workers: int
    missed_triggers: int
    budgets: int
    others: int
    tenants: int
    new_errors: int
    new_since: datetime | None
    quiet_since: datetime | None
    ended: int

    @property
    def wrong(self) -> int:
        """How many things are wrong."""
        return self.breaches + self.stale_workers + self.missed_triggers + self.budgets + self.others


@dataclass(frozen=True, slots=True)
class Scene:
    """What stands around an incident.

    Attributes:
        top_tenants: slugs of the three that are hurt most.
        rate: events in the last whole minute (failed attempts of what failed, ended jobs of what is late); `rate_before`: a
            minute, in the same hour a week ago. None: nothing is counted for its kind.
        owner, runbook: of its queue; `action`: what its job type says is to be done.
        error_group: the cause of failures that it is about, where it is about one.
        cause: what is suspected; `cause_at` when it happened, `cause_ref` and `cause_detail` what it is.
        held_kind, held_name: the queue or job type of it that is paused now, until `held_until` (None: until somebody resumes
            it) for `held_why`; None: neither is.
        letters: of many dead letters, and of jobs that were given up for one cause, how many are open now.
        failed_at: when something last failed for this cause; None: it is not about one.
    """

    id: UUID
    top_tenants: list[str]
    rate: float | None
    rate_before: float | None
    owner: str | None
    runbook: str | None
    action: str | None
    cause: Cause | None
    cause_at: datetime | None
    cause_ref: str | None
    cause_detail: str | None
    error_group: str | None
    held_kind: Literal["queue", "type"] | None
    held_name: str | None
    held_until: datetime | None
    held_why: str | None
    letters: int | None
    failed_at: datetime | None

    @property
    def silent(self) -> bool:
        """Whether what failed has not failed in the last whole minute."""
        return self.failed_at is not None and self.rate == 0


@dataclass(frozen=True, slots=True)
class NewError:
    """A cause of failures that nobody has said anything of yet."""

    id: str
    job_type: str
    error_class: str
    first_seen_at: datetime
    message: str


@dataclass(frozen=True, slots=True)
class AllClear:
    """A cause of failures that is over: its incident has ended, no dead letter of it is open, and nothing failed so since.

    Attributes:
        fresh: whether it was first seen in the last hour.
        over_at: when the incident ended; `failed_at`: when something failed so last.
        jobs: that were given up.
        operation: the last one that replayed some of them, `done` in all; None: none did.
        looked: of its last new jobs (1,000 at most) how many were looked at; `succeeded` of them, and `waiting` or running.
    """

    error_group: str
    job_type: str
    error_class: str
    fresh: bool
    over_at: datetime
    failed_at: datetime
    jobs: int
    operation: UUID | None
    done: int | None
    looked: int | None
    succeeded: int | None
    waiting: int | None

    @property
    def well(self) -> bool:
        """Whether all that was replayed has succeeded, as far as it was looked at."""
        return self.operation is None or self.succeeded == self.looked


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was changed. `kind`: deploy, build, build_again, worker_loss, or an action of the audit log; `reason`: of a
    bulk operation that ended how many of its jobs it did, of how many, and left and failed with, as `done/total/skipped/failed`;
    `ref`: the key of the definition, the holder of the worker (of a build the first one), the id in the log; `label`: of the
    trigger that it is about."""

    at: datetime
    kind: str
    target: str | None
    actor: str | None
    via: str | None
    reason: str | None
    ref: str
    label: str | None


def read_now(*, schema: str = DEFAULT_SCHEMA) -> Statement[Situation | None]:
    """The platform in one row; None to a tenant."""
    return Statement(
        "read_now", sql("console/read_now", schema), (), lambda rows: Situation(*rows[0]) if rows else None
    )


def read_new_errors(most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[NewError]]:
    """Causes of failures seen for the first time in the last hour, those seen last first; nothing to a tenant."""
    return Statement(
        "read_new_errors",
        sql("console/read_new_errors", schema),
        (most,),
        lambda rows: [NewError(*row) for row in rows],
    )


def read_all_clear(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[AllClear]]:
    """What was wrong in the last hour and is over, of five causes at most, the latest first; nothing to a tenant."""
    return Statement(
        "read_all_clear",
        sql("console/read_all_clear", schema),
        (),
        lambda rows: [AllClear(*row) for row in rows],
    )


def read_incident_scenes(
    ids: Iterable[UUID], *, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[UUID, Scene]]:
    """What stands around incidents, by id; nothing to a tenant."""
    return Statement(
        "read_incident_scenes",
        sql("console/read_incident_scenes", schema),
        (list(ids),),
        lambda rows: {row[0]: Scene(*row) for row in rows},
    )


def read_changes(seconds: float, most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Change]]:
    """What was changed in the last so many seconds, the latest first; nothing to a tenant."""
    return Statement(
        "read_changes",
        sql("console/read_changes", schema),
        (seconds, most),
        lambda rows: [Change(*row) for row in rows],
    )


@dataclass(frozen=True, slots=True)
class Hurt:
    """Whom live incidents hurt: tenants by slug, those with the most jobs first; schedules that missed a run."""

    tenants: list[str]
    triggers: list[UUID]


def read_hurt(most: int = 200, *, schema: str = DEFAULT_SCHEMA) -> Statement[Hurt]:
    """Whom live incidents hurt; nobody outside of the platform."""
    return Statement(
        "read_hurt",
        sql("console/read_hurt", schema),
        (most,),
        lambda rows: Hurt(
            [row[2] for row in rows if row[0] == "tenant"], [row[1] for row in rows if row[0] == "trigger"]
        ),
    )
