"""What happened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from postmill.http.call import Call, Id, at, get, model
from postmill.shapes.audit import History, Kind, LogRow, Result, Via
from postmill.shapes.paging import Page


def list_history(
    *,
    since: datetime | None = None,
    kind: Kind | None = None,
    event: Sequence[str] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[History]:
    """What happened, in the order of recording: the audit log (`kind="audit"`) and the lives of jobs as one stream.

    It ends a second or two before the present; `resume` of the last page is the `cursor` to go on with later.
    """
    return get(at("audit"), model(History), since=since, kind=kind, event=event, limit=limit, cursor=cursor)


def list_audit_log(
    *,
    action: str | None = None,
    actor: str | None = None,
    target_kind: str | None = None,
    target: str | None = None,
    result: Result | None = None,
    via: Via | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    tenant_id: Id | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[LogRow]]:
    """The audit log alone, the newest first."""
    return get(
        at("audit", "log"),
        model(Page[LogRow]),
        action=action,
        actor=actor,
        target_kind=target_kind,
        target=target,
        result=result,
        via=via,
        since=since,
        until=until,
        tenant_id=tenant_id,
        limit=limit,
        cursor=cursor,
    )
