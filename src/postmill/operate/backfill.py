"""Making up for due moments of a schedule that made no job, within a window. Flows, to be run as those of `commands` are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from postmill.client.rendering import Wanted, rendered
from postmill.domain.errors import InvalidValue, NotFound
from postmill.domain.template import SCHEDULE_ROOTS
from postmill.domain.trigger import TriggerType
from postmill.domain.trigger_context import common, of_tick
from postmill.domain.zone import zone
from postmill.operate.triggers import Run, schedule_of, show
from postmill.store import triggers as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.firing import Rendered
from postmill.store.flow import Flow
from postmill.store.trigger_runs import Backfilled, backfill_trigger, ticks_within
from postmill.store.triggers import Ground, TriggerView

MOST = 500
"""Due moments that one backfill makes up for."""


@dataclass(frozen=True, slots=True)
class BackfillPlan:
    """What a backfill would do.

    Attributes:
        due: moments that made no job, in order.
        kept: moments of the window that made one.
        problem: why the first of them would make no job; None: it would.
    """

    trigger: TriggerView
    due: list[Run]
    kept: int
    problem: str | None


def plan(id: UUID, since: datetime, until: datetime, *, schema: str = DEFAULT_SCHEMA) -> Flow[BackfillPlan]:
    """What a backfill of [since, until) would do.

    Raises:
        NotFound: there is no such trigger.
        InvalidValue: it is no schedule, or one that cannot be read; the window is none, not over, or has more than 500
            due moments.
    """
    trigger, _, wanted, kept = yield from _moments(id, since, until, schema)
    problem = None
    if wanted:
        [first] = yield from _payloads(trigger, wanted[:1], schema)
        problem = first.detail if first.payload is None else None
    own = zone(trigger.timezone or "UTC")
    return BackfillPlan(trigger, [Run(due, due.astimezone(own)) for due in wanted], kept, problem)


def backfill(
    id: UUID,
    since: datetime,
    until: datetime,
    *,
    reason: str | None = None,
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[list[Backfilled]]:
    """A job for each due moment of [since, until) that made none, all at once: overlap policy, jitter and dedupe window are
    not asked. A moment that has made a job is left as it is, so that the same backfill twice makes nothing twice.

    Raises:
        NotFound, InvalidValue: as `plan`.
    """
    trigger, every, wanted, _ = yield from _moments(id, since, until, schema)
    following = dict(pairwise(every))
    payloads = yield from _payloads(trigger, wanted, schema)
    ticks = [_tick(due, following.get(due), payload) for due, payload in zip(wanted, payloads, strict=True)]
    done: list[Backfilled] = yield backfill_trigger(
        id, ticks, reason=reason, actor_id=actor_id, schema=schema
    )
    if done and done[0].outcome == "unknown":
        raise NotFound(f"there is no trigger {id}")
    return done


def _moments(
    id: UUID, since: datetime, until: datetime, schema: str
) -> Flow[tuple[TriggerView, list[datetime], list[datetime], int]]:
    """The trigger, every due moment of the window and the one after it, those that made no job, and how many made one."""
    trigger = yield from show(id, schema=schema)
    if trigger.trigger_type != TriggerType.SCHEDULE:
        raise InvalidValue("backfill: only schedules have due moments; publish the events again instead")
    if since.utcoffset() is None or until.utcoffset() is None:
        raise InvalidValue("since and until need a time zone, as in 2026-11-28T09:00:00Z")
    ground: Ground = yield store.trigger_ground(trigger.tenant_id, None, schema=schema)
    if since >= until:
        raise InvalidValue("until: must be later than since")
    if until > ground.moment:
        raise InvalidValue("until: must not be in the future: what is still due runs by itself")
    try:
        schedule = schedule_of(trigger)
    except ValueError as fault:
        raise InvalidValue(f"the schedule cannot be read: {fault}") from None
    made: list[datetime] = yield ticks_within(id, since, until, 10 * MOST, schema=schema)
    done, every, wanted = set(made), [], []
    due = schedule.until(since)
    due = due if due == since else schedule.after(since)
    while due is not None and due < until:
        every.append(due)
        if due not in done:
            wanted.append(due)
        if len(wanted) > MOST or len(every) > 10 * MOST:
            raise InvalidValue(
                f"until: the window has more than {MOST} due moments that made no job; take a shorter one"
            )
        due = schedule.after(due)
    if due is not None:
        every.append(due)
    return trigger, every, wanted, len(every) - len(wanted) - (due is not None)


def _payloads(trigger: TriggerView, moments: list[datetime], schema: str) -> Flow[list[Rendered]]:
    ground: Ground = yield store.trigger_ground(trigger.tenant_id, trigger.definition_key, schema=schema)
    zone_name, slug = trigger.timezone or "UTC", ground.slug or ""
    base = common(trigger.id, trigger.label, trigger.tenant_id, slug, ground.timezone or "UTC")
    wanted = [
        Wanted(
            trigger.tenant_id,
            trigger.definition_key,
            trigger.payload_template,
            SCHEDULE_ROOTS,
            base | of_tick(due, zone_name),
        )
        for due in moments
    ]
    return (yield from rendered(schema, wanted)) if wanted else []


def _tick(due: datetime, after: datetime | None, payload: Rendered) -> dict[str, Any]:
    facts = {
        "due": due.isoformat(),
        "next": None if after is None else after.isoformat(),
        "payload": None if payload.payload is None else json.loads(payload.payload),
        "key": payload.key,
        "outcome": payload.outcome,
        "detail": payload.detail,
    }
    return {name: value for name, value in facts.items() if value is not None}
