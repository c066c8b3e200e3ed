"""Statements on the audit log: history as one stream, the log alone, and what was denied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson

from postmill.domain.access import Principal
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement

MIN_TIME = datetime(1, 1, 2, tzinfo=UTC)
MAX_TIME = datetime(9999, 12, 30, tzinfo=UTC)
MAX_ID = UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class Position:
    """A place in history: the moment of recording, and what orders the records of one moment."""

    recorded_at: datetime
    key: str = ""


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """Something that happened: a row of the log (`kind` audit) or a step in the life of a job (`kind` job).

    Attributes:
        recorded_at, key: its place in the stream; `key` is also its stable id.
        event: what was done, such as `keys.create`, or `job.enqueued`, `job.started`, `job.succeeded`, `job.failed`,
            `job.retried`, `job.deadlettered`, `job.canceled`.
        happened_at: when; a start is recorded at the end of its attempt.
        org_id: the tenant; None for what is the platform's.
        attempt: which execution of the job, from 1; 0 for its enqueuing.
        status: how the attempt, or the job, ended.
    """

    recorded_at: datetime
    key: str
    kind: str
    event: str
    happened_at: datetime
    org_id: UUID | None
    project_id: UUID | None
    actor_type: str
    actor_id: str | None
    role: str | None
    via: str | None
    request_id: str | None
    correlation_id: str | None
    target_kind: str | None
    target: str | None
    result: str | None
    reason: str | None
    before: Any
    after: Any
    job_id: UUID | None
    job_type: str | None
    attempt: int | None
    status: str | None
    error_class: str | None
    started_at: datetime | None
    finished_at: datetime | None
    db_role: str | None

    @property
    def position(self) -> Position:
        """Where a reader goes on after it."""
        return Position(self.recorded_at, self.key)


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Some events, and where to go on. `more`: there is more that is settled, though the page may be short."""

    events: list[HistoryEvent]
    next: Position
    more: bool


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A row of the audit log. `db_role` is the database's own word on who it was, `address` the server's on from where."""

    id: UUID
    at: datetime
    tenant_id: UUID | None
    actor_type: str
    actor_id: str | None
    role: str | None
    via: str
    action: str
    target_kind: str | None
    target: str | None
    result: str
    reason: str | None
    request_id: str | None
    before: Any
    after: Any
    db_role: str
    address: str | None


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which rows of the log; what is None is not asked.

    Attributes:
        action: exactly this, such as `keys.revoke`.
        actor: the actor's id.
        target_kind, target: what it was done to, such as `queue` and its name.
        result: done, denied or refused.
        via: api, console, cli, sql or upkeep; asked: all but upkeep, which carries out what was asked, job by job.
        since, until: moments; `until` itself is left out.
        tenant: of this one.
    """

    action: str | None = None
    actor: str | None = None
    target_kind: str | None = None
    target: str | None = None
    result: str | None = None
    via: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    tenant: UUID | None = None


@dataclass(frozen=True, slots=True)
class ChainStatus:
    """How far the chain that seals the log goes.

    Attributes:
        first, first_hash: the last link that was pruned; 0: none was.
        n, hash: the last link.
        sealed_at: when it was made; None: there is none.
        noted_n, noted_hash: the end as it is noted beside the chain.
        waiting: rows that are to be sealed by the next round; 10,000 are more.
    """

    first: int
    first_hash: bytes
    n: int
    hash: bytes
    sealed_at: datetime | None
    noted_n: int | None
    noted_hash: str | None
    waiting: int


def advance_horizon(*, schema: str = DEFAULT_SCHEMA) -> Statement[datetime]:
    """Up to which moment history is settled; takes one step towards the present, a second or two behind it."""
    return Statement("advance_horizon", sql("audit/advance_horizon", schema), (), _moment)


def horizon(*, schema: str = DEFAULT_SCHEMA) -> Statement[tuple[datetime, datetime]]:
    """What is noted as settled, and the database's now."""
    return Statement("horizon", sql("audit/horizon", schema), (), lambda rows: (rows[0][0], rows[0][1]))


def history_start(*, schema: str = DEFAULT_SCHEMA) -> Statement[datetime]:
    """The moment that no record is older than."""
    return Statement("history_start", sql("audit/history_start", schema), (), _moment)


