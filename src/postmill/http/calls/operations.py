"""Operations: bulk acts on dead letters."""

from __future__ import annotations

from postmill.domain.pace import Kind
from postmill.http.call import Call, Id, at, get, model, write
from postmill.shapes.dead_statistics import DeadPreview
from postmill.shapes.operations import (
    LetterSelection,
    NewOperation,
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


def start_operation(
    kind: Kind,
    filter: LetterSelection,
    *,
    rate: float | None = None,
    canary: int = 0,
    again: bool = False,
    confirm: bool = False,
    despite_success: bool = False,
    version: int | None = None,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Operation]:
    """Begins to replay or discard the dead letters that match now: exactly these, each once.

    Args:
        rate: letters a second at most; None: what a worker gets done.
        canary: so many first; the rest waits until they have succeeded, and one that does not pauses the operation.

    NotFound where no letter matches. A discard takes `rate` and `reason` only.
    """
    body = NewOperation(
        kind=kind,
        filter=filter,
        rate=rate,
        canary=canary,
        again=again,
        confirm=confirm,
        despite_success=despite_success,
        version=version,
        reason=reason,
    )
    return write("POST", at("operations"), model(Operation), body, key=idempotency_key)


def list_operations(
    *, open: bool | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[Operation]]:
    """Operations, the newest first; `open`: only those that run or are paused."""
    return get(at("operations"), model(Page[Operation]), open=open, limit=limit, cursor=cursor)


def get_operation(operation_id: Id) -> Call[WholeOperation]:
    """One operation, and what its replays have come to."""
    return get(at("operations", operation_id), model(WholeOperation))


def list_operation_letters(
    operation_id: Id, *, status: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[OperationLetter]]:
    """What became of each of its letters; `status` waiting: those not tried yet."""
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


def abort_operation(
    operation_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[Operation]:
    """Ends an operation for good; the letters that it has not come to stay as they are."""
    return _change(operation_id, "abort", reason, idempotency_key)


def _change(id: Id, verb: str, reason: str | None, key: str | None) -> Call[Operation]:
    return write("POST", at("operations", id, verb), model(Operation), {"reason": reason}, key=key)
