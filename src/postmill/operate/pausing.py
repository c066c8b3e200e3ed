"""Holding back the jobs of one type while those of others in its queue go on. Each is a flow, and audited."""

from __future__ import annotations

from datetime import datetime

from postmill.domain.errors import InvalidValue, UnknownJobType
from postmill.store import definitions, type_pauses
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.flow import Flow
from postmill.store.type_pauses import TypePause


def pause_type(
    job_type: str,
    *,
    reason: str | None = None,
    resume_at: datetime | None = None,
    actor: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Flow[str]:
    """Jobs of this type do not start until it is resumed, or until `resume_at`. Answers the type's exact name.

    What runs goes on, enqueuing goes on, and a job whose own time is over meanwhile ends as it would in its queue. Workers
    hear of it within a second (without notifications, at the next renewal of their lease: a third of its length).

    Args:
        job_type: its name or an alias of it.

    Raises:
        UnknownJobType: with what exists and what was probably meant.
        InvalidValue: `resume_at` has no time zone.
    """
    if resume_at is not None and resume_at.utcoffset() is None:
        raise InvalidValue("resume_at is a datetime without a time zone; give it one")
    name = yield from _named(job_type, schema)
    if not (
        yield type_pauses.door_pause_type(
            name, reason=reason, resume_at=resume_at, actor_id=actor, schema=schema
        )
    ):
        raise UnknownJobType(job_type)
    return name


def resume_type(job_type: str, *, actor: str | None = None, schema: str = DEFAULT_SCHEMA) -> Flow[str]:
    """Jobs of this type start again, those that were held back at once. Answers the type's exact name.

    Raises:
        UnknownJobType: with what exists and what was probably meant.
    """
    name = yield from _named(job_type, schema)
    if not (yield type_pauses.door_resume_type(name, actor_id=actor, schema=schema)):
        raise UnknownJobType(job_type)
    return name


def paused_types(*, schema: str = DEFAULT_SCHEMA) -> Flow[list[TypePause]]:
    """Pauses of job types that hold now."""
    found: list[TypePause] = yield type_pauses.read_type_pauses(schema=schema)
    return found


def _named(job_type: str, schema: str) -> Flow[str]:
    rules = yield definitions.enqueue_rules([job_type], schema=schema)
    if job_type not in rules:
        known = yield definitions.list_definitions(most=1000, schema=schema)
        raise UnknownJobType(job_type, [one.key for one in known])
    name: str = rules[job_type].key
    return name
