"""Statements of the round that escalates incidents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class DueIncident:
    """An incident of which a step is due.

    Attributes:
        since: when its cycle began.
        over: it was acknowledged, or has ended.
        contact, escalation: what its queue says.
        now: the database's clock.
    """

    id: UUID
    kind: str
    key: str
    cycle: int
    step: int
    since: datetime
    over: bool
    contact: str | None
    escalation: str | None
    now: datetime


@dataclass(frozen=True, slots=True)
class Unplanned:
    """A notification of which nobody has said yet when it is to be sent."""

    id: UUID
    channel: str
    severity: str
    now: datetime


@dataclass(frozen=True, slots=True)
class TakenStep:
    """What became of a due incident: who is told, and what is next. `step` is where it stood."""

    id: UUID
    cycle: int
    step: int
    told: tuple[tuple[str, int], ...]
    next_step: int
    next_at: datetime | None

    def row(self) -> dict[str, Any]:
        """As take_steps() reads it."""
        return {
            "id": str(self.id),
            "cycle": self.cycle,
            "step": self.step,
            "told": [{"channel": channel, "step": step} for channel, step in self.told],
            "next_step": self.next_step,
            "next_at": None if self.next_at is None else self.next_at.isoformat(),
        }


def next_escalation(channels: Sequence[str], *, schema: str = DEFAULT_SCHEMA) -> Statement[float | None]:
    """Seconds until there is something to do; None: nothing is in sight."""
    return Statement(
        "next_escalation",
        sql("escalation/next_escalation", schema),
        (list(channels),),
        lambda rows: rows[0][0],
    )


def count_dead_letters(most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[int]:
    """Raises incidents of jobs that were given up since. Answers of how many jobs."""
    return Statement(
        "count_dead_letters",
        sql("escalation/count_dead_letters", schema),
        (most,),
        lambda rows: int(rows[0][0]),
    )


def due_incidents(most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[DueIncident]]:
    """Incidents of which a step is due, the longest due first."""
    return Statement(
        "due_incidents",
        sql("escalation/due_incidents", schema),
        (most,),
        lambda rows: [DueIncident(*row) for row in rows],
    )


def take_steps(steps: Sequence[TakenStep], *, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Takes steps; an incident that stands elsewhere by now is left alone."""
    rows = json.dumps([step.row() for step in steps])
    return Statement("take_steps", sql("escalation/take_steps", schema), (rows,), lambda rows: None)


def unplanned_notifications(most: int, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Unplanned]]:
    """Notifications of which nobody has said yet when they are to be sent."""
    return Statement(
        "unplanned_notifications",
        sql("escalation/unplanned_notifications", schema),
        (most,),
        lambda rows: [Unplanned(*row) for row in rows],
    )


def plan_notifications(
    ids: Sequence[UUID], due: Sequence[datetime], *, schema: str = DEFAULT_SCHEMA
) -> Statement[None]:
    """Says when each is to be sent."""
    args = (list(ids), list(due))
    return Statement(
        "plan_notifications", sql("escalation/plan_notifications", schema), args, lambda rows: None
    )


def due_channels(channels: Sequence[str], *, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """Those of the channels on which something is to be done now."""
    return Statement(
        "due_channels",
        sql("escalation/due_channels", schema),
        (list(channels),),
        lambda rows: [row[0] for row in rows],
    )


def stray_channels(channels: Sequence[str], *, schema: str = DEFAULT_SCHEMA) -> Statement[list[str]]:
    """Channels on which something waits and that are none of these."""
    return Statement(
        "stray_channels",
        sql("escalation/stray_channels", schema),
        (list(channels),),
        lambda rows: [row[0] for row in rows],
    )
