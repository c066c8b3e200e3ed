"""Triggers that code declares, beside its job types: `nightly = schedule("nightly", cleanup, cron="0 2 * * *")`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from postmill.domain.errors import DefinitionError, Undecodable
from postmill.domain.job_type import JobType
from postmill.domain.lane import DEFAULT_TENANT
from postmill.domain.payload import encode
from postmill.domain.trigger import TriggerRefused, TriggerSpec, check_trigger, columns_of

AnyJob = JobType[..., ..., Any] | str

_ANY = datetime(2024, 1, 1, tzinfo=UTC)  # from when on the shortest time between two runs is looked for


@dataclass(frozen=True, eq=False)
class DeclaredTrigger:
    """A trigger that a module declares. A worker that loads the module registers it; the API shows it, and changes
    nothing of it. One that its module declares no more is taken out of use."""

    spec: TriggerSpec
    tenant_id: UUID

    @property
    def label(self) -> str:
        """The name under which it is known, one for each tenant."""
        return self.spec.label

    def columns(self, module: str) -> dict[str, Any]:
        """Its row, as plain JSON data."""
        return columns_of(self.spec, self.spec.window(_ANY)) | {
            "tenant_id": str(self.tenant_id),
            "job_type": self.spec.definition_key,
            "declared_in": module,
        }


def schedule(
    label: str,
    job: AnyJob,
    *,
    cron: str | Sequence[str] | None = None,
    every: str | float | timedelta | None = None,
    timezone: str = "UTC",
    payload: Mapping[str, object] | None = None,
    tenant: UUID | None = None,
    missed: Literal["skip", "once", "all"] = "once",
    missed_limit: int = 100,
    overlap: Literal["allow", "skip", "cancel_previous"] = "allow",
    dst: Literal["once", "skip", "wall"] = "once",
    jitter_seconds: int = 0,
    dedupe_window_seconds: int | None = None,
    enabled: bool = True,
) -> DeclaredTrigger:
    """Declares a schedule, at the top level of a module with job types.

    Args:
        label: the name under which it is known; changing it makes another trigger.
        job: the job type, or the key of a definition.
        cron: one or several lines of cron, or instead of it:
        every: a length of time (`15m`, seconds or a timedelta), at least 1 s.
        timezone: of the cron lines.
        payload: its texts may hold `{{ schedule.date }}` and other expressions.
        tenant: whose jobs these are; None is the default tenant.
        missed: what becomes of ticks that nobody was there to run.
        missed_limit: with `all`, how many of them run.
        overlap: what a tick does while the job of the tick before is not over.
        dst: what becomes of a fixed time that a change of the clock leaves out or repeats.
        jitter_seconds: the job is due up to so many seconds after its tick.
        dedupe_window_seconds: for so long an equal payload makes no other job; None is 300, or less where it runs
            more often.
        enabled: whether it runs.

    Raises:
        DefinitionError: names everything that is wrong.
    """
    fields: dict[str, Any] = {
        "label": label, "trigger_type": "schedule", "timezone": timezone, "missed": missed, "missed_limit": missed_limit,
        "cron_expr": list(cron) if cron is not None and not isinstance(cron, str) else cron, "every": every,
        "overlap": overlap, "dst": dst, "jitter_seconds": jitter_seconds, "is_enabled": enabled,
        "dedupe_window_seconds": dedupe_window_seconds, "payload_template": payload,
    }  # fmt: skip
    return _declared(fields, job, tenant)


def on_event(
    label: str,
    job: AnyJob,
    event: str,
    *,
    payload: Mapping[str, object] | None = None,
    tenant: UUID | None = None,
    dedupe_window_seconds: int = 300,
    enabled: bool = True,
) -> DeclaredTrigger:
    """Declares a trigger that waits for an event, at the top level of a module with job types.

    Args:
        label, job, tenant, enabled: as in `schedule`.
        event: the name of an event, or the beginning of names and `.*`.
        payload: its texts may hold `{{ event.… }}` and other expressions.
        dedupe_window_seconds: for so long an equal payload makes no other job; 0: each makes one.

    Raises:
        DefinitionError: names everything that is wrong.
    """
    fields: dict[str, Any] = {
        "label": label, "trigger_type": "event", "event_name": event, "payload_template": payload,
        "dedupe_window_seconds": dedupe_window_seconds, "is_enabled": enabled,
    }  # fmt: skip
    return _declared(fields, job, tenant)


def _declared(fields: dict[str, Any], job: AnyJob, tenant: UUID | None) -> DeclaredTrigger:
    name = job if isinstance(job, str) else job.name
    try:
        spec = check_trigger(fields | {"definition_key": name})
    except TriggerRefused as fault:
        raise DefinitionError(f"trigger {fields['label']!r}: {fault}") from None
    payload = fields["payload_template"] or {}
    if isinstance(job, JobType) and "{{" not in spec.payload_template:
        try:
            job.bind(encode(payload))
        except Undecodable as fault:
            raise DefinitionError(f"trigger {fields['label']!r}: {fault}") from None
    return DeclaredTrigger(spec, tenant or DEFAULT_TENANT)
