"""Operations: bulk acts on jobs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from postmill.domain.pace import Kind
from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.dead_statistics import DeadPreview
from postmill.shapes.operations import (
    Impact,
    LetterSelection,
    Operation,
    OperationLetter,
    PreviewOperation,
    WholeOperation,
)
from postmill.shapes.paging import Page


def preview_operation(
    filter: LetterSelection | None = None, *, idempotency_key: str | None = None
) -> Call[DeadPreview]:
    """What a bulk act on these dead letters would meet; nothing is done."""
    body = PreviewOperation(filter=filter or LetterSelection())
    return write("POST", at("operations", "preview"), model(DeadPreview), body, key=idempotency_key)


def ask_impact(
    kind: Kind,
    *,
    query: str | None = None,
    ids: Sequence[Id] | None = None,
    cut_off: Id | None = None,
    idempotency_key: str | None = None,
) -> Call[Impact]:
    """What a bulk act on the jobs of a query, or on these, would meet; nothing is done."""
    body = {"kind": kind, "query": query, "ids": _texts(ids), "cut_off": _text(cut_off)}
    return write("POST", at("operations", "impact"), model(Impact), body, key=idempotency_key)


def start_operation(
    kind: Kind,
    filter: LetterSelection | None = None,
    *,
    query: str | None = None,
    ids: Sequence[Id] | None = None,
    cut_off: Id | None = None,
    rate: float | None = None,
    canary: int = 0,
    stop_ratio: float | None = None,
    again: bool = False,
    confirm: bool = False,
    despite_success: bool = False,
    version: int | None = None,
    same_version: bool = False,
    original_version: bool = False,
    fair: bool = False,
    priority: int | None = None,
    queue: str | None = None,
    run_at: datetime | None = None,
    tags: Sequence[str] | None = None,
    start_at: datetime | None = None,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Operation]:
    """Begins a bulk act on the jobs that match now, each once: one of `filter` (dead letters), `query` and `ids`.

    Args:
        cut_off: of a query: only jobs with ids below it, as an impact told.
        rate: jobs a second at most; None: what a worker gets done.
        canary: so many first; the rest waits until they have ended, and more failures than `stop_ratio` pause it.
        original_version: replays run under the version that each job was made under.
        fair: tenants take turns.
        priority: of the new jobs, or the new one of `priority`.
        queue, run_at: of `move`, of `run_at`.
        tags: of `tag`; with a minus before it one is taken away.
        start_at: nothing is done before.

    NotFound where nothing matches. Its status is `proposed` where somebody else has to approve it.
    """
    body = {
        "kind": kind,
        "filter": None if filter is None else filter.model_dump(mode="json", exclude_unset=True),
        "query": query,
        "ids": _texts(ids),
        "cut_off": _text(cut_off),
        "rate": rate,
        "canary": canary,
        "stop_ratio": stop_ratio,
        "again": again,
        "confirm": confirm,
        "despite_success": despite_success,
        "version": version,
        "same_version": same_version,
        "original_version": original_version,
        "fair": fair,
        "priority": priority,
        "queue": queue,
        "run_at": None if run_at is None else run_at.isoformat(),
        "tags": None if tags is None else list(tags),
        "start_at": None if start_at is None else start_at.isoformat(),
        "reason": reason,
    }
    return write("POST", at("operations"), model(Operation), body, key=idempotency_key)


def list_operations(
    *, open: bool | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[Operation]]:
    """Operations, the newest first; `open`: only those that have not ended."""
    return get(at("operations"), model(Page[Operation]), open=open, limit=limit, cursor=cursor)


def get_operation(operation_id: Id) -> Call[WholeOperation]:
    """One operation, and what its replays have come to."""
    return get(at("operations", operation_id), model(WholeOperation))


def list_operation_letters(
    operation_id: Id, *, status: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[OperationLetter]]:
    """What became of each of its jobs; `status` waiting: those not tried yet."""
    return get(
        at("operations", operation_id, "letters"),
        model(Page[OperationLetter]),
        status=status,
        limit=limit,
        cursor=cursor,
    )


def pause_operation(
    operation_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Operation]:
    """Pauses an operation; what it has done stays done."""
    return _change(operation_id, "pause", reason, idempotency_key)


def resume_operation(
    operation_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Operation]:
    """Goes on with a paused operation; one that its canary has paused goes on with the rest."""
    return _change(operation_id, "resume", reason, idempotency_key)


def approve_operation(
    operation_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Operation]:
    """Approves an operation that somebody else has begun; it goes on then."""
    return _change(operation_id, "approve", reason, idempotency_key)


def abort_operation(
    operation_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Operation]:
    """Ends an operation for good; the letters that it has not come to stay as they are."""
    return _change(operation_id, "abort", reason, idempotency_key)


def _change(id: Id, verb: str, reason: str | None, key: str | None) -> Call[Operation]:
    return write("POST", at("operations", id, verb), model(Operation), {"reason": reason}, key=key)


def _text(id: Id | None) -> str | None:
    return None if id is None else str(id)


def _texts(ids: Sequence[Id] | None) -> list[str] | None:
    return None if ids is None else [str(id) for id in ids]
