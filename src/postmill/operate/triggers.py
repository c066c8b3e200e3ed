"""What people do with triggers, whatever face they use. Each is a flow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from postmill.client.rendering import Wanted, rendered
from postmill.domain.errors import Fault, NotFound, PostmillError
from postmill.domain.event import check_context
from postmill.domain.schedule import Schedule, cron_schedule
from postmill.domain.template import EVENT_ROOTS, SCHEDULE_ROOTS
from postmill.domain.trigger import (
    FIELDS,
    TriggerRefused,
    TriggerSpec,
    TriggerType,
    check_trigger,
    columns_of,
)
from postmill.domain.trigger_context import common, of_event, of_tick
from postmill.domain.zone import Dst, zone
from postmill.store import triggers as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.firing import Rendered
from postmill.store.flow import Flow
from postmill.store.triggers import Ground, Ran, TriggerView

NEXT_RUNS = 10


class DeclaredInCode(PostmillError):
    """The trigger is declared in a module, and only that changes it."""

    def __init__(self, label: str, module: str) -> None:
        self.label = label
        self.module = module
        super().__init__(label, module)

    def __str__(self) -> str:
        return f"trigger {self.label!r} is declared in the module {self.module}; change it there"


class EditedMeanwhile(PostmillError):
    """Somebody else changed the trigger at the same moment; look at it again."""


class RunRefused(PostmillError):
    """A run by hand made no job."""

    def __init__(self, outcome: str, detail: str | None) -> None:
        self.outcome = outcome
        self.detail = detail
        super().__init__(outcome, detail)

    def __str__(self) -> str:
        return self.detail or f"the run was {self.outcome}"


@dataclass(frozen=True, slots=True)
class Run:
    """A due moment of a schedule: the instant, and what the clock on the wall shows then."""

    due: datetime
    local: datetime


@dataclass(frozen=True, slots=True)
class Saved:
    """A trigger as it was saved, the next runs of a schedule, and what will probably not be as it was meant."""

    trigger: TriggerView
    next_runs: list[Run]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a trigger that is not saved would be and do.

    Attributes:
        payload: JSON text of its next run, or for the sample of an event; sealed where the definition wants that.
        problem: why there would be no job.
    """

    spec: TriggerSpec
    dedupe_window_seconds: int
    next_runs: list[Run]
    warnings: list[str]
    payload: str | None
    problem: str | None


def create(
    fields: Mapping[str, Any], *, tenant: UUID | None = None, schema: str = DEFAULT_SCHEMA
) -> Flow[Saved]:
    """Makes a trigger.

    Args:
        fields: as `check_trigger` takes them.
        tenant: whose it is; None: that of the scope, else the default tenant.

    Raises:
        TriggerRefused: names every field that is wrong.
        NotFound: there is no such tenant.
    """
    ground = yield from _ground(tenant, fields.get("definition_key"), schema)
    spec = _spec(fields, ground)
    columns = _columns(spec, ground.moment, ground.moment.replace(microsecond=0)) | {
        "definition_id": str(ground.definition_id)
    }
    id, status = yield store.save_trigger(None, None, ground.tenant_id, columns, schema=schema)
    if status != "saved":
        raise NotFound(f"there is no tenant {tenant}")
    return (yield from _saved(id, spec, ground, schema))


