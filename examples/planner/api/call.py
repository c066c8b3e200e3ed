"""One call of the API: a transaction in its organization, and who asks, with the right to what is asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from fastapi import HTTPException, Request, status

from examples.planner.caller import Caller
from examples.planner.policy import Action, require
from examples.planner.resources import Conn
from examples.planner.statements import Row, do, row
from postmill import Enqueued

LONGEST_KEY = 200
_UNFIT = status.HTTP_422_UNPROCESSABLE_CONTENT


@dataclass(frozen=True, slots=True)
class Call:
    """`conn` is in a transaction, scoped to the caller's organization: others' rows are not there."""

    conn: Conn
    caller: Caller

    async def note(self, action: str, target: str, project: UUID | None = None, **details: object) -> None:
        """An event of the audit trail, in this transaction."""
        who = self.caller
        await do(
            self.conn, "note_event", org=who.org_id, project=project, actor_type=who.actor_type, actor_id=who.actor_id,
            request_id=who.request_id, correlation_id=who.correlation_id, action=action, target=target,
            details=_json(details),
        )  # fmt: skip

    async def once(self, request: Request, make: Callable[[], Awaitable[Enqueued]]) -> UUID:
        """The job that `make` enqueues, or the one of an earlier request under the same `Idempotency-Key`.

        Raises 422 for a key that is too long, or that another request has had.
        """
        key = request.headers.get("Idempotency-Key")
        if not key:
            return (await make()).id
        if len(key) > LONGEST_KEY:
            raise HTTPException(_UNFIT, f"Idempotency-Key: at most {LONGEST_KEY} characters")
        whose = {"org": self.caller.org_id, "actor_id": self.caller.actor_id, "key": key}
        about = f"{request.method} {request.url.path}"
        await row(self.conn, "lock_request_key", **whose)
        found = await row(self.conn, "request_key", **whose)
        if found is not None:
            if found["about"] not in ("", about):
                raise HTTPException(_UNFIT, f"Idempotency-Key: it was used for {found['about']}")
            return UUID(str(found["job_id"]))
        made = await make()
        await do(self.conn, "keep_request_key", **whose, job_id=made.id, about=about)
        return made.id


@asynccontextmanager
async def call(
    request: Request, org: UUID, needs: Action, project: UUID | None = None
) -> AsyncIterator[Call]:
    """Use it by `async with`; what is answered afterwards is committed.

    Raises 401 for who is nobody here, and Forbidden (403) for who may not.
    """
    async with known(request, org) as made:
        await require(made.conn, made.caller, needs, project)
        yield made


@asynccontextmanager
async def known(request: Request, org: UUID) -> AsyncIterator[Call]:
    """The same for everybody who is somebody here, whatever he may do. Raises 401."""
    async with request.app.state.pool.connection() as conn, conn.transaction():
        await row(conn, "scope", org=str(org))
        who = await _identified(conn, request)
        state = request.state
        yield Call(
            conn,
            Caller(
                org,
                who["actor_type"],
                who["actor_id"],
                state.request_id,
                state.correlation_id,
                state.traceparent,
            ),
        )


async def _identified(conn: Conn, request: Request) -> Row:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    digest = sha256(token.encode()).digest()
    found = await row(conn, "credential", digest=digest) if kind == "Bearer" else None
    if found is None:
        raise HTTPException(status.HTTP_401_UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
    return found


def _json(details: Mapping[str, object]) -> str:
    return json.dumps(details, default=str)
