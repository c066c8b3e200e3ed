"""Statements by which people act on error groups: what the platform says of one, and what is written on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement

Mark = Literal["ignore", "resolve", "reopen"]


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody of the platform wrote on an error group."""

    at: datetime
    actor_type: str
    actor_id: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ToTell:
    """A tenant that an error group affects.

    Attributes:
        slug, name: None where it is not registered.
        count: failed attempts.
        dead: open dead letters.
        jobs: that failed so, as far as they are in history. None, as what follows: the group has more than 20,000.
        replayed: of those that were given up; replays_succeeded, replays_failed: what came of it, the others have not ended.
    """

    tenant_id: UUID
    slug: str | None
    name: str | None
    first_seen_at: datetime
    last_seen_at: datetime
    count: int
    dead: int
    sample_job: UUID | None
    jobs: int | None
    replayed: int | None
    replays_succeeded: int | None
    replays_failed: int | None


def door_mark_error(
    id: str,
    act: Mark,
    *,
    until: datetime | None = None,
    version: int | None = None,
    build: str | None = None,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[str]:
    """Ignores, resolves or reopens a group: changed | unknown | out_of_scope."""
    args = (id, act, until, version, reason, actor_type, actor_id, build)
    return Statement(
        "door_mark_error", sql("errors/door_mark_error", schema), args, lambda rows: str(rows[0][0])
    )


def door_note_error(
    id: str,
    text: str,
    *,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[str]:
    """Writes a note on a group: changed | unknown | out_of_scope."""
    args = (id, text, actor_type, actor_id)
    return Statement(
        "door_note_error", sql("errors/door_note_error", schema), args, lambda rows: str(rows[0][0])
    )


def read_error_notes(id: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[Note]]:
    """The notes on a group, the latest first; at most 50, and none for tenants."""
    return Statement(
        "read_error_notes",
        sql("errors/read_error_notes", schema),
        (id,),
        lambda rows: [Note(*row) for row in rows],
    )


def door_export_tenants(id: str, *, schema: str = DEFAULT_SCHEMA) -> Statement[list[ToTell]]:
    """Whom a group affects, the most affected first; audited as an export. Nothing outside of the platform."""
    return Statement(
        "door_export_tenants",
        sql("errors/door_export_tenants", schema),
        (id,),
        lambda rows: [ToTell(*row) for row in rows],
    )