def change(
    id: UUID,
    changes: Mapping[str, Any],
    *,
    seen: datetime | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[Saved]:
    """Changes fields of a trigger; None takes a field away. A schedule that is changed or switched on is planned from
    now on: what a pause left out is not made up for.

    Args:
        seen: the `updated_at` of what the change was made of; None: as it is now.

    Raises:
        TriggerRefused: names every field that is wrong.
        NotFound, DeclaredInCode, EditedMeanwhile: nothing was changed.
    """
    old = yield from show(id, schema=schema)
    unknown = sorted(changes.keys() - set(FIELDS))
    if unknown:
        raise TriggerRefused([Fault(name, "is no field of a trigger") for name in unknown])
    fields = _fields(old)
    if "trigger_type" in changes and changes["trigger_type"] != old.trigger_type:
        raise TriggerRefused([Fault("trigger_type", "never changes; make another trigger")])
    for name, other in (("cron_expr", "every"), ("every", "cron_expr")):
        if changes.get(name) is not None and other not in changes:
            fields.pop(other, None)
    fields |= changes
    if "dedupe_window_seconds" not in changes:
        fields["dedupe_window_seconds"] = old.dedupe_window_seconds
    ground = yield from _ground(old.tenant_id, fields.get("definition_key"), schema)
    spec = _spec(fields, ground)
    anchor = old.anchored_at
    if spec.every is not None and spec.every.total_seconds() != old.every_seconds:
        anchor = ground.moment.replace(microsecond=0)
    columns = _columns(spec, ground.moment, anchor) | {"definition_id": str(ground.definition_id)}
    if not _replans(old, spec):
        columns["next_run_at"] = None if old.next_run_at is None else old.next_run_at.isoformat()
    _, status = yield store.save_trigger(id, seen or old.updated_at, None, columns, schema=schema)
    _raise_unless("saved", status, old)
    return (yield from _saved(id, spec, ground, schema))


def remove(id: UUID, *, reason: str | None = None, schema: str = DEFAULT_SCHEMA) -> Flow[TriggerView]:
    """Takes a trigger out of use. Raises NotFound, DeclaredInCode."""
    old = yield from show(id, schema=schema)
    status: str = yield store.remove_trigger(id, reason=reason, schema=schema)
    _raise_unless("removed", status, old)
    return old


def show(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Flow[TriggerView]:
    """One trigger. Raises NotFound."""
    found: list[TriggerView] = yield store.list_triggers(id=id, most=1, schema=schema)
    if not found:
        raise NotFound(f"there is no trigger {id}")
    return found[0]


def next_runs(id: UUID, count: int = NEXT_RUNS, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[Run]]:
    """The next due moments of a schedule, from the scheduler's own code; none of what waits for events or is off.

    Raises:
        NotFound: there is no such trigger.
    """
    trigger = yield from show(id, schema=schema)
    ground: Ground = yield store.trigger_ground(trigger.tenant_id, None, schema=schema)
    return upcoming(trigger, ground.moment, count)


def upcoming(trigger: TriggerView, moment: datetime, count: int = NEXT_RUNS) -> list[Run]:
    """The next due moments of a schedule after a moment; none of what waits for events, is off or broken."""
    if trigger.trigger_type != TriggerType.SCHEDULE or not trigger.is_enabled or trigger.broken:
        return []
    schedule = schedule_of(trigger)
    if trigger.next_run_at is None:
        return _runs(schedule, moment, count)
    first = _run(schedule, trigger.next_run_at)
    return [first, *_runs(schedule, trigger.next_run_at, count - 1)]


def preview(
    fields: Mapping[str, Any],
    count: int = NEXT_RUNS,
    *,
    sample: Mapping[str, Any] | None = None,
    tenant: UUID | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[Preview]:
    """What a trigger would be that is not saved. Raises as `create`.

    Args:
        sample: the context of an event that it is tried with; None: no payload is rendered of what waits for events.

    Raises:
        PayloadRefused: the sample cannot be the context of an event.
    """
    ground = yield from _ground(tenant, fields.get("definition_key"), schema)
    spec = _spec(fields, ground)
    tried = yield from _tried(None, spec, ground, sample, schema)
    warnings = _warnings(spec, ground, tried)
    runs = []
    if spec.trigger_type is TriggerType.SCHEDULE:
        runs = _runs(spec.schedule(ground.moment), ground.moment, count)
    payload, problem = (None, None) if tried is None else (tried.payload, tried.detail)
    return Preview(spec, spec.window(ground.moment), runs, warnings, payload, problem)


def run(
    id: UUID,
    context: Mapping[str, Any] | None = None,
    *,
    traceparent: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[Ran]:
    """Runs a trigger by hand, also one that is off: a job at once, whatever its dedupe window says.

    Args:
        context: of the event that it is to be run with; only for what waits for events.

    Raises:
        NotFound: there is no such trigger.
        RunRefused: no job was made, and why.
        PayloadRefused: the context cannot be.
    """
    trigger = yield from show(id, schema=schema)
    ground: Ground = yield store.trigger_ground(trigger.tenant_id, trigger.definition_key, schema=schema)
    known = common(trigger.id, trigger.label, trigger.tenant_id, ground.slug or "", ground.timezone or "UTC")
    if trigger.trigger_type == TriggerType.SCHEDULE:
        roots, known = (
            SCHEDULE_ROOTS,
            known | of_tick(ground.moment.replace(microsecond=0), trigger.timezone or "UTC"),
        )
    else:
        roots = EVENT_ROOTS
        known |= _event(context or {}, trigger.event_name, trigger.id, ground.moment)
    wanted = Wanted(trigger.tenant_id, trigger.definition_key, trigger.payload_template, roots, known)
    payload: Rendered = (yield from rendered(schema, [wanted]))[0]
    if payload.payload is None:
        raise RunRefused(payload.outcome or "failed", payload.detail)
    ran: Ran = yield store.run_trigger(
        id, payload.payload, key=payload.key, traceparent=traceparent, schema=schema
    )
    if ran.outcome == "unknown":
        raise NotFound(f"there is no trigger {id}")
    if ran.job_id is None:
        raise RunRefused(ran.outcome, ran.detail)
    return ran


def schedule_of(trigger: TriggerView) -> Schedule:
    """When a stored schedule is due. ValueError where it cannot be read."""
    if trigger.every_seconds is not None:
        step = timedelta(seconds=trigger.every_seconds)
        return Schedule(every=step, timezone=trigger.timezone or "UTC", anchor=trigger.anchored_at)
    return cron_schedule(trigger.cron_expr or "", trigger.timezone or "UTC", Dst(trigger.dst))


def _ground(tenant: UUID | None, definition_key: object, schema: str) -> Flow[Ground]:
    key = definition_key if isinstance(definition_key, str) else None
    ground: Ground = yield store.trigger_ground(tenant, key, schema=schema)
    if ground.tenant_id is None:
        raise NotFound(f"there is no tenant {tenant}")
    return ground


def _spec(fields: Mapping[str, Any], ground: Ground) -> TriggerSpec:
    spec = check_trigger(fields, timezone=ground.timezone or "UTC")
    if ground.definition_id is None:
        raise TriggerRefused([Fault("definition_key", f"there is no job definition {spec.definition_key!r}")])
    return spec


def _columns(spec: TriggerSpec, moment: datetime, anchor: datetime) -> dict[str, Any]:
    columns = columns_of(spec, spec.window(moment)) | {"anchored_at": anchor.isoformat(), "next_run_at": None}
    if spec.trigger_type is TriggerType.SCHEDULE:
        due = spec.schedule(anchor).after(moment)
        columns["next_run_at"] = None if due is None else due.isoformat()
    return columns


def _replans(old: TriggerView, spec: TriggerSpec) -> bool:
    """Whether what counts for its due moments changes."""
    every = None if spec.every is None else spec.every.total_seconds()
    before = (old.cron_expr, old.every_seconds, old.timezone, old.dst)
    return before != (spec.cron_expr, every, spec.timezone, spec.dst) or (
        spec.is_enabled and not old.is_enabled
    )


def _fields(trigger: TriggerView) -> dict[str, Any]:
    """A stored trigger as people write it."""
    fields: dict[str, Any] = {name: getattr(trigger, name) for name in FIELDS if hasattr(trigger, name)}
    fields["payload_template"] = json.loads(trigger.payload_template)
    fields["every"] = trigger.every_seconds
    if trigger.trigger_type == TriggerType.EVENT:
        for name in (
            "missed",
            "missed_limit",
            "overlap",
            "dst",
            "jitter_seconds",
            "timezone",
            "cron_expr",
            "every",
        ):
            fields.pop(name)
    return fields


def _raise_unless(expected: str, status: str, old: TriggerView) -> None:
    if status == "in_code":
        raise DeclaredInCode(old.label, old.declared_in or "")
    if status == "changed":
        raise EditedMeanwhile(
            f"trigger {old.label!r} was changed by somebody else just now; look at it again"
        )
    if status != expected:
        raise NotFound(f"there is no trigger {old.id}")


def _saved(id: UUID, spec: TriggerSpec, ground: Ground, schema: str) -> Flow[Saved]:
    trigger = yield from show(id, schema=schema)
    warnings = _warnings(spec, ground, (yield from _tried(id, spec, ground, None, schema)))
    runs = yield from next_runs(id, schema=schema)
    return Saved(trigger, runs, warnings)


def _tried(
    id: UUID | None, spec: TriggerSpec, ground: Ground, sample: Mapping[str, Any] | None, schema: str
) -> Flow[Rendered | None]:
    """The payload of the next run, or for a sample of an event; None: there is no sample."""
    assert ground.tenant_id is not None
    slug, own_zone = ground.slug or "", ground.timezone or "UTC"
    known = common(id or ground.tenant_id, spec.label, ground.tenant_id, slug, own_zone)
    roots = EVENT_ROOTS
    if spec.trigger_type is TriggerType.SCHEDULE:
        roots, schedule = SCHEDULE_ROOTS, spec.schedule(ground.moment)
        known |= of_tick(schedule.after(ground.moment) or ground.moment, schedule.timezone)
    elif sample is None:
        return None
    else:
        known |= _event(sample, spec.event_name, id or ground.tenant_id, ground.moment)
    wanted = Wanted(ground.tenant_id, spec.definition_key, spec.payload_template, roots, known)
    return (yield from rendered(schema, [wanted]))[0]


def _event(context: Mapping[str, Any], pattern: str | None, id: UUID, moment: datetime) -> dict[str, Any]:
    """An event that was not published, as templates see it."""
    given, name = json.loads(check_context(context)), (pattern or "").removesuffix(".*")
    return of_event(given, event_id=id, name=name, published_at=moment, correlation_id=str(id))


def _warnings(spec: TriggerSpec, ground: Ground, tried: Rendered | None) -> list[str]:
    """What can be told beforehand. A payload that does not fit is no error: its definition may change until then."""
    found = [] if ground.is_active else [f"the job definition {spec.definition_key!r} is not active"]
    if spec.trigger_type is TriggerType.EVENT:
        return found
    if tried is not None and tried.payload is None:
        found.append(f"the next run would make no job: {tried.detail}")
    gap = spec.schedule(ground.moment).shortest_gap(ground.moment)
    window = spec.window(ground.moment)
    if gap is not None and window > gap.total_seconds():
        found.append(
            f"dedupe_window_seconds is {window}, and two runs are {gap.total_seconds():g} s apart: of runs with equal"
            " payloads not each makes a job"
        )
    return found


def _runs(schedule: Schedule, moment: datetime, count: int) -> list[Run]:
    return [_run(schedule, due) for due in islice(schedule.upcoming(moment), max(0, count))]


def _run(schedule: Schedule, due: datetime) -> Run:
    return Run(due, due.astimezone(zone(schedule.timezone)))
