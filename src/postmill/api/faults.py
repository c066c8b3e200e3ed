"""Errors of the house and of the database as problem documents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import psycopg
from fastapi import FastAPI, Request
from psycopg_pool import PoolTimeout
from starlette.responses import Response

from postmill.api.problems import Problem, answer
from postmill.domain.errors import (
    AlreadyThere,
    ArchiveDamaged,
    ArchiveFailed,
    ArchiveMissing,
    ArtifactDamaged,
    ArtifactGone,
    ArtifactRefused,
    ArtifactStoreFailed,
    ArtifactStoreMissing,
    ArtifactTooLarge,
    DefinitionConflict,
    DefinitionError,
    EnqueueRefused,
    InactiveJobType,
    InvalidValue,
    KeyBusy,
    KeyTaken,
    LeaseLost,
    NotFound,
    NotPermitted,
    PayloadRefused,
    SerializationConflict,
    TenantMoved,
    TenantMoving,
    UnknownJobType,
    UnknownQueue,
    WorkflowRefused,
)
from postmill.domain.trigger import TriggerRefused
from postmill.operate.incidents import IncidentRefused
from postmill.operate.triggers import DeclaredInCode, EditedMeanwhile, RunRefused
from postmill.operate.workers import WorkerRefused

Made = Callable[[Exception], Problem]

SOON = {"Retry-After": "1"}


def _payload(error: Exception) -> Problem:
    assert isinstance(error, PayloadRefused)
    first = {"at": error.path, "message": error.why}
    errors = [first, *({"at": fault.path, "message": fault.why} for fault in error.more)]
    return Problem(422, "invalid-payload", str(error), errors=errors)


def _definition(error: Exception) -> Problem:
    field, _, why = str(error).partition(": ")
    return Problem(422, "invalid-definition", str(error), errors=[{"at": field, "message": why}])


def _trigger(error: Exception) -> Problem:
    assert isinstance(error, TriggerRefused)
    errors = [{"at": fault.path, "message": fault.why} for fault in error.faults]
    return Problem(422, "invalid-trigger", str(error), errors=errors)


def _away(error: Exception) -> Problem:
    return Problem(503, "database-unavailable", "the database does not answer; try again", headers=SOON)


def _refused(status: int, kind: str) -> Made:
    return lambda error: Problem(status, kind, str(error), headers=SOON if status == 503 else None)


MEANINGS: dict[type[Exception], Made] = {
    NotFound: _refused(404, "not-found"),
    ArtifactGone: _refused(410, "artifact-expired"),
    ArtifactTooLarge: _refused(413, "body-too-large"),
    ArtifactRefused: _refused(422, "artifact-refused"),
    ArtifactDamaged: _refused(500, "artifact-damaged"),
    ArtifactStoreFailed: _refused(503, "store-unavailable"),
    ArtifactStoreMissing: _refused(503, "no-artifact-store"),
    ArchiveDamaged: _refused(500, "archive-damaged"),
    ArchiveFailed: _refused(503, "archive-unavailable"),
    ArchiveMissing: _refused(503, "no-archive"),
    NotPermitted: _refused(403, "forbidden"),
    LeaseLost: _refused(409, "fence-over"),
    AlreadyThere: _refused(409, "already-there"),
    DefinitionConflict: _refused(409, "definition-conflict"),
    DefinitionError: _definition,
    TriggerRefused: _trigger,
    DeclaredInCode: _refused(409, "declared-in-code"),
    EditedMeanwhile: _refused(409, "conflict"),
    RunRefused: _refused(409, "run-refused"),
    IncidentRefused: _refused(409, "incident-refused"),
    WorkerRefused: _refused(409, "worker-refused"),
    InvalidValue: _refused(422, "invalid-value"),
    UnknownQueue: _refused(404, "unknown-queue"),
    UnknownJobType: _refused(422, "unknown-definition"),
    InactiveJobType: _refused(409, "inactive-definition"),
    KeyTaken: _refused(409, "key-taken"),
    KeyBusy: lambda error: Problem(409, "key-busy", str(error), headers=SOON),
    SerializationConflict: lambda error: Problem(409, "conflict", str(error), headers=SOON),
    PayloadRefused: _payload,
    WorkflowRefused: _refused(422, "workflow-refused"),
    TenantMoving: _refused(503, "tenant-moving"),
    TenantMoved: _refused(503, "tenant-moved"),
    EnqueueRefused: _refused(422, "job-refused"),
    # What no check of ours saw and the database cannot hold: a value of the caller's.
    psycopg.DataError: lambda error: Problem(422, "unstorable", "a value cannot be stored or compared"),
    psycopg.errors.CheckViolation: lambda error: Problem(422, "unstorable", "a value is out of its range"),
    psycopg.OperationalError: _away,
    psycopg.errors.IdleInTransactionSessionTimeout: _away,  # this process stood still
    psycopg.errors.ReadOnlySqlTransaction: _away,  # a standby, while another server takes over
    PoolTimeout: lambda error: Problem(
        503,
        "database-busy",
        "no connection to the database became free: all are busy, or it is away; try again",
        headers=SOON,
    ),
}
"""What each error means to who asks. Anything else is a fault of ours: 500, with the request's id to find it by."""


def meaning(error: Exception) -> Problem | None:
    """The problem that an error stands for; None: it is a fault of ours."""
    for kind in type(error).__mro__:
        if kind in MEANINGS:
            return MEANINGS[kind](error)
    return None


def install(app: FastAPI) -> None:
    """Every error leaves as a problem document."""
    for kind, made in MEANINGS.items():
        app.add_exception_handler(kind, _handler(made))
    app.add_exception_handler(Exception, _unforeseen)


def _handler(made: Made) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handled(request: Request, error: Exception) -> Response:
        return await answer(request, made(error))

    return handled


async def _unforeseen(request: Request, error: Exception) -> Response:
    own = getattr(request.state, "request_id", None)
    # It is answered outside of everything that adds headers.
    headers = {"X-Request-Id": own} if own else None
    return await answer(
        request,
        Problem(500, "internal-error", "a fault of the server; its log has the request id", headers=headers),
    )
