"""What happened: the audit log and the lives of jobs as one stream, as pages or as NDJSON; and the log, newest first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson
from fastapi import Depends, Query, Request
from starlette.responses import StreamingResponse

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.bind import arun
from postmill.domain.access import Action
from postmill.operate import audit
from postmill.shapes.audit import History, HistoryItem, Kind, LogRow, Result, Via
from postmill.shapes.moments import Moment
from postmill.shapes.paging import Page
from postmill.store.audit import (
    MAX_ID,
    MAX_TIME,
    AuditRow,
    HistoryEvent,
    HistoryPage,
    LogFilter,
    Position,
    advance_horizon,
)
from postmill.store.audit import audit_log as log_of

router = new_router("audit")

NDJSON = "application/x-ndjson"
PAGE = 500
"""Events that a stream reads at once."""


@router.get(
    "/audit",
    operation_id="list_history",
    response_model=History,
    responses={
        200: {"content": {NDJSON: {"schema": {"type": "string", "description": "One event a line."}}}}
    },
)
async def list_history(
    request: Request,
    asked: Annotated[Asked, Depends(may(Action.AUDIT_READ))],
    limit: Limit = 100,
    cursor: Cursor = None,
    since: Annotated[Moment | None, Query(description="Begin here; a cursor wins.")] = None,
    kind: Annotated[
        Kind | None, Query(description="`audit`: the log; `job`: lives of jobs; default: both.")
    ] = None,
    event: Annotated[list[str] | None, Query(max_length=50, description="Only these events.")] = None,
    format: Annotated[
        Literal["json", "ndjson"] | None, Query(description="Default: by the header Accept.")
    ] = None,
) -> Any:
    """What happened, in the order of recording: the log and the lives of jobs as one stream.

    A page ends a second or two before the present, so that it never passes an event whose transaction commits late.
    As NDJSON all that is settled is streamed, one event a line.
    """
    after = _after(cursor, since)
    until = await _settled(asked)
    if format == "ndjson" or (format is None and NDJSON in request.headers.get("accept", "")):
        return StreamingResponse(_lines(asked, after, until, kind, event), media_type=NDJSON)
    page = await _page(asked, after, until, limit, kind, event)
    place_ = cursor_of(page.next.recorded_at, page.next.key)
    return History(
        items=[_event(found) for found in page.events], next=place_ if page.more else None, resume=place_
    )


@router.get("/audit/log", operation_id="list_audit_log")
async def list_audit_log(
    asked: Annotated[Asked, Depends(may(Action.AUDIT_READ))],
    limit: Limit = 50,
    cursor: Cursor = None,
    action: Annotated[str | None, Query(max_length=100, description="Only this action.")] = None,
    actor: Annotated[str | None, Query(max_length=200, description="Only of this actor's id.")] = None,
    target_kind: Annotated[
        str | None, Query(max_length=100, description="Only done to such: queue, trigger, budget …")
    ] = None,
    target: Annotated[str | None, Query(max_length=500, description="Only done to this.")] = None,
    result: Annotated[Result | None, Query(description="Only with this result.")] = None,
    via: Annotated[Via | None, Query(description="Only by this face.")] = None,
    since: Annotated[Moment | None, Query(description="Not before this moment.")] = None,
    until: Annotated[Moment | None, Query(description="Before this moment.")] = None,
    tenant_id: Annotated[UUID | None, Query(description="Only of this tenant.")] = None,
) -> Page[LogRow]:
    """The audit log alone, the newest first."""
    chosen = LogFilter(action, actor, target_kind, target, result, via, since, until, tenant_id)
    before: Sequence[Any] = parts_of(cursor, datetime.fromisoformat, UUID) if cursor else (MAX_TIME, MAX_ID)
    found = await asked.run(
        log_of(before=(before[0], before[1]), most=limit, chosen=chosen, schema=asked.schema)
    )
    items = [_row(row) for row in found]
    return Page(items=items, next=cursor_of(items[-1].at, items[-1].id) if len(items) == limit else None)


async def _settled(asked: Asked) -> datetime:
    # Outside of the request's transaction: the step belongs to nobody, and must be over before the page is read.
    async with asked.backend.pool.connection() as conn:
        return await arun(conn, advance_horizon(schema=asked.schema))


async def _page(
    asked: Asked,
    after: Position | None,
    until: datetime,
    most: int,
    kind: Kind | None,
    events: list[str] | None,
) -> HistoryPage:
    return await asked.drive(
        audit.history(after, until=until, most=most, kind=kind, events=events, schema=asked.schema)
    )


async def _lines(
    asked: Asked, after: Position | None, until: datetime, kind: Kind | None, events: list[str] | None
) -> AsyncIterator[bytes]:
    more = True
    while more:
        page = await _page(asked, after, until, PAGE, kind, events)
        yield b"".join(
            orjson.dumps(_event(found).model_dump(exclude_none=True)) + b"\n" for found in page.events
        )
        after, more = page.next, page.more


def _after(text: str | None, since: datetime | None) -> Position | None:
    if text is not None:
        moment, key = parts_of(text, datetime.fromisoformat, str)
        return Position(moment, key)
    return Position(since) if since is not None else None


def _event(found: HistoryEvent) -> HistoryItem:
    fields = {name: getattr(found, name) for name in HistoryItem.model_fields if hasattr(found, name)}
    place_ = cursor_of(found.recorded_at, found.key)
    return HistoryItem(**fields | {"id": found.key, "cursor": place_, "at": found.happened_at})


def _row(row: AuditRow) -> LogRow:
    return LogRow.model_validate(row)