def history(
    after: Position,
    until: datetime,
    *,
    most: int = 100,
    kind: str | None = None,
    events: list[str] | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[HistoryPage]:
    """One page of history after a position and before `until`, which must be settled."""

    def decode(rows: Rows) -> HistoryPage:
        found = [_event(row) for row in rows if row[2] is not None]
        if len(found) == len(rows) and found:
            return HistoryPage(found, found[-1].position, more=True)
        end = rows[-1] if rows else (after.recorded_at, after.key, None, "end")
        return HistoryPage(found, Position(end[0], end[1]), more=end[3] == "more")

    args = (after.recorded_at, after.key, until, most, kind, events)
    return Statement("history", sql("audit/history", schema), args, decode)


def audit_log(
    *,
    before: tuple[datetime, UUID] = (MAX_TIME, MAX_ID),
    most: int = 50,
    chosen: LogFilter | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[AuditRow]]:
    """One page of the log, the newest first."""
    f = chosen or LogFilter()
    if f.until is not None and f.until < before[0]:
        before = (f.until, UUID(int=0))
    args = (*before, most, f.action, f.actor, f.target_kind, f.target, f.result, f.via, f.since, f.tenant)
    return Statement(
        "log",
        sql("audit/log", schema),
        args,
        lambda rows: [_row(row) for row in rows],
    )


def chain_status(*, schema: str = DEFAULT_SCHEMA) -> Statement[ChainStatus | None]:
    """How far the chain goes; None to who does not see the platform."""
    return Statement(
        "chain_status",
        sql("audit/chain_status", schema),
        (),
        lambda rows: _chain(rows[0]) if rows else None,
    )


def read_links(
    after: int, most: int, *, schema: str = DEFAULT_SCHEMA
) -> Statement[list[tuple[int, UUID, bytes, str | None]]]:
    """Links with number, id of the row, hash, and what is sealed of the row; from the link `after` itself on."""
    return Statement(
        "links",
        sql("audit/links", schema),
        (after, most),
        lambda rows: [(row[0], row[1], bytes(row[2]), row[3]) for row in rows],
    )


def note_export(chosen: Mapping[str, str], *, schema: str = DEFAULT_SCHEMA) -> Statement[None]:
    """Writes into the log that it was exported, and with which filter."""
    args = (orjson.dumps(dict(chosen)).decode(),)
    return Statement("note_export", sql("audit/note_export", schema), args, lambda rows: None)


def record(
    action: str,
    target_kind: str | None,
    target: str | None,
    *,
    tenant_id: UUID | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[UUID]:
    """Writes a row of the log, in the name of whom `set_actor` said, for what no door writes by itself."""
    texts = [None if value is None else orjson.dumps(value).decode() for value in (before, after)]
    args = (action, target_kind, target, tenant_id, *texts, reason)
    return Statement("record", sql("audit/record", schema), args, lambda rows: UUID(str(rows[0][0])))


def deny(
    principal: Principal,
    action: str,
    *,
    target_kind: str | None = None,
    target: str | None = None,
    after: dict[str, Any] | None = None,
    reason: str | None = None,
    result: str = "denied",
    request_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[None]:
    """Notes an attempt that was not permitted. Run outside of a request, in autocommit."""
    args = (
        *(principal.via, principal.actor_type, principal.actor_id, principal.role.value, request_id),
        principal.address,
        *(action, target_kind, target, principal.tenant_id),
        None if after is None else orjson.dumps(after).decode(),
        *(reason, result),
    )
    return Statement("deny", sql("audit/deny", schema), args, lambda rows: None)


def _moment(rows: Rows) -> datetime:
    moment: datetime = rows[0][0]
    return moment


def _json(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)


def _chain(row: Any) -> ChainStatus:
    first, first_hash, n, hash, *rest = row
    return ChainStatus(first, bytes(first_hash), n, bytes(hash), *rest)


def _row(row: Any) -> AuditRow:
    values = [*row[:13], _json(row[13]), _json(row[14]), *row[15:]]
    return AuditRow(*values)


def _event(row: Any) -> HistoryEvent:
    values = [*row[:17], _json(row[17]), _json(row[18]), *row[19:]]
    return HistoryEvent(*values)
