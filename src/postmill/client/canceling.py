"""Cancel on the caller's own connection, inside the caller's own transaction."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from postmill import bind
from postmill.client import flows
from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.jobs import Canceled


def cancel(
    conn: Any,
    id: UUID | str,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Canceled:
    """Ends a job that waits, or asks one that runs to end, on `conn`: when, and only when, the caller commits.

    Nothing is committed, retried or rolled back here, and no answer leaves the transaction unusable. Until the
    caller's transaction ends, no worker claims the job.

    Args:
        conn: psycopg.Connection, SQLAlchemy Connection or Session, or Django's connection.
        id: the job; also one that this transaction has enqueued.
        reason: why; kept with the job, at most 1 KiB of text. None: `canceled`.
        actor_type: who cancels: user, system or api_key.
        actor_id: which one of them.
        schema: where Postmill's tables are.

    Returns:
        `status` tells what was done: canceled (it waited, and is over), requested (it runs, and will hear of
        it), finished (it had ended before; nothing was done).

    Raises:
        NotFound: there is no such job.
        PayloadRefused: the reason or the actor cannot be stored; nothing was sent.
        SerializationConflict: it collided with another transaction; run this one again.
        SchemaMissing: the database has no Postmill schema; this aborts the transaction.
        TypeError: `conn` is of no known kind, or asynchronous.
    """
    flow = flows.cancel(schema, id, reason=reason, actor_type=actor_type, actor_id=actor_id)
    return bind.drive(conn, flow)


async def acancel(
    conn: Any,
    id: UUID | str,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Canceled:
    """`cancel` on psycopg.AsyncConnection, asyncpg.Connection, SQLAlchemy AsyncConnection, AsyncSession."""
    flow = flows.cancel(schema, id, reason=reason, actor_type=actor_type, actor_id=actor_id)
    return await bind.adrive(conn, flow)
