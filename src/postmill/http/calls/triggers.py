"""Triggers, their next due moments and the past ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from postmill.http.call import Call, Id, at, get, model, nothing, write
from postmill.shapes.events import EventDelivery
from postmill.shapes.paging import Page
from postmill.shapes.triggers import (
    Backfilled,
    BackfillPlan,
    DueMoment,
    NewTrigger,
    RanTrigger,
    SavedTrigger,
    Tick,
    TriedTrigger,
    Trigger,
    TriggerChanges,
    TriggerPreview,
    Type,
)

PATH = ("jobs", "triggers")


def list_triggers(
    *,
    trigger_type: Type | None = None,
    is_enabled: bool | None = None,
    event_name: str | None = None,
    definition_key: str | None = None,
    tenant_id: Id | None = None,
    limit: int | None = None,
    offset: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Trigger]]:
    """Triggers, the newest first."""
    return get(
        at(*PATH),
        model(Page[Trigger]),
        trigger_type=trigger_type,
        is_enabled=is_enabled,
        event_name=event_name,
        definition_key=definition_key,
        tenant_id=tenant_id,
        limit=limit,
        offset=offset,
        cursor=cursor,
    )


def create_trigger(trigger: NewTrigger, *, idempotency_key: str | None = None) -> Call[SavedTrigger]:
    """Makes a trigger. What may go wrong is among the warnings."""
    return write("POST", at(*PATH), model(SavedTrigger), trigger, key=idempotency_key)


def preview_trigger(
    trigger: TriedTrigger, *, count: int | None = None, idempotency_key: str | None = None
) -> Call[TriggerPreview]:
    """Checks a trigger without saving it, and shows when it would run and with what payload."""
    return write(
        "POST",
        at(*PATH, "preview"),
        model(TriggerPreview),
        trigger,
        key=idempotency_key,
        query={"count": count},
    )


def get_trigger(trigger_id: Id) -> Call[Trigger]:
    """One trigger."""
    return get(at(*PATH, trigger_id), model(Trigger))


def change_trigger(
    trigger_id: Id, changes: TriggerChanges, *, idempotency_key: str | None = None
) -> Call[SavedTrigger]:
    """Changes the fields that are set in `changes`; one that is set to None is taken away."""
    return write("PATCH", at(*PATH, trigger_id), model(SavedTrigger), changes, key=idempotency_key)


def remove_trigger(trigger_id: Id, *, idempotency_key: str | None = None) -> Call[None]:
    """Takes a trigger out of use; its jobs and its history stay."""
    return write("DELETE", at(*PATH, trigger_id), nothing, key=idempotency_key)


def run_trigger(
    trigger_id: Id,
    context: Mapping[str, object] | None = None,
    *,
    traceparent: str | None = None,
    idempotency_key: str | None = None,
) -> Call[RanTrigger]:
    """Runs a trigger by hand: a job at once. `context` is the event's, for one that waits for events."""
    return write(
        "POST",
        at(*PATH, trigger_id, "run"),
        model(RanTrigger),
        {"context": context},
        key=idempotency_key,
        headers={"traceparent": traceparent},
    )


def plan_backfill(trigger_id: Id, since: datetime, until: datetime) -> Call[BackfillPlan]:
    """What a backfill of this window would do."""
    return get(at(*PATH, trigger_id, "backfill"), model(BackfillPlan), since=since, until=until)


def backfill_trigger(
    trigger_id: Id,
    since: datetime,
    until: datetime,
    *,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Page[Backfilled]]:
    """Makes up for the due moments of a window that made no job, at most 500, all at once."""
    path, body = at(*PATH, trigger_id, "backfill"), {"since": since, "until": until, "reason": reason}
    return write("POST", path, model(Page[Backfilled]), body, key=idempotency_key)


def list_next_runs(trigger_id: Id, *, count: int | None = None) -> Call[Page[DueMoment]]:
    """The next due moments of a schedule that is enabled; ten by default."""
    return get(at(*PATH, trigger_id, "next"), model(Page[DueMoment]), count=count)


def list_trigger_ticks(
    trigger_id: Id, *, limit: int | None = None, cursor: str | None = None
) -> Call[Page[Tick]]:
    """The past due moments of a schedule and what came of each, the newest first."""
    return get(at(*PATH, trigger_id, "ticks"), model(Page[Tick]), limit=limit, cursor=cursor)


def list_trigger_deliveries(
    trigger_id: Id, *, limit: int | None = None, cursor: str | None = None
) -> Call[Page[EventDelivery]]:
    """The events that a trigger met and what came of each, the newest first."""
    path = at(*PATH, trigger_id, "deliveries")
    return get(path, model(Page[EventDelivery]), limit=limit, cursor=cursor)
