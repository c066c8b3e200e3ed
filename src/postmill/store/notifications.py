"""Statements on the outbox of notifications, and on how channels stand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that people are to be told on a channel, with all that a message may say.

    Attributes:
        event: trigger, acknowledge or resolve.
        instead_of: the channel that it was meant for and that did not work.
        tries: how often it was tried before this time.
        tenant: the slug of the one tenant whose it is; None: several, or the platform.
        job_id: the last job that is affected, where its body is still there.
        reopened: how often the incident came back after it had ended.
        action, fields, secret_keys: what the job's definition says is to be done, and of the payload to be shown.
    """

    id: UUID
    incident_id: UUID
    event: str
    step: int
    cycle: int
    instead_of: str | None
    tries: int
    kind: str
    key: str
    severity: str
    title: str
    facts: dict[str, Any]
    queue: str | None
    job_type: str | None
    tenant: str | None
    count: int
    jobs: int
    tenants: int
    opened_at: datetime
    acknowledged_by: str | None
    resolved_at: datetime | None
    note: str | None
    job_id: UUID | None = None
    action: str | None = None
    fields: dict[str, Any] | None = None
    secret_keys: tuple[str, ...] = ()
    reopened: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """How a channel stands.

    Attributes:
        wait: seconds until it may be used.
        failures: in a row.
        failing: it counts as not working.
        due: how much is due, 1,000 at most.
        late: seconds for which the first has been due; None: nothing is.
    """

    wait: float
    failures: int
    failing: bool
    due: int
    late: float | None


@dataclass(frozen=True, slots=True)
class ChannelState:
    """What the database knows of a channel; `waiting` counts what was not sent yet."""

    channel: str
    next_at: datetime | None
    failures: int
    failing_since: datetime | None
    last_sent_at: datetime | None
    last_error: str | None
    waiting: int


def standing(channel: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[Standing]:
    """How a channel stands now."""
    return Statement(
        "standing", sql("escalation/standing", schema), (channel,), lambda rows: Standing(*_standing(rows))
    )


def _standing(rows: Rows) -> tuple[Any, ...]:
    wait, failures, failing, due, late = rows[0]
    return float(wait or 0.0), failures, failing, due, late


def due_notifications(channel: str, most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Notice]]:
    """What is due on a channel, in order."""
    return Statement(
        "due_notifications",
        sql("escalation/due_notifications", schema),
        (channel, most),
        lambda rows: [_notice(row) for row in rows],
    )


def _notice(row: Sequence[Any]) -> Notice:
    values = list(row)
    values[11] = json.loads(values[11])
    values[24] = None if values[24] is None else json.loads(values[24])
    values[25] = tuple(values[25] or ())
    return Notice(*values)


def begin_sending(ids: Sequence[UUID], *, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Counts a try of each, before it is made."""
    return Statement(
        "begin_sending", sql("escalation/begin_sending", schema), (list(ids),), lambda rows: None
    )


def note_sent(
    channel: str, ids: Sequence[UUID], gap: float, *, schema: str = DEFAULT_SCHEMA
) -> Statement[None]:
    """They are sent; the channel works, and may be used again in `gap` seconds."""
    args = (channel, list(ids), gap)
    return Statement("note_sent", sql("escalation/note_sent", schema), args, lambda rows: None)


def note_unsent(
    channel: str, ids: Sequence[UUID], error: str, wait: float, *, counts: bool, schema: str = DEFAULT_SCHEMA
) -> Statement[int]:
    """A try failed (`counts`), or the service asked to wait: the channel rests. Answers its failures in a row."""
    args = (channel, list(ids), error, wait, int(counts))
    return Statement("note_unsent", sql("escalation/note_unsent", schema), args, lambda rows: int(rows[0][0]))


def note_failing(channel: str, error: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[bool]:
    """The channel does not work: raises its incident. True: that began now."""
    args = (channel, error)
    return Statement(
        "note_failing", sql("escalation/note_failing", schema), args, lambda rows: bool(rows[0][0])
    )


def move_notifications(
    channel: str, to: str, ids: Sequence[UUID] | None = None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[int]:
    """Hands what is due on a channel to another one. Answers how many it had to be told."""
    args = (channel, to, None if ids is None else list(ids))
    return Statement(
        "move_notifications", sql("escalation/move_notifications", schema), args, lambda rows: int(rows[0][0])
    )


def fail_notifications(ids: Sequence[UUID], *, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """They are refused for good, and there is nobody else to tell."""
    return Statement(
        "fail_notifications", sql("escalation/fail_notifications", schema), (list(ids),), lambda rows: None
    )


def failing_channels(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """The channels that do not work now."""
    return Statement(
        "failing_channels",
        sql("escalation/failing_channels", schema),
        (),
        lambda rows: [row[0] for row in rows],
    )


def channel_states(*, schema: str = DEFAULT_SCHEMA) -> Statement[list[ChannelState]]:
    """How every channel stands that was ever used, or is to be."""
    return Statement(
        "channel_states",
        sql("escalation/channel_states", schema),
        (),
        lambda rows: [ChannelState(*row) for row in rows],
    )
