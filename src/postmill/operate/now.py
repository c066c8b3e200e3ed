"""What is wrong right now, since when, whom it hurts and what may have caused it: for who is on call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from postmill.domain.errors import NotFound
from postmill.operate.incident_kin import Kin, together
from postmill.store import incidents as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.incidents import IncidentView, NotificationView
from postmill.store.now import (
    AllClear,
    NewError,
    Scene,
    Situation,
    read_all_clear,
    read_incident_scenes,
    read_new_errors,
    read_now,
)
from postmill.store.stats import Stat, read_stats

MINUTES = 60
"""How far back the minutes go."""

CHANGES = 7200.0
"""Seconds for which changes are told."""

SHOWN = 20
"""So many incidents at most, the worst first."""

FRESH = 3
"""So many new causes of failures are named."""

_RANKS = {"critical": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Now:
    """The platform.

    Attributes:
        situation: in one row.
        incidents: that are live, the worst first; one alone where it was asked for, also when it is over.
        kin: the same, those of one cause together.
        scenes: what stands around each.
        fresh: causes of failures that are new, and not over yet; three at most.
        over: what was wrong in the last hour, and is over.
        told, jobs: of the one incident that was asked for: whom it was told, its first jobs.
    """

    situation: Situation
    incidents: list[IncidentView]
    kin: list[Kin]
    scenes: dict[UUID, Scene]
    fresh: list[NewError]
    over: list[AllClear]
    told: list[NotificationView]
    jobs: list[UUID]


def now(*, incident: UUID | None = None, queue: str | None = None, schema: str = DEFAULT_SCHEMA) -> Flow[Now]:
    """One look at the platform; a few bounded statements, none of which reads jobs.

    Args:
        incident: only this one, with whom it was told and its first jobs.
        queue: only what is wrong with this queue.

    Raises:
        NotFound: there is no such incident; or who asks sees a tenant only.
    """
    situation: Situation | None = yield read_now(schema=schema)
    if situation is None:
        raise NotFound("there is no platform within a tenant")
    found: list[IncidentView] = yield store.list_incidents(
        id=incident, status=None if incident else "live", queue=queue, most=10 * SHOWN, schema=schema
    )
    if incident is not None and not found:
        raise NotFound(f"there is no incident {incident}")
    worst = sorted(found, key=lambda one: (_RANKS.get(one.severity, 3), one.acknowledged_at is not None))[
        :SHOWN
    ]
    scenes: dict[UUID, Scene] = yield read_incident_scenes([one.id for one in worst], schema=schema)
    told: list[NotificationView] = []
    jobs: list[UUID] = []
    if incident is not None:
        told = yield store.list_notifications(incident, schema=schema)
        jobs = yield store.list_incident_jobs(incident, schema=schema)
    kin = together(worst, scenes)
    over: list[AllClear] = []
    if situation.ended:
        over = yield read_all_clear(schema=schema)
    ended = {one.error_group for one in over}
    fresh: list[NewError] = []
    if situation.new_errors:
        fresh = yield read_new_errors(FRESH + len(ended), schema=schema)
    return Now(
        _counted(situation, kin, sum(one.fresh for one in over)), worst, kin, scenes,
        [one for one in fresh if one.id not in ended][:FRESH], over, told, jobs,
    )  # fmt: skip


def _counted(situation: Situation, kin: Sequence[Kin], ended: int) -> Situation:
    """What has one cause counts once; new errors that are over count no more."""
    more = Counter(one.kind == "budget" for each in kin for one in each.others)
    return replace(
        situation,
        new_errors=max(situation.new_errors - ended, 0),
        others=max(situation.others - more[False], 0),
        budgets=max(situation.budgets - more[True], 0),
    )


def minutes(*, queue: str | None = None, schema: str = DEFAULT_SCHEMA) -> Flow[list[Stat]]:
    """The last hour minute by minute, within the scope: counts without lengths of time; minutes without anything are
    left out."""
    found: list[Stat] = yield read_stats(
        seconds=MINUTES * 60.0, bucket=60.0, queue=queue, times=(), schema=schema
    )
    return found
